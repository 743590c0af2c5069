"""Scoring of Camellia's dishes behind its contexts: entities a second, against two peers and the arithmetic bound.

    pip install lm-eval==0.4.13 minicons==0.3.39
    python -m bench.scoring MODEL [--contexts 1] [--entities 100]       # MODEL: a folder, or a GGUF file

Everything runs on one thread, in one process, on one loaded model, and is timed in CPU seconds. The peers are
lm-evaluation-harness' log-likelihoods of a Hugging Face model and minicons' conditional scores, in batches of 64. The
bound is the number of distinct tokens that must be fed, at the speed of the model's own best batched forward pass.
Every score is checked against a plain pass over its text alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import torch

from generate.engines import ModelSpec, ScoreRequest, open_engine
from generate.engines.transformers.engine import TransformersEngine
from generate.engines.transformers.forest import Text, plan
from generate.engines.transformers.plain import run_plain
from metrics.datasets.load import load
from metrics.datasets.rules import rules_of

CAMELLIA = Path(__file__).parents[2] / "shared" / "data" / "camellia"
BATCH = 64
SHAPES = ((1, 128), (1, 256), (4, 64), (8, 32), (16, 32))


def requests(contexts: int, entities: int) -> Iterator[tuple[str, ScoreRequest]]:
    """The first grounded food contexts of each language that end in the gap's left side, with the first dishes."""
    data = load(rules_of("camellia"), CAMELLIA)
    for language in sorted({context.language for context in data.contexts}):
        fitting = [
            context
            for context in data.contexts
            if (context.language, context.entity_type, context.form) == (language, "food", "causal")
        ]
        for context in fitting[:contexts]:
            surfaces = tuple(dict.fromkeys(entity.surface for entity in data.fitting(context)))[:entities]
            yield language, ScoreRequest(context.context_id, context.prefix, surfaces)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of `work`, and what it gives."""
    started = time.process_time()
    answer = work()
    return time.process_time() - started, answer


def harness(engine: TransformersEngine) -> Callable[[ScoreRequest], Any]:
    """lm-evaluation-harness, on the loaded model."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    loaded = engine._loaded
    peer: Any = HFLM(pretrained=loaded.model, tokenizer=loaded.tokenizer, batch_size=BATCH)

    def score(request: ScoreRequest) -> Any:
        pairs = [(request.prefix, continuation) for continuation in request.continuations]
        return peer.loglikelihood([Instance("loglikelihood", {}, pair, 0) for pair in pairs], disable_tqdm=True)

    return score


def minicons(engine: TransformersEngine) -> Callable[[ScoreRequest], Any]:
    """minicons, on the loaded model."""
    from minicons.scorer import IncrementalLMScorer

    loaded = engine._loaded
    peer: Any = IncrementalLMScorer(loaded.model, "cpu", tokenizer=loaded.tokenizer)

    def score(request: ScoreRequest) -> Any:
        ends = list(request.continuations)
        batches = (ends[n : n + BATCH] for n in range(0, len(ends), BATCH))
        return [peer.conditional_score([request.prefix] * len(some), some, separator="") for some in batches]

    return score


def best_rate(engine: TransformersEngine) -> float:
    """Tokens a CPU second of the model's forward pass with all logits, in the best of several shapes."""
    model = engine._loaded.model
    rates = []
    with torch.inference_mode():
        for rows, width in SHAPES:
            fed = torch.randint(100, 10_000, (rows, width))
            model(input_ids=fed, use_cache=False)
            spent = min(seconds(lambda fed=fed: model(input_ids=fed, use_cache=False))[0] for _ in range(2))
            rates.append(rows * width / spent)
    return max(rates)


def farthest(engine: TransformersEngine, texts: list[Text], scores: dict[int, list[float]]) -> float:
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
    parser.add_argument("--contexts", type=int, default=1)
    parser.add_argument("--entities", type=int, default=100)
    told = parser.parse_args()
    torch.set_num_threads(1)
    with open_engine(ModelSpec(f"transformers:{told.model}", {"device": "cpu"})) as engine:
        assert isinstance(engine, TransformersEngine)
        rate, peers = best_rate(engine), {"lm-eval": harness(engine), "minicons": minicons(engine)}
        print(
            f"{engine.model_version}, {engine.scorer.method}: best forward {rate:.0f} tokens a CPU second", flush=True
        )
        ratios: dict[str, list[float]] = {"lm-eval": [], "minicons": [], "bound": []}
        for language, request in requests(told.contexts, told.entities):
            spent, rows = seconds(lambda request=request: list(engine.score([request])))
            failed: Any = []
            (texts,) = engine._groups([request], failed)
            fed = sum(len(forest) for forest in plan([texts], 2**30))
            ratios["bound"].append(spent * rate / fed)
            scores = {row.index: [token.log_probability for token in row.tokens] for row in rows}
            apart = farthest(engine, texts, scores)
            line = f"{language}: {len(texts)} entities, {len(texts) / spent:.1f} a second, {fed} tokens fed"
            for name, peer in peers.items():
                ratios[name].append(seconds(lambda peer=peer, request=request: peer(request))[0] / spent)
                line += f", {ratios[name][-1]:.2f} x {name}"
            print(f"{line}, {ratios['bound'][-1]:.2f} of the bound, within {apart:.1e} of plain passes", flush=True)
    print("median:", ", ".join(f"{name} {median(values):.2f}" for name, values in ratios.items()))


if __name__ == "__main__":
    main()
