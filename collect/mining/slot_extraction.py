"""Finds the places in a line where a pattern stands, and the n-grams in its slot.

A place is counted once, for the pattern whose fixed text is longest: in "the recipe of a soup", "recipe of ___" and
"the recipe of ___" have their slot at the same place, "recipe of a ___" at another. Where one pattern has text on both
sides of its slot, both must be there, and the n-gram is what is between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import ahocorasick

from polyculture.collect.mining.patterns import Edges, Pattern, PatternSet
from polyculture.collect.mining.units import Segments, Span, Words, is_space
from polyculture.extract.boundaries import CLASSES, Boundaries, CharClass
from polyculture.extract.folding import fold, fold_name, is_dropped, without_spaces
from polyculture.extract.rules import rules

_CONTEXT = 70  # characters on each side of a slot's edge
_WRITTEN = 4  # characters that a folded letter may take: itself, marks, what folding drops
_MARGIN = 32


@dataclass(frozen=True, slots=True)
class Hit:
    """A place where a pattern stands, with the n-grams in its slot, shortest first; none where stop words are all."""

    pattern: int
    context: str
    keys: tuple[str, ...]  # folded: by these they are counted
    forms: tuple[str, ...]  # as they are written


class SlotFinder:
    """The patterns of one language, ready to be found."""

    def __init__(self, chosen: PatternSet, stop_words_at: Edges) -> None:
        self._patterns, self._stop_words = chosen.patterns, chosen.stop_words
        self._at_begin, self._at_end = stop_words_at in ("both", "begin"), stop_words_at in ("both", "end")
        self._spaced = chosen.unit == "words"
        self._units = Words(chosen.longest) if self._spaced else Segments(chosen.longest, chosen.language)
        self._boundaries = Boundaries(chosen.language)
        self._automaton = _automaton(chosen.patterns, self._spaced)
        self._reach = _WRITTEN * max(len(pattern.before or pattern.after) for pattern in chosen.patterns) + _MARGIN

    def find(self, line: str, near: Iterable[Span] | None = None) -> Iterator[Hit]:
        """The hits in a line, in the order of their slots; only where fixed text overlaps a span of `near`, if any."""
        best: dict[tuple[int, bool], tuple[int, int, list[Span]]] = {}
        for index, anchor in self._anchors(line, [(0, len(line))] if near is None else near):
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
            yield Hit(index, _context(line, place), tuple(named), tuple(named.values()))

    def _anchors(self, line: str, near: Iterable[Span]) -> Iterator[tuple[int, Span]]:
        """The patterns whose fixed text stands in the line, and where. Folding is slow: only what is near is folded."""
        for start, end in _windows(near, self._reach, line):
            folded = fold(line[start:end]) if self._spaced else without_spaces(fold(line[start:end]))
            for last, (length, indexes) in self._automaton.iter(folded.text):
                span = folded.span(last + 1 - length, last + 1)
                if span is not None:
                    yield from ((index, (start + span[0], start + span[1])) for index in indexes)

    def _slot(self, pattern: Pattern, line: str, start: int, end: int) -> int | None:
        """The edge of the slot at the fixed text, if that stands there as words of its own."""
        if pattern.before:
            free = self._boundaries.free(line[:end], start, end)
            return self._skip(line, end, 1, pattern.apart_before) if free else None
        free = self._boundaries.free(line[start:], 0, end - start)
        return self._skip(line, start, -1, pattern.apart_after) if free else None

    def _words(self, pattern: Pattern, line: str, place: int) -> list[Span]:
        """The words in the slot, nearest to `place` first. Between two fixed texts, all that are between."""
        if not pattern.before:
            return self._units.before(line, place)
        words = self._units.after(line, place)
        if not pattern.after:
            return words
        return next((words[:n] for n in range(1, len(words) + 1) if self._follows(pattern, line, words[n - 1][1])), [])

    def _named(self, line: str, words: Sequence[Span], pattern: Pattern) -> Iterator[tuple[str, str]]:
        """The n-grams that may be names: the folded form and the written one."""
        enclosed = bool(pattern.before and pattern.after)  # then the pattern says where the name begins and ends
        for word in words[-1:] if enclosed else words:
            first, last = (words[0], word) if pattern.before else (word, words[0])
            form = line[first[0] : last[1]]
            stopped = (self._at_begin and self._stops(line, first)) or (self._at_end and self._stops(line, last))
            if (enclosed or not stopped) and any(map(str.isalpha, form)):
                yield _folded(form), form

    def _stops(self, line: str, word: Span) -> bool:
        folded = _folded(line[slice(*word)])
        return folded == "&" or folded in self._stop_words

    def _skip(self, line: str, place: int, step: int, apart: bool) -> int | None:
        """Over the spaces and quotation marks between fixed text and slot; None where they do not fit the pattern."""
        past = _past(line, place, step, _is_edge if apart or not self._spaced else is_dropped)
        char = _beside(line, past, step)
        if not char or CLASSES[char] == CharClass.NONE:
            return None
        return past if not (apart and self._spaced) or _is_apart(line, place, past) else None

    def _follows(self, pattern: Pattern, line: str, place: int) -> bool:
        """Whether the text after the slot stands there, beyond spaces and quotation marks where there may be some."""
        wanted = pattern.after if self._spaced else pattern.after.replace(" ", "")
        past = _past(line, place, 1, _is_edge)
        if pattern.apart_after and self._spaced:
            return _is_apart(line, place, past) and self._stands(wanted, line[past:])
        return self._stands(wanted, line[place:]) or (not self._spaced and self._stands(wanted, line[past:]))

    def _stands(self, wanted: str, line: str) -> bool:
        rest = fold(line[: 4 * len(wanted) + _CONTEXT])
        text = rest.text if self._spaced else without_spaces(rest).text
        return text.startswith(wanted) and self._boundaries.free(text, 0, len(wanted))


def _windows(spans: Iterable[Span], reach: int, line: str) -> list[Span]:
    """The spans with `reach` characters on both sides, as far as the line goes; those that overlap as one."""
    windows: list[Span] = []
    for first, last in sorted(spans):
        start, end = max(0, first - reach), min(len(line), last + reach)
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(end, windows[-1][1]))
        else:
            windows.append((start, end))
    return windows


def _past(line: str, place: int, step: int, passes: Callable[[str], bool]) -> int:
    """The place beyond the characters that are passed over."""
    while (char := _beside(line, place, step)) and passes(char):
        place += step
    return place


def _is_edge(char: str) -> bool:
    """What may stand between fixed text and slot: a space, a quotation mark, an invisible sign."""
    return is_space(char) or char in rules().quotes or not fold_name(char)


def _is_apart(line: str, place: int, past: int) -> bool:
    """Whether anything that is seen stands between two places."""
    return not all(map(is_dropped, line[min(place, past) : max(place, past)]))


@lru_cache(maxsize=100_000)
def _folded(name: str) -> str:
    return fold_name(name)


def _beside(line: str, place: int, step: int) -> str:
    """The character after a place, or before it; nothing at the end of the line."""
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
    """What stands around a place, without the words that it would cut, where there are spaces to cut at."""
    first, last = max(0, place - _CONTEXT), min(len(line), place + _CONTEXT)
    left, right = line[first:place], line[place:last]
    if first and " " in left:
        left = left[left.index(" ") + 1 :]
    if last < len(line) and " " in right:
        right = right[: right.rindex(" ")]
    return ("… " if first else "") + (left + right).replace("\0", " ").strip() + (" …" if last < len(line) else "")
