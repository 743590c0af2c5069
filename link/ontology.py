"""Which items belong to a topic's kind: instance-of once, then subclass-of only, up to one of the kind's roots.

Arbitrary paths over P31, P279 and P361 connect nearly all items, and are no evidence. A path here starts at the item as
an instance (P31) or as a class (a kind may allow only one of the two), follows P279 (and P361 where the topic allows
it), crosses no stop class, and has at most the topic's `max_distance` edges.

Some classes are instances of metaclasses: bread is a type of food, the yacht a ship type. A kind's `types` are such
metaclasses. Their instances, and those of their subclasses, count as roots, except directly below a stop: the starship
is a ship type, and a spacecraft.

The classes below all roots are read from the claims level by level into one graph, never the whole of Wikidata, and
each scope is searched breadth first: cycles are harmless, every path is a shortest one, and of equally short paths the
one with the smallest item number is kept. A kind of persons may name occupations: persons whose occupations (P106) are
all others are no members. Items that are instances of Wikimedia pages only (disambiguation pages, lists) are no
candidates.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog, Kind, Topic
from polyculture.cache.identity import content_id
from polyculture.link.qid import number
from polyculture.link.statements import statement

if TYPE_CHECKING:
    import networkx as nx

_PAGE_LEVELS = 3  # levels of subclasses of Wikimedia pages
_RULES = 2  # raise when the same claims may give other members


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

    @property
    def rules(self) -> str:
        """A hash of all that decides which items of a snapshot reach the scope."""
        return content_id(_RULES, astuple(self), astuple(pages()))


def scope_of(topic: Topic, kind: Kind) -> Scope:
    """The scope of a topic's kind."""
    roots, stops, occupations, types = (
        tuple(sorted({number(qid) for qid in qids})) for qids in (kind.roots, kind.stops, kind.occupations, kind.types)
    )
    return Scope(roots, stops, kind.members, topic.part_of, topic.max_distance, occupations, types)


def scopes_of(catalog: Catalog, topics: Iterable[str]) -> dict[tuple[str, str], Scope]:
    """The scope of each (topic, kind) that is linked, in the order of the topics' files."""
    return {
        (topic.code, name): scope_of(topic, kind)
        for topic in map(catalog.topic, topics)
        for name, kind in topic.kinds.items()
        if kind.roots
    }


@cache
def pages() -> Scope:
    """The scope of Wikimedia pages, from `pages.toml`."""
    named = tomllib.loads(Path(__file__).with_name("pages.toml").read_text(encoding="utf-8"))["classes"]
    return Scope(tuple(sorted(map(number, named))), (), "classes", False, _PAGE_LEVELS)


def open_members(
    connection: duckdb.DuckDBPyConnection, catalog: Catalog, topics: Iterable[str], kept: Mapping[str, int]
) -> dict[tuple[str, str], int]:
    """Creates `members` (`sql/members.sql`) of the topics' kinds; returns the scope's number of each (topic, kind).

    `kept` are the numbers, by `Scope.rules`, of the scopes whose members the snapshot in `wikidata` keeps. The members
    of others, those of a user's own topics, are found here.
    """
    scopes = scopes_of(catalog, topics)
    new = sorted({scope for scope in scopes.values() if scope.rules not in kept})
    first = max(kept.values(), default=-1) + 1
    numbers = dict(kept) | {scope.rules: first + place for place, scope in enumerate(new)}
    if not new:
        connection.execute("CREATE VIEW members AS FROM wikidata.members")
    else:
        create_members(connection, new, numbers)
        old = {"kept": sorted({kept[scope.rules] for scope in scopes.values() if scope.rules in kept})}
        if old["kept"]:
            connection.execute("INSERT INTO members FROM wikidata.members WHERE list_contains($kept, scope)", old)
    return {key: numbers[scope.rules] for key, scope in scopes.items()}


def create_members(connection: duckdb.DuckDBPyConnection, scopes: Iterable[Scope], numbers: Mapping[str, int]) -> None:
    """Creates the tables `members` and `pages` (`sql/members.sql`) from the claims in `wikidata`."""
    wanted = sorted(set(scopes))
    places = {scope: numbers[scope.rules] for scope in wanted}
    hidden = sorted({scope.occupation_scope for scope in wanted if scope.occupation_scope} - places.keys())
    places |= {scope: -2 - place for place, scope in enumerate(hidden)}  # no kind's: below zero, as the pages' -1
    every = [*places, pages()]
    places.setdefault(pages(), -1)
    graph, stopped = _graph(connection, every)
    rows = [
        {"scope": places[scope], "item": item, "distance": len(path) - 1, "path": path}
        for scope in every
        for item, path in _class_paths(graph, scope, stopped).items()
    ]
    rules = [
        {
            "scope": place,
            "members": scope.members,
            "max_distance": scope.max_distance,
            "occupation": places[scope.occupation_scope] if scope.occupation_scope else None,
        }
        for scope, place in places.items()
    ]
    connection.from_arrow(pa.Table.from_pylist(rows, schema=pa.schema(_CLASSES))).create("classes")
    connection.from_arrow(pa.Table.from_pylist(rules, schema=pa.schema(_SCOPES))).create("scopes")
    connection.execute(statement("members"))
    connection.execute("DROP TABLE classes; DROP TABLE scopes")


_CLASSES: dict[str, pa.DataType] = {
    "scope": pa.int16(),
    "item": pa.uint32(),
    "distance": pa.uint8(),
    "path": pa.list_(pa.uint32()),
}
_SCOPES: dict[str, pa.DataType] = {
    "scope": pa.int16(),
    "members": pa.string(),
    "max_distance": pa.int32(),
    "occupation": pa.int16(),
}
_STEPS = """
    SELECT item, target, property FROM wikidata.claims
    WHERE property IN (SELECT unnest($codes::VARCHAR[])) AND target IN (SELECT unnest($classes::UINTEGER[]))
"""


def _graph(
    connection: duckdb.DuckDBPyConnection, scopes: Iterable[Scope]
) -> tuple[nx.MultiDiGraph[int], Mapping[int, set[int]]]:
    """The claims by which classes reach the scopes' roots and types, and the classes directly below each stop."""
    import networkx as nx  # here: a snapshot keeps what reaches the built-in topics, and linking with it needs none

    every = list(scopes)
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    codes = ["P279", "P361"] if any(scope.part_of for scope in every) else ["P279"]

    def load(classes: set[int], codes: list[str]) -> list[tuple[int, int, str]]:
        params: dict[str, Any] = {"codes": codes, "classes": sorted(classes)}
        return connection.execute(_STEPS, params).fetchall() if classes else []

    level, metaclasses = {root for scope in every for root in scope.roots}, {t for scope in every for t in scope.types}
    seen, seen_types = set(level), set(metaclasses)
    for _ in range(max((scope.max_distance for scope in every), default=0)):
        above = load(metaclasses, ["P279"])
        steps = [*load(level, codes), *above, *load(metaclasses, ["P31"])]
        for item, target, code in steps:
            graph.add_edge(item, target, key=code)
        metaclasses = {item for item, _, _ in above} - seen_types
        level = {item for item, _, _ in steps} - seen
        seen, seen_types = seen | level, seen_types | metaclasses
    stopped: dict[int, set[int]] = {}
    for item, stop, _ in load({stop for scope in every if scope.types for stop in scope.stops}, ["P279"]):
        stopped.setdefault(stop, set()).add(item)
    return graph, stopped


def _class_paths(
    graph: nx.MultiDiGraph[int], scope: Scope, stopped: Mapping[int, set[int]]
) -> dict[int, tuple[int, ...]]:
    """The shortest path of each class to a root or type of the scope, both included.

    A metaclass is a node of its own, the negative number: what is an instance of it is a class, what is a subclass
    of it is another metaclass.
    """
    stops, types = set(scope.stops), set(scope.types)
    below_stops = set[int]().union(*(stopped.get(stop, ()) for stop in stops))
    codes = {"P279", "P361"} if scope.part_of else {"P279"}

    def below(node: int) -> Iterable[int]:
        for item, _, code in graph.in_edges(abs(node), keys=True) if abs(node) in graph else ():
            if node > 0 and code in codes:
                yield item
            elif node < 0 and code == "P279":
                yield -item
            elif node < 0 and code == "P31" and item not in below_stops:
                yield item

    level: dict[int, tuple[int, ...]]
    level = {node: (abs(node),) for node in {*scope.roots, *(-each for each in types)} if abs(node) not in stops}
    paths = dict(level)
    for _ in range(scope.max_distance):
        found: dict[int, tuple[int, ...]] = {}
        for node, path in level.items():
            for item in below(node):
                if item not in paths and abs(item) not in stops and item not in types:
                    found[item] = min(found.get(item, path), path)
        level = {item: (abs(item), *path) for item, path in found.items()}
        paths |= level
    return {item: path for item, path in paths.items() if item > 0}
