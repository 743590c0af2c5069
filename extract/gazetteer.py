"""The extractor `gazetteer`: finds the names of a lexicon in a text. Deterministic, without a model.

Names and texts are folded (`cache.text.folding`), and all names are searched in one pass (Aho-Corasick). A match counts
if its edges (`extract.boundaries`) and its letter case fit; of overlapping matches the first and longest is taken.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import ahocorasick
import pyarrow as pa

from polyculture.cache.catalog import Topic
from polyculture.cache.identity import content_id
from polyculture.cache.text.folding import fold_surface, fold_with_offsets
from polyculture.cache.text.inflection import NO_ENDINGS, Endings, forms
from polyculture.extract.base import Extracted, FoundMention, ResponseText
from polyculture.extract.boundaries import Boundaries, LetterCase, long_enough, quoted
from polyculture.extract.rules import language_rules, rules, rules_hash

VERSION = 3  # of the rules in the code that decide mentions: raise it when they change


CountryNames = Mapping[str, Sequence[str]]  # the names of countries, by language
_KeyedName = tuple[str, str | None]  # a name and its kind; None of a country


def gazetteer_extractor_id(topic: Topic, snapshot: str, countries: CountryNames, endings: Endings = NO_ENDINGS) -> str:
    """The identity of `Gazetteer` for a topic and a snapshot (its content hash), without reading the snapshot."""
    kinds = {name: kind.model_dump() for name, kind in topic.kinds.items()}
    return content_id(
        "gazetteer",
        VERSION,
        snapshot,
        countries,
        topic.code,
        kinds,
        topic.part_of,
        topic.max_distance,
        rules_hash(endings),
    )


class Gazetteer:
    """Finds the names of `lexicon`, a table with the columns `surface`, `kind` and `qid`, in texts of one language.

    A surface with several kinds gets the first of them. Names of a kind's first root class are words of the topic
    itself ("dish", "drinks") and are not searched. The name of a country is a mention of no kind, whatever else has
    that name or a part of it: Chile the spice, South Korea (کرهٔ جنوبی) the butter (کره). Only a title in quotation
    marks is taken for the title. `countries` has these names for each language that a run asks in, so that all its
    texts have one identity. `snapshot` is the hash of the lexicon's source; `endings` are those of culture packs.
    """

    costly = False

    def __init__(
        self,
        lexicon: pa.Table,
        topic: Topic,
        language: str,
        snapshot: str,
        countries: CountryNames,
        endings: Endings = NO_ENDINGS,
    ) -> None:
        self.extractor_id = gazetteer_extractor_id(topic, snapshot, countries, endings)
        self._boundaries, self._case = Boundaries(language, hyphens_join=True), LetterCase(language)
        topic_words = {kind.roots[0] for kind in topic.kinds.values() if kind.roots} | rules().topic_words
        self._automaton = _automaton(lexicon, language, topic_words, endings, countries.get(language, ()))

    def extract(self, responses: Iterable[ResponseText]) -> Iterator[Extracted]:
        """Yields the mentions response by response; none fails."""
        for response in responses:
            yield Extracted(response.response_id, "ok", tuple(self._mentions(response.text)))

    def _mentions(self, text: str) -> Iterator[FoundMention]:
        end = 0
        for start, stop, kind, name in sorted(self._matches(text), key=lambda match: (match[0], -match[1])):
            if start >= end:
                if kind is not None:
                    yield FoundMention(text[start:stop], kind, start, stop, name=name)
                end = stop

    def _matches(self, text: str) -> Iterator[tuple[int, int, str | None, str]]:
        """The places of names, each with its kind; None for the name of a country."""
        if self._automaton is None:
            return
        folded = fold_with_offsets(text)
        for last, (length, written) in self._automaton.iter(folded.text):
            span = folded.span(last + 1 - length, last + 1)
            if span is None or not self._boundaries.free(text, *span):
                continue
            if found := self._named(text, *span, written):
                yield *span, *found

    def _named(self, text: str, start: int, end: int, written: Sequence[_KeyedName]) -> tuple[str | None, str] | None:
        """The kind and the name of `text[start:end]`, of those that fold to the same; None where its case fits none."""
        has_capital = text[start].isupper()
        country = next(
            (name for name, kind in written if kind is None and (has_capital or not name[0].isupper())), None
        )
        in_quotes = country is not None and quoted(text, start, end)
        for name, kind in written:
            if kind is None or (country is not None and not (in_quotes and kind in rules().titles)):
                continue
            if self._case.fits(text, start, end, name, kind):
                return kind, name
        return None if country is None else (None, country)


def _automaton(
    lexicon: pa.Table, language: str, topic_words: Container[str], endings: Endings, countries: Sequence[str]
) -> ahocorasick.Automaton | None:
    """The automaton of all names and their inflected forms; None for an empty lexicon.

    Of each it knows the length and the written names that fold to it, with their kinds: the names of countries, which
    have none, first, and the others best first.
    """
    of_countries: dict[str, list[str]] = {}
    for name in countries:
        if long_enough(folded := fold_surface(name)):
            of_countries.setdefault(folded, []).append(name)
    written: dict[str, dict[str, str]] = {}
    inflected: dict[str, dict[str, str]] = {}
    skipped, proper = language_rules(language).function_words, rules().proper_kinds
    for surface, kind, qid in zip(*(lexicon[name].to_pylist() for name in ("surface", "kind", "qid")), strict=True):
        name = fold_surface(surface)
        if qid in topic_words or name in skipped or not long_enough(name):
            continue
        written.setdefault(name, {}).setdefault(surface, kind)
        if kind not in proper:
            for form in forms(name, language, endings):
                inflected.setdefault(form, {}).setdefault(surface, kind)
    automaton = ahocorasick.Automaton()
    if not written:
        return None
    names = {**inflected, **written}
    for name in {**names, **of_countries}:
        surfaces = [(country, None) for country in of_countries.get(name, ())] + list(names.get(name, {}).items())
        automaton.add_word(name, (len(name), surfaces))
    automaton.make_automaton()
    return automaton
