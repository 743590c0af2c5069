"""A snapshot that is filled from the live service: the links of a build, and nothing asked twice."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pytest

from polyculture.cache.errors import ExperimentError, SnapshotError, WikidataError
from polyculture.link import keys
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.fill import FillReport, assumed_names, expected_requests, fill_snapshot, names_to_ask
from polyculture.link.api.names import NamedMention, exact_terms, spellings
from polyculture.link.api.sparql import SparqlSettings
from polyculture.link.dumps.build import build_index
from polyculture.link.entity_json import EntityRows
from polyculture.link.index.assemble import write_snapshot
from polyculture.link.index.draft import answers_folder
from polyculture.link.index.snapshot import open_snapshot
from polyculture.link.index.tables import SCHEMAS
from polyculture.link.linker import TABLES
from polyculture.running.linking import api_settings, plan_linking, sparql_settings
from polyculture.running.opening import open_workspace
from tests.link.test_api import OF_ANOTHER_QUESTION, settings
from tests.link_world import CATALOG, CLASSES, LANGUAGES, Entity, index_of, item, link_all, write_dump
from tests.polyculture.test_command_line import polyculture
from tests.sparql_server import SparqlServer
from tests.wikidata_server import UNAVAILABLE, WikidataServer, as_wikidata

ROOT = Path(__file__).parents[2]
MERGED = {"Q99": "Q40050"}
ITEMS: list[Entity] = [
    item("Q10", "soup", P279="Q746549"),
    item("Q11", {"en": "miso soup", "ja": "味噌汁", "zh": "味噌汤"}, {"en": ["misoshiru"]}, 5, P31="Q10", P495="Q17"),
    item("Q12", "Tango", sitelinks=4, P31="Q99"),  # drink, by way of a class that was merged
    item("Q13", "Tango", sitelinks=30, P31="Q2188189", P175="Q20"),
    item("Q14", "Tango", {"de": ["Tänzchen"]}, P31="Q404"),  # of a class that was deleted: of no topic
    item("Q17", "Japan"),
    item("Q20", "Ana", P31="Q5", P27="Q414"),
    *[item(f"Q{number}", f"Tango {number}", P31="Q5") for number in range(100, 180)],
    *[item(f"Q{number}", "bar", P31="Q5") for number in range(200, 320)],
    item("Q400", "bar", P31="Q746549"),
    item("Q414", "Argentina"),
    item("Q500", "of no interest", P31="Q746549"),
]
WORLD = [*CLASSES, *ITEMS]
NAMES = [
    NamedMention("en", "a bowl of miso soup", "miso soup"),
    NamedMention("ja", "味噌汁", None, "miso soup"),
    NamedMention("zh-tw", "味噌湯"),
    NamedMention("de", "Tango"),
    NamedMention("en", "bar"),
    NamedMention("en", "nothing of the kind"),
    NamedMention("en", "x" * 300),
]
ASKED = [
    ("en", "food", "dish", "miso soup"),
    ("ja", "food", "dish", "味噌汁"),
    ("zh-tw", "food", "dish", "味噌湯"),
    ("de", "beverage", "drink", "Tango"),
    ("en", "music", "song", "Tango"),
    ("en", "food", "dish", "bar"),
]


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with SparqlServer(WORLD, MERGED) as running:
        yield running


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "wikidata.duckdb"


def endpoint(server: SparqlServer, **more: Any) -> SparqlSettings:
    """Settings that send without pauses."""
    return SparqlSettings(**{"contact": "test@example.org", "endpoint": server.url, "requests_per_minute": 60_000,
                             "sleep": lambda _seconds: None, **more})  # fmt: skip


def fill(
    server: SparqlServer, out: Path, names: list[NamedMention] | None = None, *, search: bool = False, **more: Any
) -> FillReport:
    asked = NAMES if names is None else names
    return fill_snapshot(CATALOG, asked, out, endpoint(server, **more), settings(server.items, **more), search=search)


def rows_of(snapshot: Path, *tables: str) -> dict[str, list[Any]]:
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        return {name: connection.execute(f"FROM {name} ORDER BY ALL").fetchall() for name in tables or SCHEMAS}


def named(server: SparqlServer) -> list[str]:
    """The names that the endpoint was asked for, as its queries have them."""
    return [name for query in server.queries for name in names_in(query)]


def names_in(query: str) -> list[str]:
    return re.findall(r'"(?:[^"\\\\]|\\\\.)*"@[a-z-]+', query)


def searched(server: WikidataServer) -> list[tuple[str, str]]:
    """What was searched, in which language."""
    return [(r["language"], r["search"]) for r in server.requests if "search" in r]


def fetched(server: WikidataServer) -> list[str]:
    return [qid for r in server.requests if r["action"] == "wbgetentities" for qid in r["ids"].split("|")]


def test_a_fill_holds_and_links_what_a_build_over_the_same_items_does(
    server: SparqlServer, out: Path, tmp_path: Path
) -> None:
    filled = fill(server, out).snapshot
    there = {f"Q{number}" for number, *_ in rows_of(out, "items")["items"]}
    moved = {**next(one for one in WORLD if one["id"] == "Q40050"), "redirects": {"from": "Q99", "to": "Q40050"}}
    dump = write_dump(tmp_path / "dump.json", [*(one for one in WORLD if one["id"] in there), moved])
    built = build_index(dump, tmp_path / "built.duckdb", LANGUAGES).snapshot
    content = [name for name in SCHEMAS if name != "fetched"]
    held = {name: [row for row in rows if row[0] != 14] for name, rows in rows_of(out, *content).items()}
    assert held == rows_of(built.path, *content)
    by_fill, by_build = (link_all(snapshot, *ASKED) for snapshot in (filled, index_of(tmp_path, [*ITEMS, moved])))
    for found in (by_fill, by_build):
        found["candidates"] = found["candidates"].drop_columns("sitelinks")  # unknown of an item outside the topics
    assert all(by_fill[name].equals(by_build[name]) for name in TABLES)
    links = by_fill["links"].to_pylist()
    assert [row["status"] for row in links] == ["linked"] * len(ASKED)
    assert {row["qid"] for row in links} == {"Q11", "Q12", "Q13", "Q400"}
    assert {(row["property"], row["country_qid"]) for row in by_fill["entity_countries"].to_pylist()} == {
        ("P495", "Q17"),
        ("P175/P27", "Q414"),
    }
    assert "Q500" not in there


def test_of_an_item_outside_the_topics_its_name_is_known_and_no_more(server: SparqlServer, out: Path) -> None:
    filled = fill(server, out).snapshot
    assert "Q14" not in fetched(server.items)
    found = rows_of(out, "names", "claims", "items")
    assert {(language, name) for item, language, name, *_ in found["names"] if item == 14} == {("en", "Tango")}
    assert [row for row in found["claims"] if row[0] == 14] == [(14, "P31", 404, None)]
    assert 14 not in [item for item, *_ in found["items"]]
    (row,) = link_all(filled, ("de", "transportation", "vehicle", "Tango"))["links"].to_pylist()
    assert (row["status"], row["candidates"]) == ("no path", 3)


@pytest.mark.parametrize("seed", range(2))
def test_in_any_world_the_links_are_those_of_a_build_over_all_of_it(seed: int, tmp_path: Path, out: Path) -> None:
    """Names that collide, classes in circles, merged and missing ones, pages, persons with and without trades."""
    draw = random.Random(seed)
    words = ["abacus", "bremolo", "cardoon", "dhurrie", "ephyral", "fjordic", "gumtree", "hyraxes"]
    between = [f"Q{number}" for number in range(900, 910)]
    kinds = [kind for topic in CATALOG.topics.values() for kind in topic.kinds.values()]
    named = [qid for kind in kinds for qid in (*kind.roots, *kind.stops)]
    above = [*between, *between, *draw.sample(named, 12), "Q99", "Q999", "Q4167410", "Q746549", "Q2188189", "Q5"]

    def some(values: list[str], most: int) -> list[str]:
        return draw.sample(values, draw.randint(0, most))

    world = [item(qid, f"class {qid}", P279=some(above, 2), P361=some(above, 1)) for qid in between]
    for number in range(100, 160):
        claims = {"P31": some(above, 2), "P279": some(above, 1), "P106": some(["Q639669", "Q901"], 1)}
        claims |= {"P495": some(["Q17", "Q30"], 1), "P175": some(["Q700", "Q701"], 1), "P27": some(["Q30"], 1)}
        labels = {code: draw.choice(words) for code in draw.sample(["en", "ja", "de", "mul"], 2)}
        world.append(item(f"Q{number}", labels, {"en": some(words, 1)}, draw.randint(0, 3), **claims))
    world += [
        item("Q700", "Ana", P31="Q5", P27="Q30"),
        item("Q701", "Bo", P31="Q5"),
        item("Q17", "J"),
        item("Q30", "U"),
    ]
    asked = [
        (language, *kind, word)
        for language in ("en", "ja", "de")
        for kind in (("food", "dish"), ("music", "song"), ("music", "artist"), ("beverage", "drink"))
        for word in words
    ]
    moved = {**next(one for one in CLASSES if one["id"] == "Q40050"), "redirects": {"from": "Q99", "to": "Q40050"}}
    built = index_of(tmp_path, [*world, moved])
    names = [NamedMention(language, word) for language, _, _, word in asked]
    with SparqlServer([*CLASSES, *world], MERGED) as server:
        filled = fill(server, out, names).snapshot
    by_build, by_fill = link_all(built, *asked), link_all(filled, *asked)
    assert by_build["links"].column("status").to_pylist().count("linked") > 5
    assert by_fill["links"].to_pylist() == by_build["links"].to_pylist()
    assert by_fill["entity_countries"].to_pylist() == by_build["entity_countries"].to_pylist()


def test_birthplaces_decide_in_a_fill_what_they_decide_in_a_build(tmp_path: Path, out: Path) -> None:
    """Austria-Hungary has heirs, and Fooland is in no table; beside both stands a citizenship of today, or a work."""
    empire, us, writer = "Q28513", "Q30", "Q36180"
    world = [
        item(empire, "Austria-Hungary"),
        item(us, "US"),
        item(writer, "writer"),
        item("Q600", "Prague", P17="Q213"),
        item("Q601", "Fooland", P1366=["Q213", "Q40"]),
        item("Q602", "Franz", P31="Q5", P27=[empire, us], P19="Q600", P106=writer),
        item("Q603", "Fritz", P31="Q5", P27=["Q601", us], P19="Q600", P106=writer),
        item("Q604", "Frank", P31="Q5", P27=us, P19="Q600", P106=writer),
        item("Q606", "Letters", P31="Q7725634", P495=empire, P50="Q604"),
    ]
    asked = [
        *[("en", "book", "author", name) for name in ("Franz", "Fritz", "Frank")],
        ("en", "book", "title", "Letters"),
    ]
    built = index_of(tmp_path, world)
    with SparqlServer([*CLASSES, *world]) as server:
        filled = fill(server, out, [NamedMention("en", name) for *_, name in asked]).snapshot
    by_build, by_fill = (link_all(source, *asked)["entity_countries"].to_pylist() for source in (built, filled))
    assert by_fill == by_build
    assert {(row["qid"], row["country"]) for row in by_fill} == {
        *((qid, country) for qid in ("Q602", "Q603") for country in ("CZ", "US")),
        ("Q604", "US"),
        ("Q606", "CZ"),
    }


def test_a_second_fill_asks_nothing_and_leaves_the_file(server: SparqlServer, out: Path) -> None:
    first = fill(server, out, search=True)
    asked, written = (len(server.queries), len(server.items.requests)), out.read_bytes()
    again = fill(server, out, search=True, contact="")
    assert (first.queries, first.requests) == asked == (len(server.queries), len(server.items.requests))
    assert (again.queries, again.requests) == (0, 0)
    assert out.read_bytes() == written
    assert again.snapshot.identity == first.snapshot.identity
    assert not answers_folder(out).exists()


def test_more_names_grow_the_file_and_change_its_identity(server: SparqlServer, out: Path) -> None:
    first = fill(server, out, NAMES[:3])
    grown = fill(server, out)
    assert grown.queries
    assert grown.snapshot.identity != first.snapshot.identity
    again = Counter([*named(server), *fetched(server.items)])
    assert max(again.values()) == 1  # no item, missing ones among them, and no name is asked for twice
    with SparqlServer(WORLD, MERGED) as other:
        at_once = fill(other, out.with_name("at-once.duckdb"))
    names = [name for name in SCHEMAS if name != "fetched"]
    assert rows_of(out, *names) == rows_of(at_once.snapshot.path, *names)


def test_a_topic_more_fetches_what_belongs_to_it_and_asks_for_no_name(server: SparqlServer, out: Path) -> None:
    food = CATALOG.model_copy(update={"topics": {"food": CATALOG.topics["food"]}})
    fill_snapshot(food, NAMES, out, endpoint(server), settings(server.items))
    assert "Q13" not in fetched(server.items)
    queries = len(server.queries)
    grown = fill(server, out)
    assert len(server.queries) == queries
    assert "Q13" in fetched(server.items)
    assert {row["status"] for row in link_all(grown.snapshot, *ASKED)["links"].to_pylist()} == {"linked"}


def test_it_is_polite(server: SparqlServer, out: Path) -> None:
    report, service = fill(server, out, search=True), server.items
    assert (report.queries, report.requests) == (len(server.queries), len(service.requests))
    assert (server.connections, server.most_at_once, service.connections) == (1, 1, 1)
    assert all("gzip" in headers["Accept-Encoding"] for headers in service.headers)
    agents = service.agents | server.agents
    assert all("test@example.org" in agent and agent.startswith("Polyculture/") for agent in agents)
    assert all(request["maxlag"] == "5" and request["format"] == "json" for request in service.requests)
    assert max(len(r["ids"].split("|")) for r in service.requests if "ids" in r) == 50
    assert len(fetched(service)) == len(set(fetched(service)))
    assert len(named(server)) == len(set(named(server))) == report.names
    assert not any("xxx" in name for name in named(server))  # no name has 300 characters


def test_what_was_asked_and_what_does_not_exist_is_recorded(server: SparqlServer, out: Path) -> None:
    began = time.time()
    fill(server, out)
    rows = rows_of(out, "fetched")["fetched"]
    found = {(language, term): hits for _, language, term, _, hits in rows}
    assert found["en", "miso soup"] == found["zh", "味噌汤"] == [11]
    assert found["en", "nothing of the kind"] == []
    assert found["", "Q404"] == [404]
    assert {way for way, *_ in rows} == {"name", "number"}
    assert all(began - 2 < at.timestamp() - time.timezone < time.time() + 2 for _, _, _, at, _ in rows)


def test_a_name_of_two_hundred_items(out: Path) -> None:
    """Those of the topic are fetched; the others make the name ambiguous, or not, as in a build."""
    world = [*CLASSES, *(item(f"Q{1000 + n}", "Union", P31="Q2095" if n % 50 == 0 else "Q900") for n in range(200))]
    with SparqlServer([*world, item("Q900", "town")]) as server:
        filled = fill(server, out, [NamedMention("en", "union")])
        assert {qid for qid in fetched(server.items) if qid.startswith("Q1")} == {"Q1000", "Q1050", "Q1100", "Q1150"}
        assert (filled.queries, filled.requests) == (1, 2)
        (row,) = link_all(filled.snapshot, ("en", "food", "dish", "union"))["links"].to_pylist()
        assert (row["candidates"], row["survivors"]) == (200, 4)


@pytest.mark.parametrize("most", [1000, 20_000])
def test_an_endpoint_that_cuts_its_answers_loses_no_item(most: int, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some endpoints cut at a round number of rows without a word, others at the limit that the query names."""
    bearers = [item(f"Q{1000 + n}", f"Union {n % 3}", P31="Q900") for n in range(3 * 1100)]
    monkeypatch.setattr("polyculture.link.api.sparql.LIMIT", 20_000)
    with SparqlServer([*CLASSES, *bearers, item("Q900", "town")]) as server:
        server.most_rows = most
        names = [NamedMention("en", f"Union {n}") for n in range(3)]
        filled = fill(server, out, names).snapshot
        rows = link_all(filled, *(("en", "food", "dish", one.surface) for one in names))["links"].to_pylist()
    assert [row["candidates"] for row in rows] == [1100] * 3


def test_items_that_were_merged_since_the_endpoint_was_loaded(out: Path) -> None:
    """QLever's data are days or weeks old: an item that it names may be a redirect by now, or be deleted."""
    old = [item("Q30", "Laksa", P31="Q746549"), item("Q31", "laksa", P31="Q746549"), item("Q32", "laksa", P31="Q99")]
    now = [item("Q30", "Laksa", {"en": ["curry laksa"]}, 7, P31="Q746549")]
    service = WikidataServer([*CLASSES, *now], {"Q31": "Q30", "Q99": "Q40050"})
    with SparqlServer([*CLASSES, *old], {"Q99": "Q40050"}, items=service) as server:
        filled = fill(server, out, [NamedMention("en", "Laksa")]).snapshot
    (row,) = link_all(filled, ("en", "food", "dish", "Laksa"))["links"].to_pylist()
    assert (row["status"], row["qid"], row["survivors"]) == ("linked", "Q30", 1)
    assert rows_of(out, "redirects")["redirects"] == [(31, 30), (99, 40050)]


def test_items_that_another_snapshot_links_are_asked_for_by_number_once(out: Path, tmp_path: Path) -> None:
    """An item that was merged bears no name any more: only its number says what it has become."""
    now = [item("Q30", "Laksa", P31="Q746549"), item("Q33", "Pho", P31="Q746549")]
    before = ["Q30", "Q31", "Q33", "Q34"]  # of these the first is still found, the third under another name
    service = WikidataServer([*CLASSES, *now], {"Q31": "Q30"})
    with SparqlServer([*CLASSES, *now], items=service) as server:
        sides = endpoint(server), settings(server.items)
        fill_snapshot(CATALOG, [NamedMention("en", "Laksa")], out, *sides, linked=before)
        assert [qid for qid in fetched(service) if qid in before] == ["Q30", "Q31", "Q33", "Q34"]
        asked = len(service.requests)
        more = fill_snapshot(CATALOG, [NamedMention("en", "soto")], out, *sides, linked=before)
        assert not {*before} & {qid for r in service.requests[asked:] for qid in r["ids"].split("|")}
    assert rows_of(out, "redirects")["redirects"] == [(31, 30)]
    assert [row[0] for row in rows_of(out, "items")["items"] if row[0] in (30, 31, 33, 34)] == [30]
    assert link_all(more.snapshot, ("en", "food", "dish", "Pho"))["links"].column("status").to_pylist() == [
        "no candidate"
    ]


def test_a_search_finds_names_that_are_spelled_otherwise(out: Path) -> None:
    """Only what no item bears exactly is searched: the service folds accents, which no list of spellings has."""
    asked = [NamedMention("en", "Misô Soup"), NamedMention("ja", "味噌汁", None, "nothing")]
    query = ("en", "food", "dish", "Misô Soup")
    with SparqlServer(WORLD, MERGED, items=WikidataServer(WORLD, MERGED, folding=as_wikidata)) as server:
        plain = fill(server, out, asked).snapshot
        assert not searched(server.items)
        assert link_all(plain, query)["links"].column("status").to_pylist() == ["linked"]  # by another mention's item
        out.unlink()
        assert link_all(fill(server, out, asked[:1]).snapshot, query)["links"]["status"].to_pylist() == ["no candidate"]
        found = fill(server, out, asked, search=True).snapshot
        assert searched(server.items) == [("en", "Misô Soup")]
    (row,) = link_all(found, query)["links"].to_pylist()
    assert (row["status"], row["qid"]) == ("linked", "Q11")


BANNED = (
    429,
    {"Retry-After": "86400"},
    b"<html><body><h1>You have been banned until 2026-12-01</h1>\nAsk noc@wikimedia.org",
)


def test_a_ban_is_shown_and_what_was_answered_is_kept(server: SparqlServer, out: Path) -> None:
    server.faults = [BANNED]
    with pytest.raises(
        WikidataError, match=r"wait 24\.0 hours.*You have been banned until 2026-12-01 Ask noc@"
    ) as told:
        fill(server, out)
    assert "answers so far are kept" in str(told.value)
    assert len(server.queries) == 1
    server.items.faults = [(403, {}, BANNED[2])]
    with pytest.raises(WikidataError, match=r"HTTP 403.*You have been banned until 2026-12-01 Ask noc@"):
        fill(server, out)


def test_the_seconds_that_an_endpoint_asks_for_are_waited(server: SparqlServer, out: Path) -> None:
    server.faults, pauses = [(429, {"Retry-After": "17"}, b"Too Many Requests")], list[float]()
    fill(server, out, sleep=pauses.append, clock=lambda: sum(pauses))
    assert [pause for pause in pauses if pause > 16] == [pytest.approx(17, abs=1)]


@pytest.mark.parametrize("most", [400, 1])
def test_an_endpoint_that_times_out_is_asked_for_fewer_names(server: SparqlServer, out: Path, most: int) -> None:
    server.refuses = lambda query: query.count('"@') > most
    fill(server, out, NAMES[:2] if most == 1 else NAMES)
    with SparqlServer(WORLD, MERGED) as other:
        at_once = fill(other, out.with_name("at-once.duckdb"), NAMES[:2] if most == 1 else NAMES)
    assert rows_of(out, "items", "names", "claims") == rows_of(at_once.snapshot.path, "items", "names", "claims")


def test_an_answer_about_other_names_is_not_nothing_found(server: SparqlServer, out: Path) -> None:
    row = b'{"name": {"value": "tea", "xml:lang": "en"}, "item": {"value": "http://www.wikidata.org/entity/Q5"}}'
    server.faults = [(200, {}, b'{"results": {"bindings": [' + row + b"]}}")] * 3
    with pytest.raises(WikidataError, match="does not answer"):
        fill(server, out)


@pytest.mark.parametrize(
    ("text", "language", "found_as"),
    [
        ("Pad Thais", "en", {"pad thai", "Pad thai", "Pad Thai", "Pad Thais"}),
        ("The Curries", "en", {"curry", "Curry"}),
        ("quiche", "en", {"quiches"}),
        ("1984 (Novel)", "en", {"1984", "1984 (novel)"}),
        ("deep-dish pizza", "en", {"deep dish pizza"}),
        ("Shepherd's Pie", "en", {"shepherd\u2019s pie"}),
        ("Bratwürste", "de", {"bratwürste"}),
        ("IHLAMUR", "tr", {"ıhlamur", "Ihlamur"}),
        ("iskender kebap", "tr", {"İskender kebap", "İskender Kebap"}),
        ("«pizza»", "it", {"pizza", "Pizza"}),
        ("味噌湯", "zh-tw", {"味噌汤", "味噌湯"}),
        ("ラーメン", "ja", {"ラーメン"}),
        ("cafe\u0301", "fr", {"caf\u00e9"}),
        ("x" * 251, "en", set()),
        (" ", "en", set()),
        ("a\u0000b", "en", set()),
    ],
)
def test_a_name_is_spelled_in_the_ways_that_the_linker_accepts(text: str, language: str, found_as: set[str]) -> None:
    found = spellings(text, language)
    assert found_as <= set(found)
    assert bool(found) == bool(found_as)
    assert len(found) <= 25


def test_a_name_is_asked_for_in_each_language_that_the_linker_compares_it_with() -> None:
    terms = exact_terms(CATALOG, NamedMention("ja", "ラーメンを", "ラーメン", "ramen"))
    assert {language for language, text in terms if text == "ラーメン"} == {*CATALOG.language("ja").label_languages}
    assert {language for language, text in terms if text == "Ramen"} == {*CATALOG.language("en").label_languages}


KILLED = """
import sys
from pathlib import Path
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.fill import fill_snapshot
from polyculture.link.api.sparql import SparqlSettings
from polyculture.link.api import sparql
from tests.link.test_fill import CATALOG, NAMES
sparql._NAMES_AT_ONCE = 300
endpoint = SparqlSettings("test@example.org", sys.argv[1], requests_per_minute=60_000)
service = ApiSettings("test@example.org", sys.argv[2], requests_per_minute=60_000)
fill_snapshot(CATALOG, NAMES, Path(sys.argv[3]), endpoint, service)
"""


@pytest.mark.parametrize("after", [2, 4])
def test_after_a_kill_nothing_that_was_answered_is_asked_again(
    server: SparqlServer, out: Path, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polyculture.link.api.sparql._NAMES_AT_ONCE", 300)
    gate = WaitingServer(WORLD, MERGED, after)
    with SparqlServer(WORLD, MERGED, items=gate) as slow:
        kill_when_full(gate, KILLED, slow.url, gate.url, str(out))
        assert not out.exists()
        answered, queries, began = gate.requests[: after - 1], len(slow.queries), len(gate.requests)
        planned = names_to_ask(CATALOG, NAMES, out)
        assert (planned.mentions, planned.queries, planned.waiting) == (0, 0, len(NAMES) - 1)
        resumed = fill(slow, out)
        later = gate.requests[began:]
        assert queries > 5
        assert len(slow.queries) == queries
    assert not [request for request in answered if request in later]
    items = [{qid for r in part if "ids" in r for qid in r["ids"].split("|")} for part in (answered, later)]
    assert not items[0] & items[1]
    whole = fill(server, out.with_name("whole.duckdb")).snapshot.meta["source"]
    assert resumed.snapshot.meta["source"]["content"] == whole["content"]


def test_a_kill_between_two_queries_sends_each_once(
    server: SparqlServer, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polyculture.link.api.sparql._NAMES_AT_ONCE", 300)
    with SparqlServer(WORLD, MERGED) as slow:
        gate = slow.wait_after(3)
        kill_when_full(gate, KILLED, slow.url, slow.items.url, str(out))
        answered, began = slow.queries[:2], len(slow.queries)
        planned = names_to_ask(CATALOG, NAMES, out)
        fill(slow, out)
        later = slow.queries[began:]
    assert answered
    assert planned.queries == len(later)
    assert not set(answered) & set(later)
    asked = Counter(name for part in (answered, later) for query in part for name in names_in(query))
    assert max(asked.values()) == 1
    whole = fill(server, out.with_name("whole.duckdb")).snapshot.meta["source"]
    assert rows_of(out, "fetched")["fetched"]
    assert open_snapshot(out).meta["source"]["content"] == whole["content"]


def kill_when_full(gate: Gate, script: str, *words: str) -> None:
    """Runs a script until the server waits, kills it, and opens the server."""
    command = [sys.executable, "-c", script, *words]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    deadline = time.monotonic() + 120
    while not gate.is_full() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(0.3)  # what was answered is on disk by now
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL
    gate.open()


class Gate(Protocol):
    """A server that lets its callers wait."""

    def is_full(self) -> bool: ...

    def open(self) -> None: ...


class WaitingServer(WikidataServer):
    """Answers less than `after` requests; the others wait until it is opened."""

    def __init__(self, entities: list[Entity], redirects: dict[str, str], after: int) -> None:
        super().__init__(entities, redirects)
        self._after, self._opened = after, False

    def is_full(self) -> bool:
        return len(self.requests) >= self._after

    def open(self) -> None:
        self._opened = True

    def answer(self, params: dict[str, str]) -> dict[str, Any]:
        while not self._opened and params in self.requests[self._after - 1 :]:
            time.sleep(0.01)
        return super().answer(params)


def test_a_kill_between_the_snapshot_and_the_end_asks_and_changes_nothing(
    server: SparqlServer, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("polyculture.link.index.draft.remove_folder", killed)
        with pytest.raises(KeyboardInterrupt):
            fill(server, out)
    asked, written = (len(server.queries), len(server.items.requests)), out.read_bytes()
    assert answers_folder(out).exists()
    again = fill(server, out)
    assert (again.queries, again.requests) == (0, 0)
    assert (len(server.queries), len(server.items.requests), out.read_bytes()) == (*asked, written)
    assert not answers_folder(out).exists()


def killed(_folder: Path) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("trouble", [[UNAVAILABLE] * 8, [OF_ANOTHER_QUESTION] * 3])
def test_what_was_answered_is_kept_when_the_service_goes_away(
    server: SparqlServer, out: Path, trouble: list[Any]
) -> None:
    server.items.faults = [None, *trouble]
    with pytest.raises(WikidataError, match="again later to resume"):
        fill(server, out)
    assert not out.exists()
    before = server.items.requests[:1]
    resumed = fill(server, out)
    assert len(server.queries) == 1
    assert not [request for request in before if server.items.requests.count(request) > 1]
    whole = fill(server, out.with_name("whole.duckdb")).snapshot.meta["source"]
    assert resumed.snapshot.meta["source"]["content"] == whole["content"]


def test_no_network_is_one_line_and_leaves_nothing(server: SparqlServer, out: Path) -> None:
    nobody = SparqlSettings("me@example.org", "http://127.0.0.1:9/sparql", sleep=lambda _: None)
    with pytest.raises(WikidataError, match="does not answer"):
        fill_snapshot(CATALOG, NAMES, out, nobody, settings(server.items))
    assert not answers_folder(out).exists()
    with pytest.raises(WikidataError, match="requires a contact"):
        fill_snapshot(CATALOG, NAMES, out, endpoint(server), ApiSettings(""))


def test_a_language_more_fetches_the_items_anew_and_asks_for_no_name_again(server: SparqlServer, out: Path) -> None:
    english = CATALOG.model_copy(update={"languages": {"en": CATALOG.languages["en"]}})
    fill_snapshot(english, [NamedMention("en", "miso soup")], out, endpoint(server), settings(server.items))
    assert {language for _, language, *_ in rows_of(out, "names")["names"]} == {"en"}
    fill(server, out, [NamedMention("en", "miso soup"), NamedMention("ja", "味噌汁")])
    assert max(Counter(named(server)).values()) == 1
    assert {language for _, language, *_ in rows_of(out, "names")["names"]} == {"en", "ja", "zh"}


def pulled(out: Path, languages: frozenset[str]) -> None:
    """A snapshot of an endpoint's answers, with the classes and the soup."""
    rows = EntityRows(languages)
    for entity in [*CLASSES, *ITEMS[:2]]:
        rows.add(entity)
    source = {"kind": "sparql", "endpoint": "http://there"}
    write_snapshot(out, languages, [rows.tables()], {"source": source, "complete": False})


def test_a_pulled_snapshot_can_be_filled(server: SparqlServer, out: Path) -> None:
    pulled(out, LANGUAGES)
    grown = fill(server, out, NAMES[:4])
    assert not set(fetched(server.items)) & {entity["id"] for entity in [*CLASSES, *ITEMS[:2]]}
    assert grown.snapshot.meta["source"]["onto"] == {"kind": "sparql", "endpoint": "http://there"}
    (tango,) = link_all(grown.snapshot, ASKED[3])["links"].to_pylist()
    assert tango["qid"] == "Q12"


def test_what_cannot_be_filled_is_one_line(server: SparqlServer, out: Path, tmp_path: Path) -> None:
    index = index_of(tmp_path, ITEMS).path
    before = index.read_bytes()
    with pytest.raises(SnapshotError, match="there is nothing to fill"):
        fill(server, index)
    fill(server, out, NAMES[:1])
    elsewhere = ApiSettings("me@example.org", "http://elsewhere/api.php")
    with pytest.raises(
        SnapshotError, match=f"was filled from {re.escape(server.items.url)}, not from http://elsewhere"
    ):
        fill_snapshot(CATALOG, NAMES, out, endpoint(server), elsewhere)
    pulled(tmp_path / "pulled.duckdb", frozenset({"en", "mul"}))
    with pytest.raises(SnapshotError, match=r"was pulled without names in de"):
        fill(server, tmp_path / "pulled.duckdb", [NamedMention("de", "Tango")])
    (tmp_path / "x.duckdb").write_bytes(b"no snapshot" * 100)
    with pytest.raises(SnapshotError, match="is not a Wikidata snapshot"):
        fill(server, tmp_path / "x.duckdb")
    assert index.read_bytes() == before


def test_answers_of_one_service_are_not_another_s(
    server: SparqlServer, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.items.faults = [None, (404, {}, b"")]
    with pytest.raises(WikidataError, match="HTTP 404"):
        fill(server, out)
    here = re.escape(server.items.url)
    with (
        SparqlServer(WORLD, MERGED) as other,
        pytest.raises(SnapshotError, match=f"other endpoint: {here}, not {re.escape(other.items.url)}"),
    ):
        fill(other, out)
    assert not other.queries
    assert not other.items.requests
    english = CATALOG.model_copy(update={"languages": {"en": CATALOG.languages["en"]}})
    with pytest.raises(SnapshotError, match=r"other languages: .*Delete its folder"):
        fill_snapshot(english, NAMES[:1], out, endpoint(server), settings(server.items))
    monkeypatch.setattr(keys, "KEYS", keys.KEYS + 1)  # as a changed rule would
    keys.key_version.cache_clear()
    with pytest.raises(SnapshotError, match=r"other version: .*Delete its folder"):
        fill(server, out)
    monkeypatch.undo()
    keys.key_version.cache_clear()
    fill(server, out)
    assert not answers_folder(out).exists()


EXPERIMENT = """
name = "small"
models = ["openai:any"]
languages = ["en"]
topics = ["food"]
countries = ["IT"]
[link]
snapshot = "filled.duckdb"
fill = true
contact = "test@example.org"
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("fill = true", "fill = true\nrequests_per_minute = 0", "link.requests_per_minute: must be more than 0"),
        ("fill = true", "fill = true\nrequests_per_minute = inf", "link.requests_per_minute: must be"),
        ("fill = true", "fill = true\nsource = 'published'", "fill is of a file of your own"),
        ('snapshot = "filled.duckdb"\n', "", 'write snapshot = "FILE.duckdb"'),
        ('contact = "test@example.org"\n', "", "link.contact is missing"),
        ("test@example.org", "me", "'me' is neither an e-mail address nor a page"),
    ],
)
def test_a_mistake_in_the_settings_is_one_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT.replace(old, new), encoding="utf-8")
    with pytest.raises(ExperimentError, match=re.escape(says)) as error:
        plan_linking(open_workspace(file))
    assert str(file) in str(error.value)


def test_a_plan_says_how_much_the_services_are_asked(tmp_path: Path) -> None:
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT.replace("openai:any", "mock:m"), encoding="utf-8")
    planned = polyculture("plan", file, cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    told = " ".join(planned.stdout.split())
    workspace = open_workspace(file)
    responses = len(workspace.prompts) * workspace.sampling.n
    mentions = round(5 * (3 * responses) ** 0.6)  # one language and topic
    settings = sparql_settings(workspace), api_settings(workspace)
    assert expected_requests(assumed_names(mentions), *settings) in told
    assert "at 60 queries and 200 requests a minute" in told
    assert f"for {mentions:,} distinct mentions" in told
    assert "Assumed: 3 mentions a response" in told
    assert "polyculture wikidata pull exp.toml" in told
    assert not (tmp_path / "filled.duckdb").exists()


def test_a_plan_counts_what_the_stored_mentions_need(server: SparqlServer, tmp_path: Path) -> None:
    """Without an extraction it assumes; then it counts the names that the file was never asked for."""
    (tmp_path / "said.toml").write_text('[[answer]]\ntexts = ["He had miso soup.", "He had ramen."]\n', "utf-8")
    services = f'sparql = "{server.url}"\nendpoint = "{server.items.url}"\nrequests_per_minute = 60000'
    text = EXPERIMENT.replace("openai:any", "mock:m").replace("fill = true", f"fill = true\n{services}")
    file = tmp_path / "exp.toml"
    file.write_text(f'{text}[sampling]\nn = 2\n[options."mock:m"]\nanswers = "said.toml"\n', encoding="utf-8")

    def planned() -> str:
        done = polyculture("plan", file, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return " ".join(done.stdout.split())

    assert "distinct mentions of texts without an extraction" in planned()
    assert polyculture("run", file, "--only", "generate", cwd=tmp_path).returncode == 0
    assert polyculture("run", file, "--only", "extract", cwd=tmp_path).returncode == 0
    told = planned()
    texts = len(open_workspace(file).prompts) * 2
    assert f"for 2 of the 2 distinct mentions of {texts} extracted texts" in told
    assert "without an extraction" not in told
    assert "link asks 1 queries, up to" in told
    ran = polyculture("run", file, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert len(server.queries) == 1
    told = planned()
    assert f"for 0 of the 2 distinct mentions of {texts} extracted texts" in told
    assert "link asks 0 queries, 0 requests" in told


@pytest.mark.parametrize("size", [1, 4, len(NAMES)])
def test_names_to_ask_are_those_that_a_fill_asks(server: SparqlServer, out: Path, size: int) -> None:
    asked = names_to_ask(CATALOG, NAMES, out)
    assert (asked.mentions, asked.begun) == (len(NAMES) - 1, False)  # of one no name is as short as Wikidata's are
    fill(server, out, NAMES[:size])
    server.queries.clear()
    left = names_to_ask(CATALOG, NAMES, out)
    report = fill(server, out)
    assert left.begun
    assert left.mentions == sum(not exact_terms(CATALOG, one) <= exact_of(NAMES[:size]) for one in NAMES)
    assert (left.queries > 0) == (report.queries > 0)


def exact_of(mentions: list[NamedMention]) -> set[tuple[str, str]]:
    return {term for one in mentions for term in exact_terms(CATALOG, one)}


def test_a_file_that_cannot_be_filled_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    index_of(tmp_path, ITEMS).path.rename(tmp_path / "filled.duckdb")
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT.replace("openai:any", "mock:m"), encoding="utf-8")
    refused = polyculture("run", file, cwd=tmp_path)
    assert refused.returncode == 2
    assert "link.snapshot" in refused.stderr
    assert "is of a dump" in refused.stderr
    assert "leave fill out" in " ".join(refused.stderr.split())
    assert not list(tmp_path.glob("**/responses"))
