"""A regular expression for all spellings of a folded text: the RE2 prefilter of the exact search.

Folding web text (`cache.folding`) is far slower than searching it. Where this expression has no match, the folded
text does not contain the anchor; where it matches, the exact search decides. So it may match too much, never too
little: it accepts every source of a folded letter, with or without characters that folding drops or composes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from polyculture.cache.folding import fold_with_offsets
from polyculture.collect.mining.patterns import Pattern
from polyculture.extract.rules import rules

_LONGEST = 12  # letters of an anchor: selective enough, and the automaton stays small
_LONGEST_TILE = 4  # folded letters per written character; longer ones (ﷺ) are excluded from patterns
_COMPOSING = "\u0300-\u036f\u3099\u309a\u1160-\u11ff"
# The categories of characters that are dropped or merged: controls, marks, modifiers, punctuation, mathematical signs
# and spaces. (And among the neighbours of the dotless i, and the Arabic letters.)
_FOLDED_CATEGORIES = frozenset({"Cc", "Cf", "Lm", "Mn", "Pc", "Pd", "Pf", "Pi", "Po", "Sm", "Zl", "Zp", "Zs"})
# Characters that fold to themselves: unified Chinese characters, Korean syllables; surrogates and private use.
_PLAIN = (
    (0x3400, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0xD800, 0xF8FF),
    (0x17000, 0x1B000),
    (0x20000, 0x2F7FF),
    (0x2FA20, 0x10FFFF),
)


def sieve(patterns: Iterable[Pattern], *, spaces_aside: bool) -> str:
    """An RE2 expression that matches every spelling of the patterns' fixed texts beside their slots.

    `spaces_aside` for languages without spaces, where spaces may be anywhere.
    """
    between = _between(spaces_aside)
    return "|".join(sorted({_beside_slot(pattern, between, spaces_aside) for pattern in patterns}))


def _beside_slot(pattern: Pattern, between: str, spaces_aside: bool) -> str:
    """The letters next to the slot, with a space or quotation mark in between where the pattern requires it."""
    edge = f"[{_escaped(_sources()[' '] + rules().quotes)}]"
    before, after = (side.replace(" ", "") if spaces_aside else side for side in (pattern.before, pattern.after))
    if before:
        text = _expression(before[-_LONGEST:], between)
        return text + between + edge if pattern.apart_before and not spaces_aside else text
    text = _expression(after[:_LONGEST], between)
    return edge + between + text if pattern.apart_after and not spaces_aside else text


def _expression(anchor: str, between: str) -> str:
    """The anchor cut where no written character stands for letters on both sides, each piece as its alternatives."""
    edges = [(start, start + size) for size in range(2, _LONGEST_TILE + 1) for start in range(len(anchor) - size + 1)]
    wide = [(a, b) for a, b in edges if anchor[a:b] in _sources()]
    cuts = [cut for cut in range(len(anchor) + 1) if not any(a < cut < b for a, b in wide)]
    pieces = ["|".join(_tilings(anchor, first, last, between)) for first, last in pairwise(cuts)]
    return between.join(f"(?:{piece})" for piece in pieces)


def _tilings(anchor: str, first: int, last: int, between: str) -> list[str]:
    """Every spelling of `anchor[first:last]` by characters that fold to one or several of its letters."""
    if first == last:
        return [""]
    tilings = []
    for size in range(1, min(_LONGEST_TILE, last - first) + 1):
        tile = anchor[first : first + size]
        if size == 1 or tile in _sources():
            rests = _tilings(anchor, first + size, last, between)
            tilings += [_tile(tile) + (between + rest if rest else "") for rest in rests]
    return tilings


def _tile(folded: str) -> str:
    if folded == " ":
        return _between(spaces_aside=True)[:-1] + "+"
    return f"[{_escaped(_sources().get(folded, '') + _partly_composed(folded))}]"


def _partly_composed(letter: str) -> str:
    """The first characters of a letter's decompositions into letter and marks: e, ẹ and ê of ệ; 가 of 각."""
    whole = unicodedata.normalize("NFD", letter)
    heads = {letter, *(unicodedata.normalize("NFC", whole[:end]) for end in range(1, len(whole)))}
    heads |= {unicodedata.normalize("NFC", whole[0] + mark) for mark in whole[1:]}
    return "".join(head + _sources().get(head, "") for head in sorted(heads) if len(head) == 1)


def _between(spaces_aside: bool) -> str:
    return f"[{_escaped(_sources()[''] + (_sources()[' '] if spaces_aside else ''))}{_COMPOSING}]*"


def _escaped(chars: str) -> str:
    return "".join(rf"\x{{{ord(char):x}}}" for char in sorted(set(chars)))


@cache
def _sources() -> dict[str, str]:
    """Folded text -> the characters that fold to it; "" -> those that folding drops.

    No line breaks: lines are searched.
    """
    sources: dict[str, list[str]] = {"": [], " ": [" "]}
    for char in filter(_changes, map(chr, _assigned())):
        folded = fold_with_offsets(char).text
        if folded != char and char.splitlines() != [""]:
            sources.setdefault(folded, []).append(char)
    return {folded: "".join(chars) for folded, chars in sources.items()}


def _changes(char: str) -> bool:
    """May folding change the character? A cheap test with false positives."""
    if unicodedata.normalize("NFKC", char).casefold() != char:
        return True
    lettered = "\u0100" <= char <= "\u017f" or "\u0600" <= char <= "\u06ff"
    return lettered or unicodedata.category(char) in _FOLDED_CATEGORIES


def _assigned() -> Iterable[int]:
    start = 0
    for first, last in _PLAIN:
        yield from range(start, first)
        start = last + 1
