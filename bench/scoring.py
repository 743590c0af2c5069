"""Scoring of Camellia's entities behind its contexts: entities a second, against two peers and the arithmetic bound.

    pip install lm-eval==0.4.13 minicons==0.3.39
    python -m bench.scoring MODEL [--contexts 1] [--language ja] [--type food]     # MODEL: a folder, or a GGUF file

Everything runs on one thread, in one process, on one loaded model, and is timed in CPU seconds. Each context is scored
with all entities that fit it. The peers, lm-evaluation-harness' log-likelihoods of a Hugging Face model and minicons'
conditional scores, take too long for all: they get three batches of 16, of short, middle and long entities, each batch
of about one length, and their entities a second are compared with ours. The bound is the number of distinct tokens that
must be fed, at the speed of the model's own best batched forward pass, timed right before and after. A peer that
is not installed is left out. Some entities of each context are held against a plain pass over their text alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import torch

from bench.results import keep
from polyculture.generate.engines import ModelSpec, ScoreRequest, open_engine
from polyculture.generate.engines.transformers.engine import TransformersEngine
from polyculture.generate.engines.transformers.prefix_trie import Text, plan
from polyculture.generate.engines.transformers.scoring import run_plain
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.model import MaskedContext
from polyculture.instruments.datasets.rules import rules_of

DATA = Path(__file__).parents[2] / "shared" / "data"
BATCH = 16
PARTS = (1 / 6, 1 / 2, 5 / 6)  # where in the order of lengths the peers' batches stand
CHECKED = 4  # of each batch
SMALLEST = ("{model}", "--data", "{data}", "--entities", "6", "--language", "ja", "--type", "food")
SHAPES = ((1, 128), (1, 256), (4, 64), (8, 32), (32, 32))


def requests(told: argparse.Namespace) -> Iterator[tuple[MaskedContext, ScoreRequest]]:
    """Causal contexts of each type and language, those with the least ids, with all entities that fit them."""
    data = load(rules_of("camellia"), told.data / "camellia")
    kinds: dict[tuple[str, str], list[MaskedContext]] = {}
    for context in sorted(data.contexts, key=lambda context: context.context_id):
        if context.form == "causal" and context.setting != "qa":
            kinds.setdefault((context.entity_type, context.language), []).append(context)
    for number in range(told.contexts):
        for (kind, language), contexts in sorted(kinds.items()):
            if kind in (told.type or [kind]) and language in (told.language or [language]) and number < len(contexts):
                context = contexts[number]
                surfaces = dict.fromkeys(entity.surface for entity in data.fitting(context))
                yield context, ScoreRequest(context.context_id, context.prefix, tuple(surfaces)[: told.entities])


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of `work`, and what it gives."""
    started = time.process_time()
    answer = work()
    return time.process_time() - started, answer


def harness(engine: TransformersEngine) -> Callable[[str, Sequence[str]], Any]:
    """lm-evaluation-harness, on the loaded model."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    loaded = engine._loaded
    peer: Any = HFLM(pretrained=loaded.model, tokenizer=loaded.tokenizer, batch_size=BATCH)

    def score(prefix: str, ends: Sequence[str]) -> Any:
        pairs = [Instance("loglikelihood", {}, (prefix, end), 0) for end in ends]
        return peer.loglikelihood(pairs, disable_tqdm=True)

    return score


def minicons(engine: TransformersEngine) -> Callable[[str, Sequence[str]], Any]:
    """minicons, on the loaded model."""
    from minicons.scorer import IncrementalLMScorer

    loaded = engine._loaded
    peer: Any = IncrementalLMScorer(loaded.model, "cpu", tokenizer=loaded.tokenizer)

    def score(prefix: str, ends: Sequence[str]) -> Any:
        batches = (ends[n : n + BATCH] for n in range(0, len(ends), BATCH))
        return [peer.conditional_score([prefix] * len(some), list(some), separator="") for some in batches]

    return score


def installed_peers(engine: TransformersEngine) -> dict[str, Callable[[str, Sequence[str]], Any]]:
    """The peers that are installed, by name; those that are not are named."""
    known = {"lm-eval": ("lm_eval", harness), "minicons": ("minicons", minicons)}
    for name, (package, _) in known.items():
        if find_spec(package) is None:
            print(f"{name} is not installed and left out")
    return {name: opened(engine) for name, (package, opened) in known.items() if find_spec(package)}


class Forward:
    """The model's own forward pass with all logits, in the best of several shapes."""

    def __init__(self, engine: TransformersEngine) -> None:
        self._model = engine._loaded.model
        self._shape = max(SHAPES, key=lambda shape: max(self._rate(shape) for _ in range(2)))

    def rate(self) -> float:
        """Tokens a CPU second, now."""
        return max(self._rate(self._shape) for _ in range(2))

    @torch.inference_mode()
    def _rate(self, shape: tuple[int, int]) -> float:
        fed = torch.randint(100, min(10_000, self._model.config.vocab_size), shape)
        spent, _ = seconds(lambda: self._model(input_ids=fed, use_cache=False))
        return fed.numel() / spent


def batches(texts: Sequence[Text]) -> list[Text]:
    """The texts that the peers get: batches of one length, as lm-evaluation-harness makes them of a whole list."""
    by_length = sorted(texts, key=lambda text: len(text.pair.ids))
    starts = [int(part * len(texts)) - BATCH // 2 for part in PARTS]
    return [text for start in starts for text in by_length[max(0, start) : start + BATCH]]


def farthest(engine: TransformersEngine, texts: Sequence[Text], scores: dict[int, list[float]]) -> float:
    """The largest distance between a token's score and that of a plain pass over its text alone."""
    plain = (scored for text in texts for scored in run_plain(engine._loaded.model, [text]))
    return max(
        abs(one - other)
        for scored in plain
        for one, other in zip(scored.log_probabilities, scores[scored.text.pair.index], strict=True)
    )


def main() -> None:
    """Prints a line per context, then the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    parser.add_argument("--contexts", type=int, default=1, help="of each type and language")
    parser.add_argument("--entities", type=int, help="at most, of a context; all by default")
    parser.add_argument("--language", action="append")
    parser.add_argument("--type", action="append")
    told = parser.parse_args()
    torch.set_num_threads(1)
    ratios: dict[str, list[float]] = {"lm-eval": [], "minicons": [], "bound": [], "apart": []}
    with open_engine(ModelSpec(f"transformers:{told.model}", {"device": "cpu"})) as engine:
        assert isinstance(engine, TransformersEngine)
        forward, peers = Forward(engine), installed_peers(engine)
        print(f"{engine.model_version}, {engine.scorer.method}, forward passes of {forward._shape}", flush=True)
        for context, request in requests(told):
            measure(engine, forward, peers, context, request, ratios)
    print("contexts:", len(ratios["bound"]))
    found = {name: f"{median(values):.2f}" for name, values in ratios.items() if name in (*peers, "bound")}
    print("median:", ", ".join(f"{name} {value}" for name, value in found.items()))
    keep("speed", "Scoring", f"median of {len(ratios['bound'])} contexts", found)
    print("least:", ", ".join(f"{name} {min(ratios[name]):.2f}" for name in peers), end="; ")
    print(f"most of the bound {max(ratios['bound']):.2f}, farthest {max(ratios['apart']):.1e}")


def measure(
    engine: TransformersEngine,
    forward: Forward,
    peers: dict[str, Callable[[str, Sequence[str]], Any]],
    context: MaskedContext,
    request: ScoreRequest,
    ratios: dict[str, list[float]],
) -> None:
    """Adds a context's ratios, and prints them."""
    (texts,) = engine._groups([request], [])  # type: ignore[arg-type]
    fed = sum(len(forest) for forest in plan([texts], 2**30))
    before = forward.rate()
    spent, rows = seconds(lambda: list(engine.score([request])))
    rate = (before + forward.rate()) / 2
    ratios["bound"].append(spent * rate / fed)
    sample = batches(texts)
    scores = {row.index: [token.log_probability for token in row.tokens] for row in rows}
    ratios["apart"].append(farthest(engine, sample[:: BATCH // CHECKED], scores))
    line = f"{context.language} {context.entity_type} {context.setting}: {len(texts)} entities behind"
    line += f" {texts[0].pair.start} tokens, {fed} fed at {rate:.0f} a CPU second, {len(texts) / spent:.1f} entities/s"
    surfaces = [request.continuations[text.pair.index] for text in sample]
    for name, peer in peers.items():
        taken, _ = seconds(lambda peer=peer: peer(request.prefix, surfaces))
        ratios[name].append(len(texts) / spent * taken / len(surfaces))
        line += f", {ratios[name][-1]:.2f} x {name}"
    print(f"{line}, {ratios['bound'][-1]:.2f} of the bound, within {ratios['apart'][-1]:.1e}", flush=True)


if __name__ == "__main__":
    main()
