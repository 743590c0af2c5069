"""Writes the variances that `polyculture plan` takes where there is no run yet: of a run of the demo's model.

    polyculture run bench/demo_noise.toml
    python -m bench.demo_noise bench/runs/demo_noise > polyculture/running/demo_noise.toml

The run asks SmolLM2-135M-Instruct three wordings in English, the language that it writes. So it has one side of every
comparison: the variances are the most that two sides can have (`noise_of_one_side`).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.metrics import CELLS, METRICS
from polyculture.metrics.power import LANGUAGE, MODEL, NAME, Design, Noise, noise_of, prompt_design
from polyculture.metrics.power import METRICS as OF_METRICS

SMALLEST = ("{run}",)
SAYS = "SmolLM2-135M-Instruct in English: 3 topics, 4 countries, 3 wordings, 24 responses, by the gazetteer"


def main() -> None:
    """Prints the TOML file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    asked = parser.parse_args()
    sys.stdout.write(f'# Written by bench/demo_noise.py.\nrun = "{SAYS}"\n')
    with open_store(RunFolder(asked.run), METRICS, CELLS) as store:
        for metric in OF_METRICS:
            found = prompt_design(store, metric)
            noise = found and noise_of_one_side(found[2], found[1])
            if found is None or noise is None:
                sys.exit(f"demo_noise: {asked.run} says nothing of {metric}")
            values = {name: value for name, value in asdict(noise).items() if value is not None}
            numbers = "".join(f"{name} = {value!r}\n" for name, value in values.items())
            sys.stdout.write(f'\n[{metric}]\ncondition = "{found[0]}"\n\n[{metric}.noise]\n{numbers}')


def noise_of_one_side(table: Design, responses: float) -> Noise | None:
    """The most noise that comparisons of two models or languages can have, from a run that asked one of each.

    The two are taken to have nothing in common: what differs between blocks and wordings of one side is all noise.
    None where there is one block, more than one side, or where nothing tells sampling from the rest.
    """
    blocks, wordings = table.values.shape[2] * table.values.shape[3], table.values.shape[4]
    if table.levels[MODEL] > 1 or table.levels[LANGUAGE] > 1 or blocks < 2 or table.sampling is None:
        return None
    flat = table.values.mean(axis=NAME).reshape(1, blocks, wordings)
    count = table.levels[NAME]
    return noise_of(flat, 1, table.sampling / count, responses, count)


if __name__ == "__main__":
    main()
