"""The words before or after a place in a line, up to the next punctuation: the units of n-grams.

In languages with spaces, a word is a run of letters, marks and digits, with apostrophes, hyphens and joiners inside; an
ampersand between spaces is a word ("fish & chips"). In others, ICU's dictionaries segment a run (Unicode Standard Annex
29), which a space ends unless Latin letters are on both sides ("Big Mac").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polyculture.cache.extras import MINING
from polyculture.extract.boundaries import CLASSES, CharClass, Span

# The spans of the words after a place, or before it, nearest first.
Neighbours = Callable[[str, int], list[Span]]

_JOINERS = frozenset("'’ʼ-‐‑·・\u200c\u200d\u00ad")
_SPACES = frozenset(" \t\u00a0\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))))
_LONGEST_WORD = 48  # characters; longer runs are no words


def is_space(char: str) -> bool:
    """Is it a space within a line?"""
    return char in _SPACES


class SpacedWords:
    """Words of a language with spaces, at most `longest` of them."""

    def __init__(self, longest: int) -> None:
        self._longest, self._window = longest, longest * _LONGEST_WORD

    def after(self, line: str, start: int) -> list[Span]:
        window = line[start : start + self._window]
        return [(start + first, start + last) for first, last in self._spans(window, start + len(window) == len(line))]

    def before(self, line: str, end: int) -> list[Span]:
        window = line[max(0, end - self._window) : end][::-1]
        return [(end - last, end - first) for first, last in self._spans(window, len(window) == end)]

    def _spans(self, text: str, whole: bool) -> list[Span]:
        """The words at the head of a text, without the last one if the text may be truncated inside it."""
        spans: list[Span] = []
        place, end = 0, len(text)
        while place < end and len(spans) < self._longest:
            last = _word_end(text, place)
            if last == place or (last == end and not whole):
                break
            spans.append((place, last))
            place = last
            while place < end and text[place] in _SPACES:
                place += 1
            if place == last:
                break
        return spans


class Segments:
    """Words of a language without spaces, of at most `longest` characters together."""

    def __init__(self, longest: int, language: str) -> None:
        MINING.check(f"Mining in {language}")
        from icu4py.breakers import WordBreaker

        self._longest, self._window, self._language = longest, 3 * longest, language
        self._breaker = WordBreaker

    def after(self, line: str, start: int) -> list[Span]:
        run = _run(line[start : start + self._window])
        spans = [(start + first, start + last) for first, last in self._cut(run)]
        return [span for span in spans if span[1] - start <= self._longest]

    def before(self, line: str, end: int) -> list[Span]:
        run = _run(line[max(0, end - self._window) : end][::-1])[::-1]
        start = end - len(run)
        spans = [(start + first, start + last) for first, last in reversed(self._cut(run))]
        return [span for span in spans if end - span[0] <= self._longest]

    def _cut(self, run: str) -> Sequence[Span]:
        cuts = [span for span in self._breaker(run, self._language).segments() if not run[slice(*span)].isspace()]
        return _held_together(run, cuts)


class Windows:
    """The characters beside a place, `longest` of them or up to the line's end, as one unit: a model reads them."""

    def __init__(self, longest: int) -> None:
        self._longest = longest

    def after(self, line: str, start: int) -> list[Span]:
        return _unspaced(line, start, min(len(line), start + self._longest))

    def before(self, line: str, end: int) -> list[Span]:
        return _unspaced(line, max(0, end - self._longest), end)


def _unspaced(line: str, first: int, last: int) -> list[Span]:
    """The span without spaces at its ends; none where nothing else is in it."""
    text = line[first:last]
    start, end = first + len(text) - len(text.lstrip()), last - len(text) + len(text.rstrip())
    return [(start, end)] if start < end else []


def _word_end(text: str, place: int) -> int:
    if text[place] == "&":
        return place + 1 if text[place + 1 : place + 2].isspace() else place
    first, end = place, len(text)
    while place < end:
        char = text[place]
        if not CLASSES[char] and not (place > first and char in _JOINERS and _letter_at(text, place + 1)):
            break
        place += 1
    return place


def _letter_at(text: str, place: int) -> bool:
    return place < len(text) and CLASSES[text[place]] != CharClass.NONE


def _run(text: str) -> str:
    """The text up to the first character that ends a name."""
    for place, char in enumerate(text):
        if CLASSES[char] != CharClass.NONE:
            continue
        inside = 0 < place < len(text) - 1
        around = {CLASSES[text[place - 1]], CLASSES[text[place + 1]]} if inside else {CharClass.NONE}
        joins = (char in _JOINERS and CharClass.NONE not in around) or (char in _SPACES and around == {CharClass.LATIN})
        if not joins:
            return text[:place]
    return text


def _held_together(run: str, cuts: Sequence[Span]) -> list[Span]:
    """The segments, with those merged that a joiner or a run of katakana connects: フィレ・ミニョン."""
    held: list[Span] = []
    for first, last in cuts:
        if held and held[-1][1] == first and _holds(run[first - 1], run[first]):
            held[-1] = (held[-1][0], last)
        else:
            held.append((first, last))
    return held


def _holds(left: str, right: str) -> bool:
    joined = left in _JOINERS or right in _JOINERS
    return joined or (CLASSES[left], CLASSES[right]) == (CharClass.KATAKANA, CharClass.KATAKANA)
