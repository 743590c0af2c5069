"""Which items belong to a topic's kind: instance-of once, then subclass-of only, up to one of the kind's roots.

Arbitrary paths over P31, P279 and P361 connect nearly all items, and are no evidence. A path here starts at the item as
an instance (P31) or as a class (a kind may allow only one of the two), follows P279 (and P361 where the topic allows
it), crosses no stop class, and has at most the topic's `max_distance` edges.

Some classes are instances of metaclasses: bread is a type of food, the yacht a ship type. A kind's `types` are such
metaclasses. Their instances, and those of their subclasses, count as roots, except directly below a stop: the starship
is a ship type, and a spacecraft.

The classes below the roots are found breadth first for all kinds at once, so that cycles are harmless and every path is
a shortest one; of equally short paths the one with the smallest item number is kept. A kind of persons may name
occupations: persons whose occupations (P106) are all others are no members. Items that are instances of Wikimedia pages
only (disambiguation pages, lists) are no candidates.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog, Kind, Topic
from polyculture.cache.identity import content_id
from polyculture.link.entity_json import number
from polyculture.link.statements import statement

_PAGE_LEVELS = 3  # levels of subclasses of Wikimedia pages
_STATEMENTS = ("ontology", "ontology_roots", "ontology_step", "ontology_types_step", "ontology_pages", "members")


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """The rules that decide whether an item belongs to a kind."""

    roots: tuple[int, ...]
    stops: tuple[int, ...]
    members: str
    part_of: bool
    max_distance: int
    occupations: tuple[int, ...] = ()
    types: tuple[int, ...] = ()

    @property
    def occupation_scope(self) -> Scope | None:
        """The scope of the occupations that its persons must have, if any."""
        return Scope(self.occupations, (), "classes", False, self.max_distance) if self.occupations else None


def scope_of(topic: Topic, kind: Kind) -> Scope:
    """The scope of a topic's kind."""
    roots, stops, occupations, types = (
        tuple(sorted({number(qid) for qid in qids})) for qids in (kind.roots, kind.stops, kind.occupations, kind.types)
    )
    return Scope(roots, stops, kind.members, topic.part_of, topic.max_distance, occupations, types)


@cache
def pages() -> Scope:
    """The scope of Wikimedia pages, from `pages.toml`."""
    named = tomllib.loads(Path(__file__).with_name("pages.toml").read_text(encoding="utf-8"))["classes"]
    return Scope(tuple(sorted(map(number, named))), (), "classes", False, _PAGE_LEVELS)


def rules_id(scope: Scope) -> str:
    """A hash of all that decides which classes and items of a snapshot reach a scope."""
    return content_id(astuple(scope), _common_rules())


@cache
def _common_rules() -> str:
    return content_id(astuple(pages()), [statement(name) for name in _STATEMENTS])


class Ontology:
    """The scopes of some topics' linked kinds, as tables over the claims in `wikidata`.

    `kept` are the scopes of which a snapshot keeps what reaches them: its number of each by `rules_id`. Where all
    scopes are among them nothing is climbed: the tables are read from `wikidata`.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        catalog: Catalog,
        topics: Iterable[str],
        kept: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        kinds = {
            (topic.code, name): scope_of(topic, kind)
            for topic in map(catalog.topic, topics)
            for name, kind in topic.kinds.items()
            if kind.roots
        }
        self._connection = connection
        occupation_scopes = {scope.occupation_scope for scope in kinds.values() if scope.occupation_scope}
        self._scopes = sorted({*kinds.values(), *occupation_scopes, pages()})
        self.scopes: Mapping[tuple[str, str], int] = {key: self._scopes.index(scope) for key, scope in kinds.items()}
        self._create_tables()
        numbers = [kept.get(rules_id(scope)) if kept else None for scope in self._scopes]
        self._kept = None not in numbers
        if self._kept:
            self._insert("kept_scopes", {"scope": list(range(len(numbers))), "number": numbers})

    @property
    def numbers(self) -> Mapping[str, int]:
        """The number of each scope by `rules_id`."""
        return {rules_id(scope): number for number, scope in enumerate(self._scopes)}

    def expand_classes(self) -> None:
        """Fills the table `classes`: every class below a root or instance of a type, with its path to the root."""
        self._connection.execute("DELETE FROM classes; DELETE FROM metaclasses")
        if self._kept:
            self._connection.execute(statement("kept_classes"))
            return
        self._connection.execute(statement("ontology_roots"))
        steps = statement("ontology_step"), statement("ontology_types_step")
        for distance in range(max((scope.max_distance for scope in self._scopes), default=0)):
            rows = [self._connection.execute(step, {"distance": distance}).fetchone() for step in steps]
            if rows == [(0,), (0,)]:
                break
        self._connection.execute(statement("ontology_pages"))

    def find_members(self) -> None:
        """Creates the table `members`: every item that reaches a scope."""
        self._connection.execute(statement("kept_members") if self._kept else statement("members"))

    def reach(self, wanted: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """The items of `wanted` (a relation with a column `item`) that reach a scope: scope, item, distance, path."""
        wanted.create_view("wanted", replace=True)
        return self._connection.sql(statement("ontology_items"))

    def _create_tables(self) -> None:
        self._connection.execute(statement("ontology"))
        rules = [
            (index, scope.members, scope.part_of, scope.max_distance, occupation, scope == pages())
            for index, scope in enumerate(self._scopes)
            for occupation in [self._scopes.index(scope.occupation_scope) if scope.occupation_scope else None]
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
