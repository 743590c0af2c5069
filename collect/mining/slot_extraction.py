"""Finds the matches of patterns in a line, and the n-grams in their slots.

A slot is counted once, for the pattern with the longest fixed text: in "the recipe of a soup", "recipe of ___" and "the
recipe of ___" have the same slot, "recipe of a ___" another one. A pattern with text on both sides of its slot must
match on both sides; the n-gram is the text in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import ahocorasick

from polyculture.cache.text.folding import fold_surface, fold_with_offsets, is_dropped, without_spaces
from polyculture.collect.mining.patterns import Pattern, PatternSet
from polyculture.collect.mining.units import Segments, SpacedWords, Windows, is_space
from polyculture.extract.boundaries import CLASSES, Boundaries, CharClass, Span
from polyculture.extract.rules import rules

_CONTEXT = 70  # characters on each side of a slot's edge


@dataclass(frozen=True, slots=True)
class SlotHit:
    """A match of a pattern with the n-grams in its slot, shortest first; none if all are stop words."""

    pattern: int
    context: str
    keys: tuple[str, ...]  # folded, the keys of counting
    forms: tuple[str, ...]  # as written


class SlotFinder:
    """Finds the patterns of one language."""

    def __init__(self, chosen: PatternSet) -> None:
        self._patterns, self._stop_words = chosen.patterns, chosen.stop_words
        self._spaced = chosen.unit == "words"
        self._units = SpacedWords(chosen.longest) if self._spaced else Segments(chosen.longest, chosen.language)
        self._windows = Windows(chosen.longest) if chosen.unit == "window" else None
        self._boundaries = Boundaries(chosen.language)
        self._automaton = _automaton(chosen.patterns, self._spaced)

    def find(self, line: str) -> Iterator[SlotHit]:
        """The hits in a line, in the order of their slots."""
        best: dict[tuple[int, bool], tuple[int, int, list[Span]]] = {}
        for index, anchor in self._anchors(line):
            pattern = self._patterns[index]
            place = self._slot(pattern, line, *anchor)
            words = [] if place is None else self._words(pattern, line, place)
            if place is None or not words:
                continue
            key, weight = (place, bool(pattern.before)), len(pattern.before) + len(pattern.after)
            if key not in best or weight > best[key][0]:
                best[key] = (weight, index, words)
        for (place, _), (_, index, words) in sorted(best.items()):
            named = dict(self._named(line, words, self._patterns[index]))
            yield SlotHit(index, _context(line, place), tuple(named), tuple(named.values()))

    def _anchors(self, line: str) -> Iterator[tuple[int, Span]]:
        """(pattern, span of its fixed text)."""
        folded = fold_with_offsets(line)
        if not self._spaced:
            # Offsets without spaces are slow, and most lines hold no pattern.
            if next(self._automaton.iter(folded.text.replace(" ", "")), None) is None:
                return
            folded = without_spaces(folded)
        for last, (length, indexes) in self._automaton.iter(folded.text):
            if span := folded.span(last + 1 - length, last + 1):
                yield from ((index, span) for index in indexes)

    def _slot(self, pattern: Pattern, line: str, start: int, end: int) -> int | None:
        """The edge of the slot beside the fixed text, if that is at word boundaries."""
        if pattern.before:
            free = self._boundaries.free(line[:end], start, end)
            return self._skip(line, end, 1, pattern.apart_before) if free else None
        free = self._boundaries.free(line[start:], 0, end - start)
        return self._skip(line, start, -1, pattern.apart_after) if free else None

    def _words(self, pattern: Pattern, line: str, place: int) -> list[Span]:
        """The words in the slot, nearest to `place` first; between two fixed texts, all words in between."""
        if self._windows is not None and not (pattern.before and pattern.after):
            return self._windows.after(line, place) if pattern.before else self._windows.before(line, place)
        if not pattern.before:
            return self._units.before(line, place)
        words = self._units.after(line, place)
        if not pattern.after:
            return words
        return next((words[:n] for n in range(1, len(words) + 1) if self._follows(pattern, line, words[n - 1][1])), [])

    def _named(self, line: str, words: Sequence[Span], pattern: Pattern) -> Iterator[tuple[str, str]]:
        """The n-grams that may be names: (folded form, written form)."""
        enclosed = bool(pattern.before and pattern.after)  # then the pattern decides both ends of the name
        for word in words[-1:] if enclosed else words:
            first, last = (words[0], word) if pattern.before else (word, words[0])
            form = line[first[0] : last[1]]
            stopped = self._stops(line, first) or self._stops(line, last)
            if (enclosed or self._windows or not stopped) and any(map(str.isalpha, form)):
                yield _folded(form), form

    def _stops(self, line: str, word: Span) -> bool:
        folded = _folded(line[slice(*word)])
        return folded == "&" or folded in self._stop_words

    def _skip(self, line: str, place: int, step: int, apart: bool) -> int | None:
        """The place after spaces and quotation marks beside the fixed text; None where they do not fit the pattern."""
        past = _past(line, place, step, _is_edge if apart or not self._spaced else is_dropped)
        char = _beside(line, past, step)
        if not char or CLASSES[char] == CharClass.NONE:
            return None
        return past if not (apart and self._spaced) or _is_apart(line, place, past) else None

    def _follows(self, pattern: Pattern, line: str, place: int) -> bool:
        """Does the fixed text after the slot follow, after optional spaces and quotation marks?"""
        wanted = pattern.after if self._spaced else pattern.after.replace(" ", "")
        past = _past(line, place, 1, _is_edge)
        if pattern.apart_after and self._spaced:
            return _is_apart(line, place, past) and self._stands(wanted, line[past:])
        return self._stands(wanted, line[place:]) or (not self._spaced and self._stands(wanted, line[past:]))

    def _stands(self, wanted: str, line: str) -> bool:
        rest = fold_with_offsets(line[: 4 * len(wanted) + _CONTEXT])
        text = rest.text if self._spaced else without_spaces(rest).text
        return text.startswith(wanted) and self._boundaries.free(text, 0, len(wanted))


def _past(line: str, place: int, step: int, passes: Callable[[str], bool]) -> int:
    """The place after the characters that `passes` accepts."""
    while (char := _beside(line, place, step)) and passes(char):
        place += step
    return place


def _is_edge(char: str) -> bool:
    """May the character separate fixed text and slot: a space, a quotation mark, an invisible character?"""
    return is_space(char) or char in rules().quotes or not fold_surface(char)


def _is_apart(line: str, place: int, past: int) -> bool:
    """Is there any visible character between two places?"""
    return not all(map(is_dropped, line[min(place, past) : max(place, past)]))


@lru_cache(maxsize=100_000)
def _folded(name: str) -> str:
    return fold_surface(name)


def _beside(line: str, place: int, step: int) -> str:
    """The character after a place, or before it; an empty string at the end of the line."""
    return line[place : place + 1] if step > 0 else line[max(0, place - 1) : place]


def _automaton(patterns: Sequence[Pattern], spaced: bool) -> ahocorasick.Automaton:
    by_anchor: dict[str, list[int]] = {}
    for index, pattern in enumerate(patterns):
        anchor = pattern.before or pattern.after
        by_anchor.setdefault(anchor if spaced else anchor.replace(" ", ""), []).append(index)
    automaton = ahocorasick.Automaton()
    for anchor, indexes in by_anchor.items():
        automaton.add_word(anchor, (len(anchor), tuple(indexes)))
    automaton.make_automaton()
    return automaton


def _context(line: str, place: int) -> str:
    """The text around a place, without truncated words where there are spaces."""
    first, last = max(0, place - _CONTEXT), min(len(line), place + _CONTEXT)
    left, right = line[first:place], line[place:last]
    if first and " " in left:
        left = left[left.index(" ") + 1 :]
    if last < len(line) and " " in right:
        right = right[: right.rindex(" ")]
    return ("… " if first else "") + (left + right).strip() + (" …" if last < len(line) else "")
