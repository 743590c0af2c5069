"""Split what a model wrote behind a placeholder into items; what is none is kept with its reason."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from polyculture.cache.text.folding import fold
from polyculture.instruments.probe.words import function_words

LONGEST_WORDS, LONGEST = 4, 40  # words and characters of an item: more is a sentence
# Unicode has no property for what separates the items of a list, but its names tell: commas, semicolons, and strokes of
# Indic and Tibetan scripts. Myanmar's little section and the Ethiopic colon do the same under other names.
_SEPARATORS = re.compile(r"\b(?:COMMA|SEMICOLON|DANDA|SHAD)$|^MYANMAR SIGN LITTLE SECTION$|^ETHIOPIC COLON$")
_COLON = re.compile(r"[:：፦]")
_SIGNS = frozenset("<>~`=|^")  # at an item's ends no part of it; of letters and signs such as C++ the last stays
_NUMBERED = re.compile(r"^\d+[.)]\s*")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class ContinuationPart:
    """A part of a continuation: an item, or the reason why it is none."""

    item: str
    item_key: str
    rejected: str | None = None


def split_items(text: str, finish_reason: str, language: str) -> Iterator[ContinuationPart]:
    """The parts of a continuation's first line, between commas, without the punctuation at their ends.

    Rejected are: 'head' (before the first part's colon: the model first ends the placeholder's word), 'empty',
    'no letter', 'function word', 'too long' (more than 4 words or 40 characters), 'repeated' (in the same text), and
    'cut off' (the last part of a text that reached its tokens).
    """
    parts = separators().split(text.partition("\n")[0])
    head, *behind = _COLON.split(parts[0], maxsplit=1)
    if behind:
        parts[0] = behind[0]
        if found := bare(head):
            yield ContinuationPart(found, fold(found), "head")
    leave_out, seen = function_words(language) | function_words("en"), set[str]()
    for number, part in enumerate(parts):
        item = bare(_NUMBERED.sub("", bare(part)))
        key = fold(item)
        fault = _fault(item, key, leave_out, seen)
        cut = finish_reason == "length" and number == len(parts) - 1
        yield ContinuationPart(item, key, fault or ("cut off" if cut else None))
        seen.add(key)


@cache
def separators() -> re.Pattern[str]:
    """What stands between the items of a list, in any script."""
    marks = (chr(code) for code in range(0x20000) if unicodedata.category(chr(code)) == "Po")  # above are ideographs
    found = (mark for mark in marks if _SEPARATORS.search(unicodedata.name(mark, "")))
    return re.compile(f"[{''.join(found)}|]")


def bare(text: str) -> str:
    """A text without blanks, punctuation and such signs at its ends."""
    kept = [
        place for place, sign in enumerate(text) if unicodedata.category(sign)[0] not in "PZC" and sign not in _SIGNS
    ]
    return text[kept[0] : kept[-1] + 1] if kept else ""


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
