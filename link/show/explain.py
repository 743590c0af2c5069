"""Explains a link: the candidates of a surface with all evidence, by readable names.

explanations = explain(Linker(catalog, source), "เสื้อฮาวาย", "th", "clothing")
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import CatalogError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.link.linker import Linker, rows_of
from polyculture.link.near import NearMiss, near_misses
from polyculture.link.normalise import fold_of, normalise
from polyculture.link.qid import number
from polyculture.link.queries import QUERY_COLUMNS
from polyculture.link.statements import statement

_SHOWN = ("candidates", "entity_countries", "links")
ENGLISH = ["en", "mul"]  # where an English reader's label stands


@dataclass(frozen=True, slots=True)
class NamedItem:
    """An item with its names; None where the source has none."""

    qid: str
    label: str | None  # English
    own_label: str | None  # in the surface's language or its fallback chain
    description: str | None  # English


@dataclass(frozen=True, slots=True)
class CountryEvidence:
    """A country of the chosen item, and the property that gave it."""

    item: NamedItem
    country: str | None  # ISO 3166; None where it is of no country, or of one of several
    successors: tuple[str, ...]  # those several, of a state of the past: ISO 3166
    property: str
    property_name: str


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate: what matched, its path to the topic's classes if it has one, and the reason for its rank."""

    item: NamedItem
    matched_by: str
    match: str
    matched: str
    matched_language: str
    rank: int | None  # None where it does not reach the topic
    reached_kind: str | None
    path: tuple[NamedItem, ...]  # from the item's class up to the root
    distance: int | None
    sitelinks: int | None  # None where they are unknown
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The link of a surface within one kind of a topic. `chosen` is None where there is no link."""

    kind: str
    status: str  # 'linked' | 'ambiguous' | 'no candidate' | 'no path'
    candidates: int
    survivors: int
    chosen: RankedCandidate | None
    countries: tuple[CountryEvidence, ...]
    rivals: tuple[RankedCandidate, ...]  # best first, limited in number
    near_misses: tuple[NearMiss, ...] = ()  # where there is no candidate
    english_item: NamedItem | None = None  # where own words lead to `chosen`: what the English name alone leads to


def normal_form(surface: str, language: str, catalog: Catalog) -> str:
    """The normal form of the surface among names of its own language."""
    return normalise([surface], fold_of(catalog.language(language).label_languages[0]))[0]


def chosen_kinds(catalog: Catalog, topic: str, kind: str | None) -> list[str]:
    """The given kind, or every counted kind of the topic. Raises `CatalogError` with the nearest name."""
    kinds = catalog.topic(topic).kinds
    linked = [name for name, it in kinds.items() if it.roots]
    if kind is None:
        return [name for name in linked if kinds[name].counted]
    if kind not in kinds:
        raise CatalogError(f"{topic} has no kind {kind!r}", remedy=did_you_mean(kind, linked))
    if kind not in linked:
        raise CatalogError(
            f"{kind!r} of {topic} is a kind that is never linked", remedy=f"Linked: {', '.join(linked)}."
        )
    return [kind]


def explain(
    linker: Linker,
    surface: str,
    language: str,
    topic: str,
    kind: str | None = None,
    *,
    name: str | None = None,
    english: str | None = None,
    rivals: int = 5,
) -> list[Explanation]:
    """The explanation of a surface for `kind`, or for each counted kind of the topic, with at most `rivals` rivals.

    `name` and `english` are its dictionary form and English name, where an extractor says them.

    Raises `CatalogError` for an unknown language, topic or kind, with the nearest name, and what the source raises.
    """
    chain = list(linker.catalog.language(language).label_languages)
    kinds = chosen_kinds(linker.catalog, topic, kind)
    rows = [dict(zip(QUERY_COLUMNS, (language, topic, kind, surface, name, english), strict=True)) for kind in kinds]
    queries = pa.Table.from_pylist(rows, schema=pa.schema([(column, pa.string()) for column in QUERY_COLUMNS]))
    near: Sequence[NearMiss] = ()
    with linker.opened(queries) as connection:
        tables = {table: _dicts(connection, rows_of(table)) for table in _SHOWN}
        items = _items(connection, _mentioned(tables), chain)
        if not tables["candidates"]:
            (near,) = near_misses(connection, linker.catalog, [(language, topic, surface)]).values()
    by_kind = {link["kind"]: link for link in tables["links"]}
    return [_explanation(by_kind[kind], tables, items, rivals, near) for kind in kinds]


def _dicts(connection: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    found = connection.execute(query)  # a relation would plan the query twice, which takes longer than to run it
    columns = [column for column, *_ in found.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]


def _explanation(
    link: Mapping[str, Any],
    tables: Mapping[str, list[dict[str, Any]]],
    items: Mapping[str, NamedItem],
    most: int,
    near: Sequence[NearMiss],
) -> Explanation:
    ranked = [_ranked(row, items) for row in tables["candidates"] if row["query"] == link["query"]]
    chosen = next((candidate for candidate in ranked if candidate.item.qid == link["qid"]), None)
    countries = [row for row in tables["entity_countries"] if row["qid"] == link["qid"]]
    return Explanation(
        kind=link["kind"],
        status=link["status"],
        candidates=link["candidates"],
        survivors=link["survivors"],
        chosen=chosen,
        countries=tuple(_country(row, items) for row in countries),
        rivals=tuple([candidate for candidate in ranked if candidate is not chosen][:most]),
        near_misses=tuple(near[:most]),
        english_item=items[link["english_qid"]] if link["english_qid"] else None,
    )


def _ranked(row: Mapping[str, Any], items: Mapping[str, NamedItem]) -> RankedCandidate:
    path = tuple(items[qid] for qid in row["path"] or ())
    columns = {field.name: row[field.name] for field in fields(RankedCandidate) if field.name not in ("item", "path")}
    return RankedCandidate(item=items[row["qid"]], path=path, **columns)


def _country(row: Mapping[str, Any], items: Mapping[str, NamedItem]) -> CountryEvidence:
    names = property_names()
    name = " of ".join(names.get(code, code) for code in reversed(row["property"].split("/")))
    heirs = tuple(row["successors"] or ())
    return CountryEvidence(items[row["country_qid"]], row["country"], heirs, row["property"], name)


def _mentioned(tables: Mapping[str, list[dict[str, Any]]]) -> set[str]:
    """Every item that an explanation mentions."""
    candidates = {row["qid"] for row in tables["candidates"]}
    classes = {qid for row in tables["candidates"] for qid in row["path"] or ()}
    return candidates | classes | {row["country_qid"] for row in tables["entity_countries"]}


def _items(connection: duckdb.DuckDBPyConnection, qids: Iterable[str], chain: Sequence[str]) -> dict[str, NamedItem]:
    """The items by QID, with their names; also items that the source lacks."""
    wanted = sorted(map(number, qids))
    if not wanted:
        return {}
    own = [code for code in chain if code not in ENGLISH]
    connection.from_arrow(pa.table({"item": pa.array(wanted, pa.uint32())})).create_view("wanted")
    rows = connection.execute(statement("show_items"), {"english": ENGLISH, "chain": own}).fetchall()
    return {f"Q{item}": NamedItem(f"Q{item}", *names) for item, *names in rows}


@cache
def property_names() -> dict[str, str]:
    """Property names by code: P495 is 'country of origin'."""
    return tomllib.loads(Path(__file__).with_name("properties.toml").read_text(encoding="utf-8"))
