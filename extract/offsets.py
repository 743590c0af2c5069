"""Locates the surfaces that a model listed in the text.

Every occurrence is a mention: a surface listed once that occurs three times gives three mentions. Listing it again adds
none; if that has another kind, the next occurrence gets that kind. Mentions do not overlap, and longer surfaces are
placed first: "soup" is not found inside "miso soup". A single Chinese character or kana, which also occurs inside many
words, is found as often as it was listed.

The search is exact first, then by folded case and width, then by other forms of the word (the plural), then inside a
run of letters where the script has no word boundaries, then without regard to spaces. Of a surface that is still not
found, the nearest passage is taken and marked as repaired, if it is as alike as `ALIKE`; else it is hallucinated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from polyculture.cache.text.folding import Folded, fold_surface, fold_with_offsets, without_spaces
from polyculture.cache.text.inflection import NO_ENDINGS, Endings, forms
from polyculture.extract.base import FoundMention, NamedEntity
from polyculture.extract.boundaries import CLASSES, Boundaries, CharClass, Span
from polyculture.extract.rules import rules

ALIKE = 85.0  # of 100 by rapidfuzz; docs/extraction.md has the errors above and below it
# The nearest passage is as long as the name, so it has more letters than a shorter word that is as alike as `ALIKE`,
# and is less alike. That word, with m letters of n, is so where 2m / (n + m) >= ALIKE; its passage has m of n.
_PASSAGE_ALIKE = 100 * ALIKE / (200 - ALIKE)
_SHORTEST = 4  # letters; in shorter words one letter makes another word
_NAMES = ("name", "english")
_WITHOUT_BOUNDARIES = (CharClass.HAN, CharClass.HIRAGANA, CharClass.KATAKANA, CharClass.UNSPACED)
_SPACED = (CharClass.SPACED, CharClass.LATIN)


def locate(
    text: str, entities: Iterable[NamedEntity], language: str, endings: Endings = NO_ENDINGS
) -> tuple[FoundMention, ...]:
    """The mentions of the entities, in the text's order; hallucinated ones last. `endings` are those of packs."""
    listed: dict[str, list[NamedEntity]] = {}
    for entity in entities:
        listed.setdefault(clean(entity.text), []).append(entity)
    listed.pop("", None)
    finder = _Finder(text, language, endings)
    taken: list[Span] = []
    placed: list[FoundMention] = []
    missing: list[FoundMention] = []
    found = {surface: finder.spans(surface, _is_proper(same)) for surface, same in listed.items()}
    # Those that the text holds come first, so that a slip of the pen never takes their place.
    for surface in sorted(listed, key=lambda s: (not found[s], -len(s), s)):
        same, spans = listed[surface], found[surface]
        name, english = (next((getattr(one, field) for one in same if getattr(one, field)), None) for field in _NAMES)
        repaired = not spans and bool(spans := finder.nearest(surface, _is_proper(same)))
        if not spans:
            kinds = dict.fromkeys(one.kind for one in same)
            missing += [FoundMention(surface, kind, None, None, True, name, english) for kind in kinds]
        free = [span for span in spans if not _overlaps(span, taken)]
        if len(surface) == 1 and CLASSES[surface] in _WITHOUT_BOUNDARIES:
            free = free[: len(same)]
        taken += free
        for place, (start, end) in enumerate(free):
            kind = same[min(place, len(same) - 1)].kind
            returned = surface if repaired else None
            placed.append(FoundMention(text[start:end], kind, start, end, False, name, english, repaired, returned))
    order = {surface: place for place, surface in enumerate(listed)}
    missing.sort(key=lambda mention: order[mention.surface])
    return (*sorted(placed, key=lambda mention: mention.start or 0), *missing)


def _is_proper(same: Iterable[NamedEntity]) -> bool:
    return all(one.kind in rules().proper_kinds for one in same)


def clean(surface: str) -> str:
    """A surface without surrounding white space, quotation marks and emphasis."""
    return surface.strip().strip(rules().quotes).strip()


class _Finder:
    """Searches one text for many surfaces."""

    def __init__(self, text: str, language: str, endings: Endings) -> None:
        self._text, self._language, self._boundaries = text, language, Boundaries(language)
        self._endings = endings
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
            or self._free(span for form in forms(name, self._language, self._endings) for span in self._in_folded(form))
            or list(self._inside_words(name))
            or self._spaces_aside(name)
        )

    def nearest(self, surface: str, proper: bool) -> list[Span]:
        """The spans of the words that are most like a surface; none where they are less so than `ALIKE`."""
        name, words = fold_surface(surface), self._folded.text
        enough = len(name) >= _SHORTEST and words
        found = fuzz.partial_ratio_alignment(name, words, score_cutoff=_PASSAGE_ALIKE) if enough else None
        if found is None:
            return []
        blocks = [b for b in Indel.opcodes(name, words[found.dest_start : found.dest_end]) if b.tag == "equal"]
        start, end = found.dest_start + blocks[0].dest_start, found.dest_start + blocks[-1].dest_end
        while start > 0 and CLASSES[words[start - 1]] in _SPACED and CLASSES[words[start]] in _SPACED:
            start -= 1
        while end < len(words) and CLASSES[words[end]] in _SPACED and CLASSES[words[end - 1]] in _SPACED:
            end += 1
        span = self._folded.span(start, end)
        if span is None or fuzz.ratio(name, words[start:end]) < ALIKE:
            return []
        return self.spans(self._text[slice(*span)], proper)

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
