"""Peak memory of scoring more and more entities behind one context.

    python -m bench.scoring_memory MODEL [--entities 500 2000 8000]     # MODEL: a folder, or a GGUF file

All of Camellia's Korean entities, of every type and culture, and then its Chinese ones, stand behind one Korean
context. The sizes run in one process in rising order, so that a peak which grows is the larger size's own.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import torch

from polyculture.generate.engines import ModelSpec, ScoreRequest, open_engine
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.model import DataSet
from polyculture.instruments.datasets.rules import rules_of

DATA = Path(__file__).parents[2] / "shared" / "data"
SMALLEST = ("{model}", "--data", "{data}", "--entities", "4", "8")


def behind_one_context(size: int, data: DataSet) -> ScoreRequest:
    """The first causal Korean context with `size` entities."""
    context = next(context for context in data.contexts if (context.language, context.form) == ("ko", "causal"))
    ordered = sorted(data.entities, key=lambda entity: entity.language != "ko")
    surfaces = dict.fromkeys(entity.surface for entity in ordered if entity.language in ("ko", "zh"))
    return ScoreRequest(f"{size} entities", context.prefix, tuple(surfaces)[:size])


def peak() -> float:
    """MiB that this process held at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Prints a line per size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--entities", type=int, nargs="+", default=[500, 2000, 8000])
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    told = parser.parse_args()
    torch.set_num_threads(1)
    data = load(rules_of("camellia"), told.data / "camellia")
    requests = [behind_one_context(size, data) for size in sorted(told.entities)]
    with open_engine(ModelSpec(f"transformers:{told.model}", {"device": "cpu"})) as engine:
        print(f"loaded: peak {peak():.0f} MiB", flush=True)
        for request in requests:
            started = time.process_time()
            done = sum(row.error is None for row in engine.score([request]))
            spent = time.process_time() - started
            print(f"{request.request_id}: {done} scored, {spent:.0f} s of CPU, peak {peak():.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
