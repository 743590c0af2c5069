"""Which items belong to a topic's kind: instance-of once, then subclass-of only, up to one of the kind's roots.

Any path over P31, P279 and P361 in any order reaches nearly everything from nearly everywhere, and tells nothing. A
way starts at the item as an instance (P31) or as a class itself (a kind may want one of the two only), climbs P279
(and P361 only where the topic asks for it), crosses no stop class, and has at most the topic's `max_distance` edges.
Of some classes Wikidata says by P31 what they are: bread is a type of food, the yacht a ship type. A kind's `types`
are such classes of classes; what is an instance of one, or of a class below it, is as good as a root, unless it stands
directly below a stop: the starship is a ship type, and a spacecraft.
The classes below the roots are found breadth first for all kinds at once, so that cycles do no harm and every way is
a shortest one; of equally short ways the one with the smallest item number is kept. A kind of persons may name
occupations: whoever has others (P106), and none of these or below them, is no member. What is an instance of pages of
Wikimedia's alone (a disambiguation page, a list) is nothing that a text could mean.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog, Kind, Topic
from polyculture.link.entity_json import number
from polyculture.link.statements import statement

_PAGE_LEVELS = 3  # of classes of pages, one below the other


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """The rules by which an item belongs to a kind."""

    roots: tuple[int, ...]
    stops: tuple[int, ...]
    members: str
    part_of: bool
    max_distance: int
    occupations: tuple[int, ...] = ()
    types: tuple[int, ...] = ()

    @property
    def trade(self) -> Scope | None:
        """The scope of what its persons must do."""
        return Scope(self.occupations, (), "classes", False, self.max_distance) if self.occupations else None


def scope_of(topic: Topic, kind: Kind) -> Scope:
    """The scope of a topic's kind."""
    roots, stops, occupations, types = (
        tuple(sorted({number(qid) for qid in qids})) for qids in (kind.roots, kind.stops, kind.occupations, kind.types)
    )
    return Scope(roots, stops, kind.members, topic.part_of, topic.max_distance, occupations, types)


@cache
def pages() -> Scope:
    """The classes of Wikimedia's pages, of `pages.toml`."""
    named = tomllib.loads(Path(__file__).with_name("pages.toml").read_text(encoding="utf-8"))["classes"]
    return Scope(tuple(sorted(map(number, named))), (), "classes", False, _PAGE_LEVELS)


class Ontology:
    """The scopes of some topics' counted kinds, laid out as tables over the claims in `wikidata`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, catalog: Catalog, topics: Iterable[str]) -> None:
        kinds = {
            (topic.code, name): scope_of(topic, kind)
            for topic in map(catalog.topic, topics)
            for name, kind in topic.kinds.items()
            if kind.roots
        }
        self._connection = connection
        trades = {scope.trade for scope in kinds.values() if scope.trade}
        self._scopes = sorted({*kinds.values(), *trades, pages()})
        self.scopes: Mapping[tuple[str, str], int] = {key: self._scopes.index(scope) for key, scope in kinds.items()}
        self._lay_out()

    def climb(self) -> None:
        """Fills the table `classes`: every class below a root or of one of the types, with its way up."""
        self._connection.execute("DELETE FROM classes; DELETE FROM metaclasses")
        self._connection.execute(statement("ontology_roots"))
        steps = statement("ontology_step"), statement("ontology_types_step")
        for distance in range(max((scope.max_distance for scope in self._scopes), default=0)):
            rows = [self._connection.execute(step, {"distance": distance}).fetchone() for step in steps]
            if rows == [(0,), (0,)]:
                break
        self._connection.execute(statement("ontology_pages"))

    def reach(self, wanted: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """The items of `wanted` (a relation with a column `item`) that reach a scope: scope, item, distance, path."""
        wanted.create_view("wanted", replace=True)
        return self._connection.sql(statement("ontology_items"))

    def members(self, wanted: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """The items of `wanted` that reach a scope, without their ways: scope, item."""
        wanted.create_view("wanted", replace=True)
        return self._connection.sql(statement("ontology_members"))

    def _lay_out(self) -> None:
        self._connection.execute(statement("ontology"))
        rules = [
            (index, scope.members, scope.part_of, scope.max_distance, occupation, scope == pages())
            for index, scope in enumerate(self._scopes)
            for occupation in [self._scopes.index(scope.trade) if scope.trade else None]
        ]
        names = ("scope", "members", "part_of", "max_distance", "occupation", "pages")
        columns = {name: list(column) for name, column in zip(names, zip(*rules, strict=True), strict=True)}
        self._insert("scopes", columns)
        for table in ("roots", "stops", "types"):
            pairs = [(index, item) for index, scope in enumerate(self._scopes) for item in getattr(scope, table)]
            self._insert(table, {"scope": [scope for scope, _ in pairs], "item": [item for _, item in pairs]})

    def _insert(self, table: str, columns: Mapping[str, list[Any]]) -> None:
        if any(columns.values()):
            self._connection.from_arrow(pa.table(columns)).insert_into(table)
