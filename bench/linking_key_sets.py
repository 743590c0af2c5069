"""The mentions of `bench/linking_keys.py`, each with the items that are right for it."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from bench.linking_nils import displaced
from bench.linking_sets import cube, fmlama, hard_cases, labels, members_of
from polyculture.cache.catalog import Catalog
from polyculture.cache.text.inflection import base_language
from polyculture.link.audit.gold import GoldMention, counted_kinds
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.normalise import fold_of, normalise
from polyculture.link.queries import label_chain

LACKING = 5  # every fifth item, or lemma, is left out
NOUN_TOPICS = ("food", "clothing", "transportation")  # whose names are common nouns
ANSWER_TOPICS = (*NOUN_TOPICS, "beverage")
NOUNS_EACH = 4000  # nouns of a language
NAMES = """
    SELECT DISTINCT item, language, name, normalised FROM members JOIN wikidata.names USING (item)
    WHERE $only IS NULL OR language = $only ORDER BY ALL
"""
BLEND = {"China": "zh", "Iran": "fa", "Mexico": "es", "Spain": "es", "South_Korea": "ko", "Indonesia": "id"}


@dataclass(frozen=True, slots=True)
class SetMention:
    """A gold mention and the set it belongs to."""

    gold: GoldMention
    set: str
    kind: str


class NameBearers:
    """Who bears a name in a topic, by the normal forms of a language and those that it falls back on."""

    def __init__(self, snapshot: Snapshot, catalog: Catalog, only: str | None = None) -> None:
        self._catalog = catalog
        self._items: dict[tuple[str, str, str], set[str]] = {}
        self.rows: list[tuple[int, str, str]] = []  # items of topics with the names of each Wikidata language
        self.topics: dict[int, set[str]] = {}
        with members_of(snapshot, catalog) as (connection, scopes):
            counted = {
                scopes[code, kind]: code for code, topic in catalog.topics.items() for kind in counted_kinds(topic)
            }
            for scope, item in connection.execute("SELECT DISTINCT scope, item FROM members").fetchall():
                if scope in counted:
                    self.topics.setdefault(item, set()).add(counted[scope])
            found = NAMES
            for item, language, name, normalised in connection.execute(found, {"only": only}).fetchall():
                if item in self.topics:
                    self.rows.append((item, language, name))
                    for topic in self.topics[item]:
                        self._items.setdefault((base_language(language), topic, normalised), set()).add(f"Q{item}")

    def bearers(self, language: str, topic: str, names: Sequence[str]) -> list[set[str]]:
        """By name, the items of the topic that bear it in a language of the catalogue, or one that it falls back on."""
        found: list[set[str]] = [set() for _ in names]
        for code in {base_language(code) for code, _ in label_chain(self._catalog.language(language))}:
            for items, form in zip(found, normalise(names, fold_of(code)), strict=True):
                items |= self._items.get((code, topic, form), set())
        return found


def treebank(folder: Path, language: str) -> list[tuple[str, str]]:
    """Distinct nouns of a language's CoNLL-U files: form, lemma."""
    found: set[tuple[str, str]] = set()
    for file in sorted((folder / language).glob("*.conllu")):
        for line in file.read_text(encoding="utf-8").splitlines():
            cells = line.split("\t")
            if len(cells) > 3 and cells[3] == "NOUN" and min(len(cells[1]), len(cells[2])) > 1:
                lemma = cells[2].split("+")[0] if language == "ko" else cells[2]
                if lemma != "_" and cells[1][0].isalpha():
                    found.add((cells[1], lemma))
    return sorted(found)


def nouns(folder: Path, names: NameBearers, languages: Iterable[str]) -> Iterator[tuple[str, GoldMention]]:
    """Nouns whose form nothing of the topic bears, as mentions of what bears their lemma."""
    for language in languages:
        pairs = sorted(treebank(folder, language), key=lambda pair: zlib.crc32("".join(pair).encode()))[:NOUNS_EACH]
        forms, lemmas = [form for form, _ in pairs], [lemma for _, lemma in pairs]
        for topic in NOUN_TOPICS:
            found = zip(forms, *(names.bearers(language, topic, texts) for texts in (forms, lemmas)), strict=True)
            for form, known, meant in found:
                if not known:
                    name = "nouns in texts" if meant else "other nouns in texts"
                    yield name, GoldMention(form, language, topic, tuple(sorted(meant)))


def answers(data: Path, names: NameBearers, languages: Iterable[str]) -> Iterator[GoldMention]:
    """BLEnD's answers, each as a mention of the items of a topic that bear one of its English names."""
    for country, language in BLEND.items():
        if language not in languages:
            continue
        questions = orjson.loads((data / "blend" / "annotations" / f"{country}_data.json").read_bytes())
        pairs = sorted(
            {
                (text, english)
                for question in questions.values()
                for answer in question["annotations"]
                for text in answer["answers"]
                for english in answer["en_answers"]
                if text and english
            }
        )
        for topic in ANSWER_TOPICS:
            meant: dict[str, set[str]] = {}
            bearers = names.bearers("en", topic, [english for _, english in pairs])
            for (text, _), items in zip(pairs, bearers, strict=True):
                if items:
                    meant.setdefault(text, set()).update(items)
            yield from (GoldMention(text, language, topic, tuple(sorted(items))) for text, items in meant.items())


def held_out(names: NameBearers, catalog: Catalog, each: int) -> tuple[list[SetMention], list[tuple[int, str, str]]]:
    """Mentions that are names of items, and the (item, language, name) rows that a snapshot must lose for them."""
    spoken = {language.label_languages[0]: language.code for language in catalog.languages.values()}
    together: dict[tuple[int, str], list[str]] = {}
    for item, language, name in names.rows:
        together.setdefault((item, language), []).append(name)
    found: dict[tuple[str, str], list[SetMention]] = {}
    lost: list[tuple[int, str, str]] = []
    for (item, language), texts in sorted(together.items(), key=lambda pair: zlib.crc32(repr(pair[0]).encode())):
        gone = item % LACKING == 0
        if not gone and (len(set(normalise(texts, fold_of(language)))) < 2 or language not in spoken):
            continue
        text = min(texts, key=lambda name: zlib.crc32(name.encode()))
        lost += [(item, language, name) for name in (texts if gone else [text])]
        if language not in spoken:
            continue
        code, topic = spoken[language], min(names.topics[item])
        mention = GoldMention(text, code, topic, () if gone else (f"Q{item}",))
        name = "items left out" if gone else "held-out names"
        found.setdefault((name, code), []).append(SetMention(mention, name, first_kind(catalog, topic)))
    return [one for group in found.values() for one in group[:each]], lost


def first_kind(catalog: Catalog, topic: str) -> str:
    """A kind to ask in: candidates of all counted kinds of the topic survive."""
    return counted_kinds(catalog.topic(topic))[0]


@dataclass(frozen=True, slots=True)
class Sources:
    """The folders that gold is read from, and how many names of a kind are asked in other topics."""

    data: Path
    treebanks: Path | None
    each: int


def whole_sets(
    sources: Sources,
    catalog: Catalog,
    snapshot: Snapshot,
    names: NameBearers,
    english: NameBearers,
    languages: Sequence[str],
) -> list[SetMention]:
    """The sets that are asked of the whole snapshot; `english` are the English names of all items."""
    found = _sets(sources, catalog, snapshot, names, english, languages)
    return [SetMention(one, name, one.kind or first_kind(catalog, one.topic)) for name, one in found]


def _sets(
    given: Sources,
    catalog: Catalog,
    snapshot: Snapshot,
    names: NameBearers,
    english: NameBearers,
    languages: Sequence[str],
) -> Iterator[tuple[str, GoldMention]]:
    for found in (*fmlama(given.data / "wikidata", languages), cube(given.data / "wikidata")):
        yield from (("FmLAMA, CUBE", one) for one in found.gold if one.language in languages)
    yield from (("BLEnD", one) for one in answers(given.data, english, languages))
    if given.treebanks:
        yield from nouns(given.treebanks, names, languages)
    others = displaced(labels(snapshot, catalog, given.each, languages), given.each)
    yield from ((others.name, one) for one in others.gold)
    yield from (("hard cases", one) for one in hard_cases(catalog, "slice", None).gold if one.language in languages)
