"""Does a model that extracts say rightly which texts decline their task? Beside the phrases, on the same texts.

    python -m bench.declined --model llamacpp:FOLDER/FILE.gguf [--each 10] [--language de th]

The texts are a sample of `bench/refusal_gold.py`, as many refusals as answers of each language, by hash. The model
reads them with the built-in prompt of the topic food, whatever their own task was. Whether a text declines comes first
in its answer, which is cut behind it: greedy decoding says there what a whole answer would. A text of which it does not
say it is taken for an answer, as a run does.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from bench.refusal_gold import LabelledText, read_gold
from bench.refusals import share
from bench.results import keep
from polyculture.cache.catalog import read_catalog
from polyculture.cli.options import engine_options
from polyculture.extract.base import ResponseText
from polyculture.extract.llm import read_request
from polyculture.generate.engines import SAMPLING, ModelSpec
from polyculture.generate.engines.capabilities import Sampling
from polyculture.generate.refusals import built_in_languages, is_refusal
from polyculture.running.models import load_model

SMALLEST = ("--model", "mock:anything", "--language", "en", "--each", "2")
TOPIC = "food"
PHRASES, MODEL = "phrases", "model"
TOKENS = 12  # of the beginning of an answer: {"declined": false,
_SAYS = re.compile(r"""["']?declined["']?\s*:\s*(true|false)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Judged:
    """A text of the gold, and what was made of it."""

    example: LabelledText
    by_phrases: bool
    by_model: bool | None  # None: it does not say


def main() -> None:
    """Prints a line per language, and one of all so far."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="engine:name")
    parser.add_argument("--option", action="append", default=[], help="an option of its engine: KEY=VALUE")
    parser.add_argument("--each", type=int, default=10, help="refusals of a language, and answers")
    parser.add_argument("--language", nargs="*", default=sorted(built_in_languages()))
    asked = parser.parse_args()
    spec = ModelSpec(asked.model, engine_options(asked.option))
    table = f"Who declines, {asked.model.rpartition('/')[2]} as extractor"
    judged: list[Judged] = []
    with load_model(spec, SAMPLING) as engine:
        for language in asked.language:
            began = perf_counter()
            of_language = judge(engine, language, sample(read_gold(language), asked.each))
            seconds = (perf_counter() - began) / len(of_language)
            line(table, language, of_language, seconds)
            judged += of_language
            line(table, "all", judged)  # so far: who stops it has the numbers of what was read


def sample(gold: Sequence[LabelledText], each: int) -> list[LabelledText]:
    """As many refusals as answers, the first ones by the hash of their text."""
    drawn = sorted(gold, key=lambda example: hashlib.sha256(f"sample {example.text}".encode()).digest())
    return [one for refuses in (True, False) for one in [own for own in drawn if own.refuses is refuses][:each]]


def judge(engine: Sampling, language: str, examples: Sequence[LabelledText]) -> list[Judged]:
    """What the phrases and the model make of texts."""
    topic = read_catalog().topic(TOPIC)
    requests = [
        read_request(topic, ResponseText(str(number), language, example.text))
        for number, example in enumerate(examples)
    ]
    cut = [replace(request, decoding=replace(request.decoding, max_tokens=TOKENS)) for request in requests]
    said = {answer.request_id: _SAYS.search(answer.text or "") for answer in engine.sample(cut)}
    return [
        Judged(example, bool(is_refusal(example.text, language)), found[1].lower() == "true" if found else None)
        for number, example in enumerate(examples)
        for found in (said[str(number)],)
    ]


def line(table: str, row: str, judged: Sequence[Judged], seconds: float | None = None) -> None:
    """Prints and keeps a line."""
    numbers: dict[str, object] = {
        "refusals / answers": " / ".join(
            str(sum(one.example.refuses is is_so for one in judged)) for is_so in (True, False)
        ),
        **dict(_figures(MODEL, judged, lambda one: bool(one.by_model))),
        "model does not say": sum(one.by_model is None for one in judged),
        **dict(_figures(PHRASES, judged, lambda one: one.by_phrases)),
    }
    timed = f"  {seconds:.1f} s a text" if seconds is not None else ""
    print(row, *(f"{column} {value}" for column, value in numbers.items()), sep="  ", end=f"{timed}\n", flush=True)
    keep("declined", table, row, numbers)


def _figures(who: str, judged: Sequence[Judged], says: Callable[[Judged], bool]) -> Iterator[tuple[str, str]]:
    refusals, taken = [one for one in judged if one.example.refuses], [one for one in judged if says(one)]
    hits = sum(says(one) for one in refusals)
    yield f"{who}: recall", share(hits, len(refusals))
    yield f"{who}: precision", share(hits, len(taken))


if __name__ == "__main__":
    main()
