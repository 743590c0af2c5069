"""Which items belong to a kind, with a brute-force search over all paths as the oracle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal

import duckdb
import networkx as nx
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.cache.catalog import Catalog, Kind, Topic
from polyculture.link.index.tables import PLAIN
from polyculture.link.ontology import open_members, scopes_of
from tests.link_world import CATALOG

Claim = tuple[int, str, int]
Members = Literal["any", "instances", "classes"]


def topic(
    roots: set[int], stops: set[int], members: Members, part_of: bool, max_distance: int, types: Iterable[int] = ()
) -> Topic:
    kind = Kind(
        granularity=1,
        description="",
        roots=tuple(f"Q{root}" for root in roots),
        stops=tuple(f"Q{stop}" for stop in stops),
        types=tuple(f"Q{each}" for each in types),
        members=members,
    )
    return Topic(code="t", name="t", part_of=part_of, max_distance=max_distance, kinds={"k": kind})


def reached(claims: list[Claim], *topics: Topic) -> dict[tuple[int, int], tuple[int, list[int]]]:
    """(scope, item) -> distance and path, for every item in the claims."""
    catalog = Catalog(topics={t.code: t for t in topics}, languages={}, countries=CATALOG.countries)
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA wikidata")
        for name in ("items", "claims"):
            connection.from_arrow(PLAIN[name].empty_table()).create(f"wikidata.{name}")
        columns = list(zip(*claims, strict=True)) or [(), (), ()]
        columns.append([None] * len(claims))
        types = (pa.uint32(), pa.string(), pa.uint32(), pa.int16())
        arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
        connection.from_arrow(pa.Table.from_arrays(arrays, names=["item", "property", "target", "ended"])).insert_into(
            "wikidata.claims"
        )
        items = sorted({end for item, _, target in claims for end in (item, target)} | set(range(1, 10)))
        known = {"item": pa.array(items, pa.uint32()), "sitelinks": pa.array([0] * len(items), pa.uint32())}
        connection.from_arrow(pa.table({**known, "revision": pa.nulls(len(items), pa.uint64())})).insert_into(
            "wikidata.items"
        )
        open_members(connection, catalog, [t.code for t in topics], {})
        rows = connection.sql("SELECT scope, item, distance, root, path FROM members").fetchall()
        assert all(root == (path or [item])[-1] for _, item, _, root, path in rows)
        return {(scope, item): (distance, path) for scope, item, distance, _, path in rows}


def ways(claims: list[Claim], item: int, t: Topic) -> Iterator[list[int]]:
    """Every allowed path from an item to a root or a type, without the item: the rule, step by step.

    A class of classes is a node of its own, the negative number.
    """
    kind = t.kinds["k"]
    roots, stops, types = ({int(qid[1:]) for qid in qids} for qids in (kind.roots, kind.stops, kind.types))
    ends = (roots | {-each for each in types}) - stops
    up: nx.DiGraph[int] = nx.DiGraph()
    up.add_nodes_from([item, *ends])
    up.add_edges_from((a, b) for a, code, b in claims if code == "P279" or (code == "P361" and t.part_of))
    up.add_edges_from((-a, -b) for a, code, b in claims if code == "P279")
    stopped = {a for a, code, b in claims if code == "P279" and b in stops}
    up.add_edges_from((a, -b) for a, code, b in claims if code == "P31" and a not in stopped)
    up.remove_nodes_from(stops - {item} | {-stop for stop in stops})
    up.remove_edges_from([(a, b) for a, b in up.edges if b in types - roots])
    starts = {b for a, code, b in claims if a == item and code == "P31"} if kind.members != "classes" else set()
    for end in ends & set(up):
        for start in starts - stops - (types - roots):
            if start == end:
                yield [end]
            elif start in up:
                graph = up.subgraph(set(up) - (stops & {item}))
                if start in graph:
                    yield from ([abs(step) for step in way] for way in nx.all_simple_paths(graph, start, end))
        if kind.members != "instances" and item not in stops | (types - roots):
            if item == end:
                yield []
            else:
                yield from ([abs(step) for step in way[1:]] for way in nx.all_simple_paths(up, item, end))


numbers = st.integers(1, 9)
claim = st.tuples(numbers, st.sampled_from(["P31", "P279", "P279", "P361"]), numbers)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(claim, max_size=18),
    st.sets(numbers, min_size=1, max_size=2),
    st.sets(numbers, max_size=2),
    st.sampled_from(["any", "instances", "classes"]),
    st.booleans(),
    st.integers(1, 4),
    st.sets(numbers, max_size=1),
)
def test_as_a_walk_over_every_path(
    claims: list[Claim],
    roots: set[int],
    stops: set[int],
    members: Members,
    part_of: bool,
    max_distance: int,
    types: set[int],
) -> None:
    t = topic(roots, stops - roots - types, members, part_of, max_distance, types)
    found = reached(claims, t)
    for item in range(1, 10):
        allowed = [way for way in ways(claims, item, t) if len(way) <= max_distance]
        if not allowed:
            assert (0, item) not in found
            continue
        distance, path = found[0, item]
        assert distance == len(path) == min(map(len, allowed))
        assert path == min(way for way in allowed if len(way) == distance)
        climbs = [(a, "P279", b) in claims or (part_of and (a, "P361", b) in claims) for a, b in pairwise(path)]
        assert all(climbs) if path == [] or path[-1] in roots - types else climbs.count(False) <= 1


def test_an_instance_of_a_type_is_as_good_as_a_root() -> None:
    # Chocolate mousse (11) is a subclass of mousse (10), an instance of type of dish (3), a subclass of food type (2).
    claims = [(3, "P279", 2), (10, "P31", 3), (11, "P279", 10), (12, "P31", 11), (13, "P31", 12)]
    found = reached(claims, topic({1}, set(), "classes", False, 12, types={2}))
    assert found == {(0, 1): (0, []), (0, 10): (2, [3, 2]), (0, 11): (3, [10, 3, 2])}
    assert {item for _, item in reached(claims, topic({1}, set(), "any", False, 12, types={2}))} == {1, 10, 11, 12}


def test_an_instance_of_a_type_is_no_root_directly_below_a_stop() -> None:
    # The starship (10) is a ship type (2) and a spacecraft (3), which no way may cross.
    claims = [(10, "P31", 2), (10, "P279", 3), (11, "P279", 10)]
    assert (0, 10) in reached(claims, topic({1}, set(), "classes", False, 12, types={2}))
    found = reached(claims, topic({1}, {3}, "classes", False, 12, types={2}))
    assert {item for _, item in found} == {1}


def test_what_is_a_page_alone_is_nothing_that_a_text_could_mean() -> None:
    # A list of pancake houses (10) below pancake (1); what is a list and more (11); a list of persons (12).
    a_list, a_list_of_persons = 13406463, 20
    claims = [(10, "P31", a_list), (10, "P279", 1), (11, "P31", a_list), (11, "P31", 2), (2, "P279", 1)]
    claims += [(a_list_of_persons, "P279", a_list), (12, "P31", a_list_of_persons), (12, "P279", 1)]
    found = reached(claims, topic({1}, set(), "any", False, 12))
    assert {item for scope, item in found if scope == 0} == {1, 2, 11}


def test_a_stop_is_not_crossed_though_it_may_be_reached_as_an_instance() -> None:
    # A poem is an instance of literary genre; one poem is not a genre, though poem stands below poetry, a genre.
    claims = [(10, "P31", 1), (10, "P279", 12), (12, "P279", 1), (20, "P31", 10)]
    found = reached(claims, topic({1}, {10}, "any", False, 12))
    assert {item for _, item in found} == {1, 10, 12}


def test_kinds_with_the_same_rules_share_a_scope() -> None:
    scopes = scopes_of(CATALOG, ["beverage", "food"])
    assert scopes["beverage", "drink"] == scopes["beverage", "drink_category"] != scopes["food", "dish"]
    assert ("food", "place") not in scopes
