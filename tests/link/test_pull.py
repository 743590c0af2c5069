"""A snapshot of whole topics gives the links of one from a dump, under all faults of the services it comes from."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from polyculture.cache.errors import CatalogError, SnapshotError, WikidataError
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.kept import kept_answers
from polyculture.link.api.sparql import Query, SparqlClient, SparqlSettings, items_of, name_of
from polyculture.link.dumps.build import build_index
from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.linker import TABLES, Linker
from polyculture.link.pull.pull import PullReport, pull_index
from tests.link.test_api import settings
from tests.link.test_fill import WaitingServer, fetched, kill_when_full
from tests.link_world import CATALOG, CLASSES, LANGUAGES, Entity, item, statement, write_dump
from tests.polyculture.test_command_line import one_line, polyculture
from tests.sparql_server import (
    CUT,
    FORBIDDEN,
    HTML,
    TIMED_OUT,
    TOO_MANY,
    TOO_MANY_UNTOLD,
    UNAVAILABLE,
    Fault,
    SparqlServer,
)
from tests.wikidata_server import WikidataServer

TOPICS = ["food", "beverage", "music", "book"]


def described(entity: Entity, text: str, revision: int, modified: str) -> Entity:
    texts = {"en": {"language": "en", "value": text}, "pl": {"language": "pl", "value": "opis"}}
    return {**entity, "descriptions": texts, "lastrevid": revision, "modified": modified}


def ranked(entity: Entity, code: str, *statements: dict[str, Any]) -> Entity:
    return {**entity, "claims": {**entity["claims"], code: list(statements)}}


# All that a topic needs: classes, a class that was merged, instances, creators and a merged creator, countries.
INSIDE: list[Entity] = [
    item("Q10", "soup", P279="Q746549"),
    item("Q11", {"en": "miso soup", "ja": "味噌汁", "zh": "味噌汤"}, {"en": ["misoshiru"]}, 5, P31="Q10", P495="Q17"),
    described(item("Q12", "Tango", sitelinks=4, P31="Q99"), "a drink", 77, "2026-03-01T00:00:00Z"),
    item("Q13", "Tango", sitelinks=30, P31="Q2188189", P175=["Q20", "Q98"]),
    item("Q14", "naengmyeon", {"ko": ["냉면"]}, P31=["Q10", "Q746549"], P495="Q884"),
    ranked(item("Q15", "borscht", P31="Q10"), "P495", statement("Q212"), statement("Q159", "preferred")),
    ranked(item("Q16", "goulash"), "P31", statement("Q746549"), statement("Q5", "deprecated")),
    ranked(item("Q17", "Japan"), "P17", statement("Q5", "normal", "somevalue")),
    item("Q20", "Ana", P31="Q5", P27="Q414", P106="Q177220"),
    item("Q21", "Bela", P31="Q5", P27="Q28", P106="Q101"),
    ranked(item("Q22", "Ceija", P31="Q5"), "P106", statement("Q177220", "normal", "somevalue")),
    item("Q23", "Dora", P31="Q5"),
    item("Q101", "folk singer", P279="Q177220"),
    item("Q177220", "singer"),
    item("Q36180", "writer"),
    item("Q884", "South Korea"),
]
REDIRECTS = {"Q99": "Q40050", "Q98": "Q21"}
# What no topic needs: of another class, below a stop, doing something else.
OUTSIDE: list[Entity] = [
    item("Q50", "a quiet park", P31="Q51"),
    item("Q51", "municipal park", P279="Q52"),
    item("Q53", "E number additive", P31="Q189567"),
    item("Q189567", "food additive", P279="Q2095"),
    item("Q54", "Egon the plumber", P31="Q5", P106="Q55"),
    item("Q55", "plumber"),
]
NEEDED = [{"lastrevid": 1, **entity} for entity in [*CLASSES, *INSIDE] if entity["id"] != "Q42889"]  # a vehicle
WORLD = [*NEEDED, *OUTSIDE]


def asks_of(snapshot: Path, topics: Sequence[str] = TOPICS) -> pa.Table:
    """Queries for every name of a snapshot, in its language and every kind of the topics."""
    kinds = [(topic, name) for topic in topics for name, kind in CATALOG.topics[topic].kinds.items() if kind.roots]
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        query = "SELECT DISTINCT language, name FROM names WHERE language IN (SELECT unnest($codes)) ORDER BY ALL"
        names = connection.execute(query, {"codes": list(CATALOG.languages)}).fetchall()
    return pa.Table.from_pylist(
        [
            {"language": language, "topic": topic, "kind": kind, "surface": name}
            for language, name in names
            for topic, kind in kinds
        ]
    )


def from_dump(folder: Path, entities: Sequence[Entity], redirects: dict[str, str]) -> Snapshot:
    by_id = {entity["id"]: entity for entity in entities}
    merged = [{**by_id[target], "redirects": {"from": origin, "to": target}} for origin, target in redirects.items()]
    dump = write_dump(folder / "dump.json", [*entities, *merged])
    return build_index(dump, folder / "dumped.duckdb", LANGUAGES).snapshot


class Waits(list[float]):
    """The total sleep, on a clock that nothing else advances."""

    def sleep(self, seconds: float) -> None:
        self.append(seconds)

    def clock(self) -> float:
        return sum(self)


def pull(server: SparqlServer, out: Path, waits: Waits | None = None) -> PullReport:
    pauses = Waits() if waits is None else waits
    endpoint = SparqlSettings("test@example.org", server.url, 60_000, sleep=pauses.sleep, clock=pauses.clock)
    return pull_index(CATALOG, TOPICS, out, endpoint, settings(server.items))


def content(snapshot: Path) -> dict[str, Any]:
    names = ("items", "descriptions", "names", "claims", "redirects")
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        return {name: connection.table(name).fetchall() for name in names}


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with SparqlServer(WORLD, REDIRECTS) as running:
        yield running


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> PullReport:
    """A pull of the world without trouble."""
    with SparqlServer(WORLD, REDIRECTS) as running:
        return pull(running, tmp_path_factory.mktemp("quiet") / "pulled.duckdb")


def test_the_same_links_as_from_a_dump_row_for_row(tmp_path: Path) -> None:
    index = from_dump(tmp_path, NEEDED, REDIRECTS)
    with SparqlServer(NEEDED, REDIRECTS) as server:
        report = pull(server, tmp_path / "pulled.duckdb")
    rows = asks_of(index.path)
    by_dump = Linker(CATALOG, index).link(rows)
    by_pull = Linker(CATALOG, report.snapshot).link(rows)
    assert all(by_pull[name].equals(by_dump[name]) for name in TABLES)
    assert by_dump["links"].column("status").to_pylist().count("linked") > 20
    assert {row["property"] for row in by_dump["entity_countries"].to_pylist()} >= {"P495", "P27", "P175/P27"}


def test_what_no_topic_needs_is_not_there(server: SparqlServer, tmp_path: Path) -> None:
    index = from_dump(tmp_path, WORLD, REDIRECTS)
    report = pull(server, tmp_path / "pulled.duckdb")
    items = {number for number, *_ in content(report.snapshot.path)["items"]}
    assert items == {int(entity["id"][1:]) for entity in NEEDED}
    rows = asks_of(index.path)
    by_dump = Linker(CATALOG, index).link(rows)["links"].to_pylist()
    by_pull = Linker(CATALOG, report.snapshot).link(rows)["links"].to_pylist()
    reached = [(a, b) for a, b in zip(by_dump, by_pull, strict=True) if a["status"] not in ("no path", "no candidate")]
    assert len(reached) > 20
    assert all(a == b for a, b in reached)
    assert {b["status"] for a, b in zip(by_dump, by_pull, strict=True) if a["status"] == "no path"} <= {
        "no path",
        "no candidate",
    }


def test_meta_says_where_it_comes_from(server: SparqlServer, tmp_path: Path) -> None:
    report = pull(server, tmp_path / "pulled.duckdb")
    meta = open_snapshot(report.snapshot.path).meta
    assert meta["source"]["kind"] == "sparql"
    assert meta["source"]["endpoint"] == server.url
    assert meta["topics"] == TOPICS
    assert meta["source"]["items"] == server.items.url
    assert (report.asked, report.requests) == (len(server.queries), len(server.items.requests))
    assert not report.snapshot.complete  # names outside its topics are not there
    assert content(report.snapshot.path)["redirects"] == [(98, 21), (99, 40050)]
    assert (12, 4, 77) in content(report.snapshot.path)["items"]
    again = pull(server, tmp_path / "again.duckdb")
    assert again.snapshot.meta["source"]["content"] == meta["source"]["content"]


def test_it_is_polite(server: SparqlServer, tmp_path: Path) -> None:
    waits = Waits()
    endpoint = SparqlSettings("test@example.org", server.url, 120, sleep=waits.sleep, clock=waits.clock)
    pull_index(CATALOG, ["music"], tmp_path / "pulled.duckdb", endpoint, settings(server.items))
    assert (server.connections, server.most_at_once) == (1, 1)
    assert all("test@example.org" in agent and agent.startswith("Polyculture/") for agent in server.agents)
    assert waits == [0.5] * (len(server.queries) - 1)
    assert len(server.queries) == len(set(server.queries))
    asked = fetched(server.items)
    assert len(asked) == len(set(asked))
    assert len(server.items.requests) <= len(asked) / 50 + 6  # one begun batch a level


@pytest.mark.parametrize(
    ("fault", "wait"),
    [(TOO_MANY, 7.0), (TOO_MANY_UNTOLD, 60.0), (UNAVAILABLE, 1.0), (HTML, 1.0), ((200, {}, b'{"boolean": true}'), 1.0)],
)
def test_a_busy_endpoint_is_waited_for(
    server: SparqlServer, quiet: PullReport, tmp_path: Path, fault: Fault, wait: float
) -> None:
    server.faults, waits = [fault, fault], Waits()
    assert content(pull(server, tmp_path / "busy.duckdb", waits).snapshot.path) == content(quiet.snapshot.path)
    assert len([pause for pause in waits if pause >= wait]) == 2


OF_QLEVER = b'{"exception": "Operation timed out.", "status": "ERROR"}'


@pytest.mark.parametrize(
    "fault",
    [
        TIMED_OUT,
        CUT,
        (504, {}, b"Gateway Time-out"),
        (503, {}, b"The query timed out"),
        (429, {}, OF_QLEVER),
        (200, {}, OF_QLEVER),
        (500, {}, b"Virtuoso 42000 Error The estimated execution time 3500 (sec) exceeds the limit"),
        (200, {}, b'{"head": {"vars": []}, "results": {"bindings": ['),
    ],
)
def test_queries_that_time_out_are_split(server: SparqlServer, quiet: PullReport, tmp_path: Path, fault: Fault) -> None:
    server.faults = [fault] * 3
    assert content(pull(server, tmp_path / "slow.duckdb").snapshot.path) == content(quiet.snapshot.path)
    assert len(server.queries) >= quiet.asked + 3


def test_an_endpoint_with_little_time(server: SparqlServer, quiet: PullReport, tmp_path: Path) -> None:
    server.refuses = lambda query: query.count("wd:Q") > 40
    assert content(pull(server, tmp_path / "slow.duckdb").snapshot.path) == content(quiet.snapshot.path)


def test_an_endpoint_with_no_time_at_all(server: SparqlServer, tmp_path: Path) -> None:
    server.refuses, waits = lambda query: "wdt:P31 ?above" in query, Waits()
    with pytest.raises(WikidataError, match=r"cannot answer even for Q\d+.*wikidata build"):
        pull(server, tmp_path / "pulled.duckdb", waits)
    assert [pause for pause in waits if pause >= 30] == [30.0, 120.0]


@pytest.mark.parametrize("limit", [100, 7, 1])
def test_pages_together_hold_every_row(server: SparqlServer, tmp_path: Path, limit: int) -> None:
    query = Query("below", items_of([5, 10, 2095, 746549]), "P31", limit=limit)
    polite = SparqlSettings("me@example.org", server.url, 60_000, sleep=lambda _: None)
    with kept_answers(tmp_path / "out.duckdb", {}, LANGUAGES, CATALOG) as kept, SparqlClient(polite, kept) as client:
        items = sorted(item for _, item in set(client.pairs_of(query)))
    assert items == [11, 14, 14, 15, 16, 20, 21, 22, 23, 54]
    assert len(server.queries) == 10 // limit + 1


def test_answered_pages_are_not_requested_again(server: SparqlServer, quiet: PullReport, tmp_path: Path) -> None:
    out = tmp_path / "pulled.duckdb"
    server.faults = [None] * 5 + [FORBIDDEN]
    with pytest.raises(WikidataError, match="HTTP 403"):
        pull(server, out)
    assert not out.exists()
    report = pull(server, out)
    assert report.asked == quiet.asked - 5
    assert content(out) == content(quiet.snapshot.path)
    assert not out.with_name("pulled.duckdb.asked").exists()


KILLED = """
import sys
from pathlib import Path
from polyculture.link.api.kept import kept_answers
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.sparql import SparqlSettings
from polyculture.link.pull.pull import pull_index
from tests.link.test_pull import CATALOG, TOPICS
items, endpoint, out = sys.argv[1:]
polite = SparqlSettings("test@example.org", endpoint, 60_000), ApiSettings("test@example.org", items, 60_000)
pull_index(CATALOG, TOPICS, Path(out), *polite)
"""


def test_after_a_kill_no_query_is_sent_and_no_item_fetched_again(
    server: SparqlServer, quiet: PullReport, tmp_path: Path
) -> None:
    out, gate = tmp_path / "pulled.duckdb", WaitingServer(WORLD, REDIRECTS, after=2)
    with SparqlServer(WORLD, REDIRECTS, items=gate) as slow:
        kill_when_full(gate, KILLED, gate.url, slow.url, str(out))
        assert not out.exists()
        answered, queries = gate.requests[:1], len(slow.queries)
        assert answered
        began = len(gate.requests)
        report = pull(slow, out)
        later = gate.requests[began:]
        assert (len(slow.queries), report.asked) == (queries, 0)
    items = [{qid for request in part for qid in request["ids"].split("|")} for part in (answered, later)]
    assert not items[0] & items[1]
    assert content(out) == content(quiet.snapshot.path)


def test_items_that_are_gone_or_merged_by_now_leave_no_hole(tmp_path: Path) -> None:
    """The two services are not of one moment."""
    gone = [entity for entity in WORLD if entity["id"] not in ("Q13", "Q14")]
    with SparqlServer(WORLD, REDIRECTS, items=WikidataServer(gone, {**REDIRECTS, "Q14": "Q11"})) as server:
        found = content(pull(server, tmp_path / "pulled.duckdb").snapshot.path)
    assert (14, 11) in found["redirects"]
    items = [number for number, *_ in found["items"]]
    assert len(items) == len(set(items))
    assert not {13, 14} & set(items)


@pytest.mark.parametrize(
    ("fault", "tries", "says"),
    [
        (TOO_MANY, 8, "HTTP 429"),
        (HTML, 3, "not SPARQL results in JSON"),
        ((404, {}, b"{}"), 1, "HTTP 404"),
        ((400, {}, b"{}"), 1, "HTTP 400"),
        ((403, {}, b"<script>setTimeout(reload)</script>"), 1, "HTTP 403"),
        ((200, {}, b'{"results": {"bindings": [{"x": {"value": "1"}}]}}'), 3, "not SPARQL results"),
        ((429, {"Retry-After": "9000"}, b""), 1, "HTTP 429"),
    ],
)
def test_an_endpoint_that_stays_away_ends_in_one_line(
    server: SparqlServer, tmp_path: Path, fault: Fault, tries: int, says: str
) -> None:
    server.faults = [fault] * 20
    with pytest.raises(WikidataError, match=says) as error:
        pull(server, tmp_path / "pulled.duckdb")
    assert len(server.queries) == tries
    assert server.url in str(error.value)
    assert error.value.exit_code == 2


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    nobody = SparqlSettings("me@example.org", "http://127.0.0.1:9/sparql", sleep=lambda _: None)
    service, out = ApiSettings("me@example.org", "http://127.0.0.1:9/w/api.php", sleep=lambda _: None), tmp_path / "x"
    with pytest.raises(WikidataError, match="does not answer") as error:
        pull_index(CATALOG, ["food"], out, nobody, service)
    assert "It never answered: is the address right?" in str(error.value)
    assert not list(tmp_path.iterdir())  # no empty folder
    with pytest.raises(WikidataError, match="requires a contact"):
        pull_index(CATALOG, ["food"], out, SparqlSettings(" "), service)
    with pytest.raises(WikidataError, match="is not the address"):
        pull_index(CATALOG, ["food"], out, SparqlSettings("me@example.org", "query.wikidata.org"), service)
    with pytest.raises(CatalogError, match=r"unknown topic 'foot'.*'food'"):
        pull_index(CATALOG, ["foot"], out, nobody, service)
    with SparqlServer([]) as server, pytest.raises(SnapshotError, match="has no item of these topics"):
        pull(server, out)
    assert not out.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"values": ()},
        {"code": "P31 ?above } #"},
        {"limit": 0},
        {"offset": -1},
    ],
)
def test_nothing_but_numbers_and_codes_goes_into_a_query(wrong: dict[str, Any]) -> None:
    assert "wd:Q5 " in Query("below", items_of([5])).text
    with pytest.raises(ValueError, match="cannot query"):
        Query(**{"name": "below", "values": ("wd:Q5",), **wrong})


@pytest.mark.parametrize("item", [0, 10**9])
def test_no_number_that_no_item_has_goes_into_a_query(item: int) -> None:
    with pytest.raises(ValueError, match="cannot query"):
        items_of([item])


def test_a_name_cannot_leave_its_place_in_a_query() -> None:
    assert name_of(("en", 'a"b\\c\nd')) == r'"a\"b\\c\nd"@en'
    with pytest.raises(ValueError, match="cannot query in"):
        name_of(("en } #", "soup"))


OWN = """
name = "mine"
models = ["mock:m"]
languages = ["en", "ja"]
topics = ["food", "music"]
countries = ["JP"]
[link]
snapshot = "filled.duckdb"
fill = true
contact = "me@example.org"
"""


def test_an_experiment_says_what_is_pulled_and_linked_with(server: SparqlServer, tmp_path: Path) -> None:
    file, out = tmp_path / "exp.toml", tmp_path / "mine-wikidata.duckdb"
    own = f'{OWN}endpoint = "{server.items.url}"\n'
    file.write_text(own, encoding="utf-8")
    pulling = ("wikidata", "pull", file, "--endpoint", server.url, "--requests-per-minute", "60000")
    pulled = polyculture(*pulling, cwd=tmp_path)
    assert pulled.returncode == 0, pulled.stderr
    found = re.search(r"([\d,]+) items of food, music: some (\d+) requests, a minute at 60000", pulled.stderr)
    assert found
    assert int(found[2]) == math.ceil(int(found[1].replace(",", "")) / 50)
    assert '[link] snapshot = "mine-wikidata.duckdb"' in pulled.stderr
    assert open_snapshot(out).meta["topics"] == ["food", "music"]
    with duckdb.connect(str(out), read_only=True) as connection:
        written = {code for (code,) in connection.execute("SELECT DISTINCT language FROM names").fetchall()}
        of_soup = connection.execute("SELECT name FROM names WHERE item = 11 ORDER BY ALL").fetchall()
    assert written == {"en", "ja"}
    assert ("味噌汁",) in of_soup
    assert "mine-wikidata.duckdb is there" in " ".join(polyculture("plan", file, cwd=tmp_path).stdout.split())

    file.write_text(own.replace('"filled.duckdb"\nfill = true', '"mine-wikidata.duckdb"'))
    shown = polyculture(
        "link", "show", "味噌汁", "--language", "ja", "--topic", "food", "--snapshot", out, cwd=tmp_path
    )
    assert "Q11" in shown.stdout
    planned = polyculture("plan", file, cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    assert "pull" not in planned.stdout


def test_a_pull_of_an_experiment_refuses_what_the_file_says_already(tmp_path: Path) -> None:
    file = tmp_path / "exp.toml"
    file.write_text(OWN.replace('contact = "me@example.org"', ""), encoding="utf-8")
    for words, says in [
        ((file,), "has no link.contact: write one, or give --contact"),
        ((file, "--topic", "food"), "--topic is for a pull without an experiment"),
        (("--contact", "me@example.org"), "Missing option '--output', or an experiment file"),
        ((tmp_path / "none.toml",), "there is no such experiment file"),
        (("-o", file, "--contact", "me@example.org"), "is there already"),
        (("-o", "x", "--contact", "me@example.org", "--topic", "musik"), "unknown topic 'musik'"),
        (("-o", "x", "--contact", "me@example.org", "--endpoint", "wdqs"), "is not the address of a service"),
    ]:
        assert says in one_line(polyculture("wikidata", "pull", *words, cwd=tmp_path))
