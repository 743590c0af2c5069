"""Which items belong to a topic's kind: instance-of once, then subclass-of only, up to one of the kind's roots.

Arbitrary paths over P31, P279 and P361 connect nearly all items, and are no evidence. A path here starts at the item as
an instance (P31) or as a class (a kind may allow only one of the two), follows P279 (and P361 where the topic allows
it), crosses no stop class, and has at most the topic's `max_distance` edges.

Some classes are instances of metaclasses: bread is a type of food, the yacht a ship type. A kind's `types` are such
metaclasses. Their instances, and those of their subclasses, count as roots, except directly below a stop: the starship
is a ship type, and a spacecraft.

The classes below all roots are read level by level into one graph, never the whole of Wikidata, from a snapshot's
claims or, for a pull, from a SPARQL endpoint. Each scope is searched breadth first: cycles are harmless, every path is
a shortest one, and of equally short paths the one with the smallest item number is kept. A kind of persons may name
occupations: persons whose occupations (P106) are all others are no members. Items that are instances of Wikimedia pages
only (disambiguation pages, lists) are no candidates.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

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
        return _rules(self)


@cache  # a command looks some twenty times whether a snapshot keeps the members of some fifty scopes
def _rules(scope: Scope) -> str:
    return content_id(_RULES, astuple(scope), astuple(pages()))


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

    def load(code: str, classes: Sequence[int]) -> list[tuple[int, int]]:
        return connection.execute(_CLAIMS, {"code": code, "classes": classes}).fetchall()

    wanted = sorted(set(scopes))
    places = {scope: numbers[scope.rules] for scope in wanted}
    hidden = sorted({scope.occupation_scope for scope in wanted if scope.occupation_scope} - places.keys())
    places |= {scope: -2 - place for place, scope in enumerate(hidden)}  # no kind's: below zero, as the pages' -1
    every = [*places, pages()]
    places.setdefault(pages(), -1)
    rows = [
        {"scope": places[scope], "item": item, "distance": len(path) - 1, "path": path}
        for scope, paths in class_paths(load, every).items()
        for item, path in paths.items()
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
_CLAIMS = """
    SELECT item, target FROM wikidata.claims
    WHERE property = $code AND target IN (SELECT unnest($classes::UINTEGER[]))
"""

# From a property and some items, the claims of this property that name one of them: (item, the one that it names).
EdgeLoader = Callable[[str, Sequence[int]], Iterable[tuple[int, int]]]
_Paths = dict[int, tuple[int, ...]]  # from each item to a root or type, both included


def class_paths(load: EdgeLoader, scopes: Iterable[Scope]) -> dict[Scope, _Paths]:
    """The classes of each scope, with the shortest path of each to a root or type.

    All scopes are searched together, a level at a time, so that each claim is loaded once, in few calls.
    """
    import networkx as nx  # here: a snapshot keeps what reaches the built-in topics, and linking with it needs none

    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    loaded: set[tuple[str, int]] = set()

    def add(code: str, classes: set[int]) -> None:
        if new := sorted(each for each in classes if (code, each) not in loaded):
            loaded.update((code, each) for each in new)
            for item, target in load(code, new):
                graph.add_edge(item, target, key=code)

    every = list(scopes)
    add("P279", {stop for scope in every if scope.types for stop in scope.stops})
    paths = {scope: _beginnings(scope) for scope in every}
    levels = dict(paths)
    for distance in range(max((scope.max_distance for scope in every), default=0)):
        climbing = [scope for scope in every if distance < scope.max_distance]
        for code in ("P279", "P361", "P31"):
            add(code, {abs(node) for scope in climbing for node in levels[scope] if code in _codes(scope, node)})
        for scope in climbing:
            levels[scope] = _next_level(graph, scope, levels[scope], paths[scope])
            paths[scope] |= levels[scope]
    return {scope: {item: path for item, path in found.items() if item > 0} for scope, found in paths.items()}


# A metaclass is a node of its own, the negative number: what is an instance of it is a class, what is a subclass of it
# is another metaclass.
def _beginnings(scope: Scope) -> _Paths:
    nodes = {*scope.roots, *(-each for each in scope.types)}
    return {node: (abs(node),) for node in nodes if abs(node) not in scope.stops}


def _codes(scope: Scope, node: int) -> tuple[str, ...]:
    """The properties by which items stand below a node."""
    if node < 0:
        return ("P279", "P31")
    return ("P279", "P361") if scope.part_of else ("P279",)


def _next_level(graph: nx.MultiDiGraph[int], scope: Scope, level: _Paths, known: _Paths) -> _Paths:
    stops, types = set(scope.stops), set(scope.types)
    under = graph.in_edges(stops & graph.nodes, keys=True) if types else ()
    below_stops = {item for item, _, code in under if code == "P279"}
    found: _Paths = {}
    for node, path in level.items():
        for item, _, code in graph.in_edges(abs(node), keys=True) if abs(node) in graph else ():
            below = -item if node < 0 and code == "P279" else item
            outside = below in known or item in stops or below in types
            if outside or code not in _codes(scope, node) or (code == "P31" and item in below_stops):
                continue
            found[below] = min(found.get(below, path), path)
    return {below: (abs(below), *path) for below, path in found.items()}
