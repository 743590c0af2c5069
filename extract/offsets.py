"""Locates the surfaces that a model listed in the text.

Every occurrence is a mention: a surface listed once that occurs three times gives three mentions. Listing it again adds
none; if that has another kind, the next occurrence gets that kind. Mentions do not overlap, and longer surfaces are
placed first: "soup" is not found inside "miso soup". A single Chinese character or kana, which also occurs inside many
words, is found as often as it was listed.

The search is exact first, then by folded case and width, then by other forms of the word (the plural), then inside a
run of letters where the script has no word boundaries, then without regard to spaces. A surface that is still not found
is hallucinated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from polyculture.cache.folding import Folded, fold_surface, fold_with_offsets, without_spaces
from polyculture.cache.inflection import forms
from polyculture.extract.base import FoundMention
from polyculture.extract.boundaries import CLASSES, Boundaries, CharClass, Span
from polyculture.extract.rules import rules

_WITHOUT_BOUNDARIES = (CharClass.HAN, CharClass.HIRAGANA, CharClass.KATAKANA, CharClass.UNSPACED)


def locate(text: str, named: Sequence[tuple[str, str]], language: str) -> tuple[FoundMention, ...]:
    """The mentions of the (surface, kind) pairs in `named`, in the text's order; hallucinated ones last."""
    kinds_of: dict[str, list[str]] = {}
    for surface, kind in named:
        kinds_of.setdefault(clean(surface), []).append(kind)
    kinds_of.pop("", None)
    finder = _Finder(text, language)
    taken: list[Span] = []
    placed: list[FoundMention] = []
    missing: list[FoundMention] = []
    for surface in sorted(kinds_of, key=lambda s: (-len(s), s)):
        kinds = kinds_of[surface]
        spans = finder.spans(surface, proper=all(kind in rules().proper_kinds for kind in kinds))
        if not spans:
            missing += [FoundMention(surface, kind, None, None, hallucinated=True) for kind in dict.fromkeys(kinds)]
        free = [span for span in spans if not _overlaps(span, taken)]
        if len(surface) == 1 and CLASSES[surface] in _WITHOUT_BOUNDARIES:
            free = free[: len(kinds)]
        taken += free
        last = len(kinds) - 1
        placed += [FoundMention(text[a:b], kinds[min(i, last)], a, b) for i, (a, b) in enumerate(free)]
    order = {surface: place for place, surface in enumerate(kinds_of)}
    missing.sort(key=lambda mention: order[mention.surface])
    return (*sorted(placed, key=lambda mention: mention.start or 0), *missing)


def clean(surface: str) -> str:
    """A surface without surrounding white space, quotation marks and emphasis."""
    return surface.strip().strip(rules().quotes).strip()


class _Finder:
    """Searches one text for many surfaces."""

    def __init__(self, text: str, language: str) -> None:
        self._text, self._language, self._boundaries = text, language, Boundaries(language)
        self._folded = fold_with_offsets(text)

    def spans(self, surface: str, proper: bool) -> list[Span]:
        """The sorted spans of a surface, by the first search that finds any.

        Common nouns also match with other capital letters; titles and names do so only without an exact match.
        """
        exact = self._free(_occurrences(surface, self._text))
        if exact and proper:
            return exact
        name = fold_surface(surface)
        return (
            self._free(self._in_folded(name))
            or exact
            or self._free(span for form in forms(name, self._language) for span in self._in_folded(form))
            or list(self._inside_words(name))
            or self._spaces_aside(name)
        )

    def _free(self, spans: Iterable[Span]) -> list[Span]:
        return sorted({span for span in spans if self._boundaries.free(self._text, *span)})

    def _in_folded(self, name: str) -> Iterator[Span]:
        return _unfolded(self._folded, name)

    def _inside_words(self, name: str) -> Iterator[Span]:
        """All spans of the name, if its edges are in a script without word boundaries, or no letters."""
        if not name or not {CLASSES[name[0]], CLASSES[name[-1]]} & {*_WITHOUT_BOUNDARIES, CharClass.NONE}:
            return iter(())
        return self._in_folded(name)

    def _spaces_aside(self, name: str) -> list[Span]:
        joined = name.replace(" ", "")
        return self._free(_unfolded(without_spaces(self._folded), joined))


def _occurrences(name: str, text: str) -> Iterator[Span]:
    return (match.span() for match in re.finditer(re.escape(name), text)) if name else iter(())


def _unfolded(folded: Folded, name: str) -> Iterator[Span]:
    spans = (folded.span(*span) for span in _occurrences(name, folded.text))
    return (span for span in spans if span is not None)


def _overlaps(span: Span, taken: Iterable[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in taken)
