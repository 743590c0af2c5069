"""Split what a model wrote behind a placeholder into items; what is none is kept with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polyculture.cache.folding import fold
from polyculture.instruments.probe.words import function_words

LONGEST_WORDS, LONGEST = 4, 40  # words and characters of an item: more is a sentence
_COMMAS = re.compile(r"[,，、،؛;；|]")
_COLON = re.compile(r"[:：]")
_EDGES = " \t\r\n.。:：!！?？\"'“”‘’«»()（）[]{}<>*_~`-–—•·=/\\"
_NUMBERED = re.compile(r"^\d+[.)]\s*")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a continuation: an item, or the reason why it is none."""

    item: str
    item_key: str
    rejected: str | None = None


def split_items(text: str, finish_reason: str, language: str) -> Iterator[Part]:
    """The parts of a continuation's first line, between commas, without the punctuation at their ends.

    Rejected are: 'head' (before the first part's colon: the model first ends the placeholder's word), 'empty',
    'no letter', 'function word', 'too long' (more than 4 words or 40 characters), 'repeated' (in the same text), and
    'cut off' (the last part of a text that reached its tokens).
    """
    parts = _COMMAS.split(text.partition("\n")[0])
    head, *behind = _COLON.split(parts[0], maxsplit=1)
    if behind:
        parts[0] = behind[0]
        if head.strip(_EDGES):
            yield Part(head.strip(_EDGES), fold(head.strip(_EDGES)), "head")
    leave_out, seen = function_words(language) | function_words("en"), set[str]()
    for number, part in enumerate(parts):
        item = _NUMBERED.sub("", part.strip(_EDGES)).strip(_EDGES)
        key = fold(item)
        cut = finish_reason == "length" and number == len(parts) - 1
        yield Part(item, key, "cut off" if cut else _fault(item, key, leave_out, seen))
        seen.add(key)


def echo_of(key: str, sources: Sequence[tuple[str, str]]) -> str | None:
    """The name of the first of `sources` (name, folded text) that holds the item as whole words; None: of none."""
    if not key:
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(key)}(?!\w)")
    return next((name for name, text in sources if pattern.search(text)), None)


def _fault(item: str, key: str, leave_out: frozenset[str], seen: set[str]) -> str | None:
    if not item:
        return "empty"
    if not _LETTER.search(item):
        return "no letter"
    if key in leave_out:
        return "function word"
    if len(item.split()) > LONGEST_WORDS or len(item) > LONGEST:
        return "too long"
    return "repeated" if key in seen else None
