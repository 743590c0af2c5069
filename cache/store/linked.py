"""The rows of links, and the tables that they are kept in.

They are apart from `schema`, since a command that links a single name needs no other table.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from polyculture.cache.store.layout import Table


@dataclass(frozen=True, slots=True)
class Link:
    """The entity that mentions of one query mean, or the reason why there is none."""

    query: int  # hash of the six columns below, and of the item that a study gives: of all mentions that share them
    language: str
    topic: str
    kind: str
    surface: str
    name: str | None  # the dictionary form that was looked up, too; NULL where the extractor gives none
    english: str | None  # the English name that was looked up, too; NULL where the extractor gives none
    status: str  # 'linked' | 'ambiguous' | 'no candidate' | 'no path'
    qid: str | None  # the first candidate of the topic; set when linked or ambiguous
    matched_by: str | None  # 'surface' | 'name' | 'english': what of the mention is a name of the item
    match: str | None  # 'exact' | 'normalised' | 'key'; 'published': taken from an imported study
    matched: str | None  # the label or alias that matched
    only_english: bool | None  # is the mention in another language, and only an English name found its item?
    english_qid: str | None  # the item of the topic that `english` matches, where own words lead to `qid` alone
    reached_kind: str | None  # the topic's kind whose class was reached: the mention's own where that is possible
    root: str | None  # the topic's class that was reached
    path: list[str] | None  # QIDs from the entity's class up to the root
    candidates: int  # items whose name matched
    survivors: int  # candidates that reached the topic


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate: a Wikidata item that a query may mean, and why it was or was not linked."""

    query: int
    qid: str
    rank: int | None  # 1 is best; None when it does not reach the topic
    matched_by: str | None
    match: str
    matched: str
    matched_language: str  # the language of the name that matched, as Wikidata writes it
    reached_kind: str | None  # the topic's kind whose class was reached: the mention's own where that is possible
    root: str | None  # the topic's class that was reached
    path: list[str] | None  # QIDs from the item's class up to the root that was reached
    distance: int | None  # edges from the item to the root
    sitelinks: int | None  # how many wikis have a page on the item; NULL where that is unknown
    reason: str  # why it was or was not linked, in words


@dataclass(frozen=True, slots=True)
class Entity:
    """A Wikidata item that at least one surface is linked to."""

    qid: str
    label: str  # English, or the first there is
    labels: dict[str, str]  # by language code
    description: str | None
    sitelinks: int | None  # how many wikis have a page on the item; NULL where that is unknown
    revision: int | None  # the revision of the item that was read; NULL where the snapshot does not say


@dataclass(frozen=True, slots=True)
class EntityCountry:
    """A country that an entity is associated with, and the Wikidata property that states it.

    All rows of an entity are from the first of these that gives a country: P495; P2012; P361 (of a cuisine); P2596;
    P27, P495, P19 of whoever made it (P50, P86, P170, P175); its own P27; P19; P1071; P17; P276.
    """

    qid: str
    country: str | None  # ISO 3166, if what Wikidata names is a country of today, lies in one or has it as heir
    country_qid: str  # what Wikidata names: a country, a former state, a region, a cuisine
    property: str  # 'P495', or by way of the maker 'P50/P27'
    successors: list[str] | None = None  # the heirs of a former state, where nothing decides between them


@dataclass(frozen=True, slots=True)
class KnownCountry:
    """A country that links were made with, and its region."""

    country: str  # ISO 3166
    name: str
    country_qid: str
    region: str | None  # its code in the catalogue; None for a country without one
    region_name: str | None  # its name for people
    part_of: str | None  # the larger region
    place: int  # its place among all countries, by region: the order of maps
    languages: list[str]  # the languages whose first country it is
    uncovered_topics: list[str] = field(default_factory=list)  # of which the source of Wikidata holds no item of it


@dataclass(frozen=True, slots=True)
class SnapshotItems:
    """How many items of a topic the run's snapshot held when it was linked: in all, of a language, or of a country.

    Empty for a snapshot that was filled with the run's names: it holds what was named.
    """

    topic: str
    language: str | None  # then: those with a name in it; NULL: whatever their names
    country: str | None  # then: those that come from there, ISO 3166; NULL: from anywhere
    items: int  # how many items these are
    names: int | None  # of a language: how many names these items have in it


@dataclass(frozen=True, slots=True)
class SnapshotLink:
    """The entity that another snapshot than the run's gives for the same query, and its countries there.

    `polyculture link EXPERIMENT --snapshot FILE` writes them.
    """

    snapshot: str  # the snapshot's file, as it was named, or "starter"
    identity: str  # a hash of the snapshot's content
    date: str | None  # when it was filled or pulled, or the latest change in its dump (ISO 8601); the starter has none
    query: int
    language: str
    topic: str
    kind: str
    surface: str
    status: str  # as in `links`
    qid: str | None
    countries: list[str]  # of the item, ISO 3166
    merged: list[str]  # the QIDs of items that were merged into it, as far as the snapshot knows


LINKS = Table("links", Link)
CANDIDATES = Table("candidates", Candidate)
ENTITIES = Table("entities", Entity)
ENTITY_COUNTRIES = Table("entity_countries", EntityCountry)
KNOWN_COUNTRIES = Table("known_countries", KnownCountry)
SNAPSHOT_ITEMS = Table("snapshot_items", SnapshotItems)
SNAPSHOT_LINKS = Table("snapshot_links", SnapshotLink)
