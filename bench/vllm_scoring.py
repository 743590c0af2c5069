"""Continuations a second that vLLM scores behind one context: with its prefix cache, against the naive way.

    python -m bench.vllm_scoring --model FOLDER [--python /opt/vllm/bin/python]

The peer is vLLM's own `prompt_logprobs` of each whole text, which reads no cache. Same engine, same texts; the greatest
difference between two log-probabilities is printed, too.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from itertools import islice, product

from bench.vllm_overhead import ARGUMENTS
from polyculture.generate.engines import ModelSpec, Scored, ScoreRequest
from polyculture.generate.engines.vllm.engine import VllmEngine
from polyculture.generate.engines.vllm.scoring import score

SMALLEST = ("--model", "{vllm_model}", "--python", "{vllm_python}", "--count", "2")
SENTENCE = (
    "My grandmother came from a village by the sea, where everybody knew everybody, and on the first Sunday of the "
    "month all families met in the square behind the church and shared what they had cooked. "
)
FIRST = (
    "pasta with clams",
    "pasta with beans",
    "rice with saffron",
    "rice with lentils",
    "fried sardines",
    "fish soup",
)
THEN = ("bread", "olives", "salad", "lemons", "white wine", "red wine", "figs", "almond cake")


def request(sentences: int, count: int) -> ScoreRequest:
    """A context of so many sentences, and so many dishes, of which many begin alike."""
    dishes = (f" {first}, {second} and {third}" for first, second, third in product(FIRST, THEN, THEN))
    return ScoreRequest(str(sentences), SENTENCE * sentences + "This time she brought", tuple(islice(dishes, count)))


def timed(rows: Iterable[Scored]) -> tuple[float, dict[int, Scored]]:
    """Continuations a second, and their scores."""
    started = time.perf_counter()
    found = {row.index: row for row in rows}
    seconds = time.perf_counter() - started
    assert not [row.error for row in found.values() if row.error]
    return len(found) / seconds, found


def furthest(one: Scored, other: Scored) -> float:
    """The greatest difference between the log-probabilities of two scores' tokens."""
    pairs = zip(one.tokens, other.tokens, strict=True)
    return max(abs(left.log_probability - right.log_probability) for left, right in pairs)


def main() -> None:
    """Prints, for contexts of several lengths, both rates, their ratio and the greatest difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--count", type=int, default=64)
    told = parser.parse_args()
    with VllmEngine(ModelSpec(f"vllm:{told.model}", {"python": told.python, **ARGUMENTS})) as engine:
        list(engine.score([request(4, 4)]))  # warm
        for sentences in (0, 1, 3, 7):
            asked = request(sentences, told.count)
            slow, naive = timed(score(engine._client, [asked], cached=False))
            fast, ours = timed(engine.score([asked]))
            most = max(furthest(naive[index], ours[index]) for index in naive)
            words = len(asked.prefix.split())
            print(
                f"{words} words: {fast:.1f}/s, naive {slow:.1f}: ratio {fast / slow:.2f}, apart {most:.1e}", flush=True
            )


if __name__ == "__main__":
    main()
