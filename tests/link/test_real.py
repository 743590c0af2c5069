"""Linking on real Wikidata items: skipped where the real data is not beside the checkout."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa
import pytest

from polyculture.link.api.client import ApiSettings
from polyculture.link.api.fill import FillReport, fill_snapshot
from polyculture.link.api.names import NamedMention
from polyculture.link.api.sparql import SparqlSettings
from polyculture.link.audit.audit import judge
from polyculture.link.audit.gold import HARD_CASES, read_gold_mentions
from polyculture.link.dumps.build import build_index
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.linker import Linker
from polyculture.link.ontology import open_members
from tests.link_world import CATALOG, LANGUAGES, Entity, write_dump
from tests.sparql_server import SparqlServer
from tests.wikidata_server import WikidataServer

pytestmark = pytest.mark.slow


def test_the_slice_is_whole(slice_index: Snapshot) -> None:
    meta = slice_index.meta
    assert (meta["counts"]["items"], meta["broken"], meta["skipped"]) == (193_325, 0, 0)


def test_the_book_topic_accepts_few_of_the_slice(slice_index: Snapshot) -> None:
    """Any path over P31, P279 and P361 accepts 177,609 of these 193,325 items as books."""
    with duckdb.connect() as connection, slice_index.opened(connection):
        scopes = open_members(connection, CATALOG, ["book"], {})
        rows = connection.execute("SELECT scope, item FROM members").fetchall()
    titles = [item for scope, item in rows if scope == scopes["book", "title"]]
    assert 1_000 < len(titles) <= 8_200


def test_a_fill_gives_the_links_of_a_build(slice_index: Snapshot, shared_data: Path, tmp_path: Path) -> None:
    rows = _sample(slice_index, 120)
    entities = _bearers(slice_index, rows["surface"].to_pylist(), shared_data / "wikidata" / "slice.json.gz")
    built = build_index(write_dump(tmp_path / "d.json", entities), tmp_path / "i.duckdb", LANGUAGES).snapshot
    names = [NamedMention(row["language"], row["surface"]) for row in rows.to_pylist()]
    with SparqlServer(entities) as server:
        filled = fill(server, names, tmp_path / "filled.duckdb").snapshot
        asked = len(server.queries), len(server.items.requests)
        again = fill(server, names, tmp_path / "filled.duckdb")
        assert (again.queries, again.requests) == (0, 0)
        assert (len(server.queries), len(server.items.requests)) == asked
    by_build, by_fill = (Linker(CATALOG, source).link(rows)["links"].to_pylist() for source in (built, filled))
    linked = [
        (one["qid"], other["qid"]) for one, other in zip(by_build, by_fill, strict=True) if one["status"] == "linked"
    ]
    assert len(linked) > 50
    assert [one for one, _ in linked] == [other for _, other in linked]


@pytest.fixture(scope="module")
def whole_slice(shared_data: Path) -> Iterator[SparqlServer]:
    """Both services over all of the slice."""
    entities = Lines(shared_data / "wikidata" / "slice.json.gz")
    items = WikidataServer([])
    items.entities = entities
    with SparqlServer(entities.values(), items=items) as server:
        yield server


def test_a_fill_from_the_whole_slice_asks_little_and_links_as_the_slice_does(
    slice_index: Snapshot, whole_slice: SparqlServer, tmp_path: Path
) -> None:
    """Our hard cases with the extractor's forms. One search a name took 1,187 requests for as many right links."""
    gold = [
        one for one in read_gold_mentions(HARD_CASES, CATALOG, ["confirmed"]) if "invented" not in one.other.values()
    ]
    names = [NamedMention(one.language, one.mention, one.name, one.english) for one in gold]
    report = fill(whole_slice, names, tmp_path / "filled.duckdb")
    assert report.queries + report.requests < len(set(names)) / 8
    right, linked = ([0, 0], [0, 0])
    for place, source in enumerate((slice_index, report.snapshot)):
        for verdict in judge(gold, CATALOG, source):
            linked[place] += verdict.status == "linked"
            right[place] += verdict.status == "linked" and verdict.right and not verdict.nil
    assert right[1] >= 0.95 * right[0]
    assert right[1] / linked[1] >= right[0] / linked[0] - 0.005


class Lines(Mapping[str, Entity]):
    """The items of a dump by QID, each parsed when it is asked for: parsed at once they would fill the memory."""

    def __init__(self, dump: Path) -> None:
        with gzip.open(dump, "rb") as lines:
            stripped = (line.strip().rstrip(b",") for line in lines)
            self._lines = {orjson.loads(line)["id"]: line for line in stripped if line.startswith(b"{")}

    def __getitem__(self, qid: str) -> Entity:
        entity: Entity = orjson.loads(self._lines[qid])
        return entity

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def fill(server: SparqlServer, names: list[NamedMention], out: Path) -> FillReport:
    endpoint = SparqlSettings("test@example.org", server.url, requests_per_minute=1_000_000)
    service = ApiSettings("test@example.org", server.items.url, requests_per_minute=1_000_000)
    return fill_snapshot(CATALOG, names, out, endpoint, service)


def _bearers(index: Snapshot, names: list[str], file: Path) -> list[Entity]:
    """The items of the slice with one of the names, and all that they and these refer to."""
    query = """
        WITH RECURSIVE needed AS (
            SELECT item FROM names WHERE name IN (SELECT unnest($names))
            UNION
            SELECT claims.target FROM needed JOIN claims USING (item)
        )
        SELECT item FROM needed
    """
    with duckdb.connect(str(index.path), read_only=True) as connection:
        needed = {f"Q{item}" for (item,) in connection.execute(query, {"names": names}).fetchall()}
    entities = Lines(file)
    return [entities[qid] for qid in sorted(needed & entities.keys())]


def _sample(index: Snapshot, count: int) -> pa.Table:
    """Queries for names of the slice: half from anywhere, half from near a topic; each in several kinds."""
    query = """
        SELECT language, name FROM (SELECT DISTINCT language, name FROM names WHERE language IN (SELECT unnest($codes)))
        ORDER BY hash(language || name) LIMIT $count
    """
    near = query.replace(
        "WHERE ", "WHERE item IN (SELECT item FROM claims WHERE target IN (746549, 40050, 7725634, 188451, 7366)) AND "
    )
    names: list[Any] = []
    with duckdb.connect(str(index.path), read_only=True) as connection:
        for text in (query, near):
            names += connection.execute(text, {"codes": list(CATALOG.languages), "count": count // 2}).fetchall()
    kinds = [("food", "dish"), ("beverage", "drink"), ("book", "title"), ("music", "song"), ("music", "genre")]
    return pa.Table.from_pylist(
        [
            {"language": language, "topic": topic, "kind": kind, "surface": name}
            for language, name in names
            for topic, kind in kinds
        ]
    )
