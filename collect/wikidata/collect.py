"""Collects the items of some classes from a snapshot, as a first version of an entity list.

wanted = Collection(classes=("Q746549",), language="ja", countries=("JP",))
with collected(open_snapshot(path), read_catalog(), wanted) as rows:
    rows.fetchall()

An item belongs to a class by the rule of topics: instance-of once, or the class itself, then subclass-of only, without
crossing a stop class. Its countries are those of a linked entity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog, Kind, Topic
from polyculture.cache.database import connect
from polyculture.cache.errors import SnapshotError
from polyculture.link.index.classes import REMEDY, unknown_classes
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.ontology import open_members
from polyculture.link.origins import find_origins
from polyculture.link.qid import number
from polyculture.link.queries import label_chain
from polyculture.link.statements import statement

Membership = Literal["any", "instances", "classes"]
TOPIC = "collection"  # the code of a collection as a topic
MUL = "mul"  # Wikidata's language of labels that are the same in all
MAX_DISTANCE = 12  # edges from an item to the class; the default of topics' files


@dataclass(frozen=True, slots=True)
class Collection:
    """A request: the items below any of `classes`, of any of `countries` if there are some.

    Classes and stops are QIDs, countries ISO 3166 codes of the catalogue or QIDs. The QID of a country of the catalogue
    stands for its code.
    """

    classes: Sequence[str]
    language: str
    countries: Sequence[str] = ()
    stops: Sequence[str] = ()
    members: Membership = "any"
    max_distance: int = MAX_DISTANCE
    labelled: bool = False  # only items with a label in the language or its fallback chain
    also: Sequence[str] = ()  # more languages of the catalogue, for a set that serves several
    at_least: int = 0  # only items with a label in so many of all languages named
    most: int | None = None  # at most so many, the best known
    kind: Kind | None = None  # whose rule holds: its classes, stops, occupations, of which the snapshot may lack some

    @property
    def languages(self) -> tuple[str, ...]:
        """All languages named, each once."""
        return tuple(dict.fromkeys((self.language, *self.also)))


@contextmanager
def collected(snapshot: Snapshot, catalog: Catalog, wanted: Collection) -> Iterator[duckdb.DuckDBPyRelation]:
    """Yields the rows of `sql/collect.sql`, best known items first.

    Raises `SnapshotError` for an invalid QID, for a class or country that the snapshot lacks, and where it has no names
    in the language; `CatalogError` for an unknown language or country code.
    """
    with connect() as connection, snapshot.opened(connection):
        if wanted.at_least > len(wanted.languages):
            what = f"labels in {wanted.at_least} languages are asked for, and {len(wanted.languages)} are named"
            raise SnapshotError(what, remedy="Name more languages with --also.")
        _check_names(snapshot, catalog, wanted)
        _create_name_chains(connection, catalog, wanted.languages)
        _create_wanted_countries(connection, catalog, snapshot, wanted.countries)
        own = as_catalog(catalog, _resolved(connection, snapshot, wanted))
        scopes = open_members(connection, own, [TOPIC], {})
        query = "CREATE TABLE reached AS FROM members WHERE scope = $scope"
        connection.execute(query, {"scope": scopes[TOPIC, TOPIC]})
        connection.execute("CREATE TABLE linked AS SELECT item FROM reached")
        find_origins(connection, catalog)
        params = {
            "any_country": not wanted.countries,
            "labelled": wanted.labelled,
            "at_least": wanted.at_least,
            "most": wanted.most,
        }
        connection.sql(statement("collect"), params=params).create("collected")
        yield connection.table("collected")


def as_catalog(catalog: Catalog, wanted: Collection) -> Catalog:
    """The catalogue with the collection as its only topic, so that a collection follows the rules of topics.

    Raises `SnapshotError` for an invalid QID, `CatalogError` for an unknown language.
    """
    roots, stops = (tuple(f"Q{_number(qid)}" for qid in qids) for qids in (wanted.classes, wanted.stops))
    kind = wanted.kind or Kind(granularity=1, description="", roots=roots, stops=stops, members=wanted.members)
    topic = Topic(code=TOPIC, name=TOPIC, max_distance=wanted.max_distance, kinds={TOPIC: kind})
    languages = {code: catalog.language(code) for code in wanted.languages}
    return catalog.model_copy(update={"topics": {TOPIC: topic}, "languages": languages})


def _resolved(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, wanted: Collection) -> Collection:
    """The collection with redirects of classes and stops resolved; `SnapshotError` for a class without items."""
    classes, stops = ([_item(connection, qid) for qid in qids] for qids in (wanted.classes, wanted.stops))
    unknown = unknown_classes(connection, classes)
    if unknown and (wanted.kind is None or len(unknown) == len(set(classes))):
        what = f"no item is an instance or a subclass of {unknown[0]}"
        raise SnapshotError(what, where=snapshot.name, remedy=REMEDY)
    return replace(wanted, classes=classes, stops=stops)


def _item(connection: duckdb.DuckDBPyConnection, qid: str) -> str:
    """The QID in capital letters, with redirects resolved."""
    params = {"item": _number(qid)}
    moved = connection.execute("SELECT target FROM wikidata.redirects WHERE item = $item", params).fetchall()
    return f"Q{moved[0][0] if moved else params['item']}"


def _number(qid: str) -> int:
    try:
        return number(qid.upper())
    except ValueError as fault:
        raise SnapshotError(f"{qid!r} is not a QID", remedy="Write, for example, Q746549.") from fault


def _create_wanted_countries(
    connection: duckdb.DuckDBPyConnection, catalog: Catalog, snapshot: Snapshot, countries: Sequence[str]
) -> None:
    """Creates the table `wanted_countries`: a row is a country's code, or the QID of a state that is none of today's.

    Raises `SnapshotError` for a QID that is the country of no item.
    """
    by_qid = {country.qid: country.code for country in catalog.countries.values()}
    places: set[str] = set()
    for asked in countries:
        is_qid = asked[:1] in "Qq" and asked[1:].isdecimal()
        qid = _item(connection, asked) if is_qid else catalog.country(asked.upper()).qid
        if qid not in by_qid and not _is_country(connection, qid):
            what = f"no item is of the country {qid}"
            remedy = "Check the country on wikidata.org, or use a larger snapshot."
            raise SnapshotError(what, where=snapshot.name, remedy=remedy)
        places.add(by_qid.get(qid, qid))
    connection.from_arrow(pa.table({"place": pa.array(sorted(places), pa.string())})).create("wanted_countries")


def _is_country(connection: duckdb.DuckDBPyConnection, qid: str) -> bool:
    query = "SELECT 1 FROM wikidata.claims WHERE property IN ('P17', 'P27', 'P495') AND target = $item LIMIT 1"
    return bool(connection.execute(query, {"item": number(qid)}).fetchall())


def without_names(snapshot: Snapshot, catalog: Catalog, wanted: Collection) -> list[str]:
    """The languages of a set in which the snapshot keeps no names: they count for no item of it."""
    return [asked for asked in wanted.languages if snapshot.languages.isdisjoint(_own_codes(catalog, asked) - {MUL})]


def _own_codes(catalog: Catalog, language: str) -> set[str]:
    """Wikidata's languages in a fallback chain, without English as the last resort."""
    return {code for code, english in label_chain(catalog.language(language)) if not english}


def _check_names(snapshot: Snapshot, catalog: Catalog, wanted: Collection) -> None:
    """Raises `SnapshotError` for a language in which the snapshot has no names; of a set, where too few are left."""
    if wanted.at_least:
        lacking = without_names(snapshot, catalog, wanted)
        if len(wanted.languages) - len(lacking) >= wanted.at_least:
            return
        what = f"has no names in {', '.join(lacking)}, and labels in {wanted.at_least} languages are asked for"
    else:
        codes = (label_chain(catalog.language(asked)) for asked in wanted.languages)
        own = [[code for code, english in chain if not english] for chain in codes]
        lacking = [" or ".join(one) for one in own if snapshot.languages.isdisjoint(one)]
        what = f"the snapshot has no names in {', '.join(lacking)}"
    if lacking:
        remedy = "Build it again: polyculture wikidata build keeps the languages of the catalogue, and those of --also."
        raise SnapshotError(what, where=snapshot.name, remedy=remedy)


def _create_name_chains(connection: duckdb.DuckDBPyConnection, catalog: Catalog, languages: Sequence[str]) -> None:
    """Creates `name_chains` and, of the first one, `name_chain`: a row is a Wikidata language in a fallback chain."""
    columns: dict[str, list[Any]] = {"of": [], "language": [], "position": [], "english": []}
    for asked in languages:
        for position, (code, english) in enumerate(label_chain(catalog.language(asked))):
            for column, value in zip(columns, (asked, code, position, english), strict=True):
                columns[column].append(value)
    connection.from_arrow(pa.table(columns)).create("name_chains")
    query = "CREATE TABLE name_chain AS SELECT * EXCLUDE (of) FROM name_chains WHERE of = $language"
    connection.execute(query, {"language": languages[0]})
