"""Pairs of context and entity that break where they meet: joined naively, and as the engines join them.

    python -m bench.seams TOKENIZER [TOKENIZER ...] [--contexts 5]     # a folder with a tokenizer, or a GGUF file

All pairs of so many causal contexts of each type and setting of Camellia (Japanese, Korean, Chinese) and CAMeL (Arabic)
with the entities that fit them. Of Camellia's other languages the real data beside the checkout has Western entities
alone; those stand behind one context of our own, written as their publishers write contexts, with a space before the
gap. Naive joining takes the whole text's tokens behind as many as the context has alone, and is broken where the whole
does not begin with the context's tokens: lm-evaluation-harness' way, without its check.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyculture.generate.engines.base import BROKEN_BOUNDARIES, ScoreRequest
from polyculture.generate.engines.token_boundary import split_pairs
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.model import DataSet
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import Selection, chosen_contexts

DATA = Path(__file__).parents[2] / "shared" / "data"
SMALLEST = ("{model}", "--data", "{data}", "--contexts", "1", "--entities", "20")
OWN = {
    "gu": "ગઈકાલે મારી દાદીએ બનાવ્યું ",
    "hi": "कल रात मेरी दादी ने बनाया ",
    "ml": "ഇന്നലെ അമ്മ ഉണ്ടാക്കിയത് ",
    "mr": "काल आजीने बनवली ",
    "ur": "کل رات امی نے پکایا ",
    "vi": "Hôm qua bà tôi nấu ",
}


def requests(folder: Path, contexts: int, entities: int | None) -> Iterator[tuple[str, ScoreRequest]]:
    """Each language with its contexts and all entities that fit them."""
    camellia, camel = (load(rules_of(name), folder / name) for name in ("camellia", "camel"))
    for dataset in (camellia, camel):
        for (language, _, _), found in chosen_contexts(dataset, Selection(contexts=contexts)):
            for context in found:
                surfaces = dict.fromkeys(entity.surface for entity in dataset.fitting(context))
                yield language, ScoreRequest(context.context_id, context.prefix, tuple(surfaces)[:entities])
    for language, prefix in OWN.items():
        yield f"{language}, own context", ScoreRequest(language, prefix, _western(camellia, language)[:entities])


def _western(dataset: DataSet, language: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(e.surface for e in dataset.entities if e.language == language))


def count(tokenizer: Any, request: ScoreRequest) -> Counter[str]:
    """How many pairs there are, how many break when they are joined naively, and each token boundary of ours."""
    alone = tuple(tokenizer(request.prefix)["input_ids"])
    found: Counter[str] = Counter()
    for pair in split_pairs(tokenizer, request):
        found["pairs"] += 1
        if pair.error is not None:
            found["failed"] += 1
            continue
        found["naive"] += pair.ids[: len(alone)] != alone
        found[str(pair.boundary)] += 1
        found["ours"] += pair.boundary in BROKEN_BOUNDARIES
    return found


def load_tokenizer(path: Path) -> Any:
    """A tokenizer from a folder or a GGUF file."""
    from transformers import AutoTokenizer

    if path.is_dir():
        return AutoTokenizer.from_pretrained(str(path))
    return AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)


def main() -> None:
    """Prints a line per tokenizer and language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizers", type=Path, nargs="+")
    parser.add_argument("--contexts", type=int, default=5, help="of each type and setting")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    parser.add_argument("--entities", type=int, help="at most, of a context; all by default")
    told = parser.parse_args()
    asked = list(requests(told.data, told.contexts, told.entities))
    for path in told.tokenizers:
        tokenizer, languages = load_tokenizer(path), dict[str, Counter[str]]()
        for language, request in asked:
            languages.setdefault(language, Counter()).update(count(tokenizer, request))
        for language, found in languages.items():
            naive, ours = (f"{100 * found[name] / found['pairs']:.1f} %" for name in ("naive", "ours"))
            detail = ", ".join(f"{found[name]} {name}" for name in ("moved space", "merged", "resplit", "failed"))
            print(f"{path.name} {language}: {found['pairs']} pairs, naive {naive} broken, ours {ours} ({detail})")


if __name__ == "__main__":
    main()
