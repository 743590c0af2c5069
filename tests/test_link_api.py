"""The live service: politeness, faults, the cache, and the same links as an index over the same items."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pytest

from cache.errors import StoreError, WikidataError
from cache.outcome import Outcome
from cache.wikidata_cache import DAY, WikidataCache
from link.api_client import ApiClient, ApiSettings
from link.api_source import ApiSource
from link.linker import TABLES, Linker
from link.rules import Rules
from tests.link_world import CATALOG, CLASSES, LANGUAGES, Entity, asks, index_of, item
from tests.wikidata_server import HTML, MAXLAG_200, TOO_MANY, UNAVAILABLE, WikidataServer

ITEMS: list[Entity] = [
    item("Q10", "soup", P279="Q746549"),
    item("Q11", {"en": "miso soup", "ja": "味噌汁", "zh": "味噌汤"}, {"en": ["misoshiru"]}, 5, P31="Q10", P495="Q17"),
    item("Q12", "Tango", sitelinks=4, P31="Q99"),  # drink, by way of a class that was merged
    item("Q13", "Tango", sitelinks=30, P31="Q2188189", P175="Q20"),
    item("Q14", "Tango", P31="Q404"),  # of a class that was deleted
    item("Q20", "Ana", P31="Q5", P27="Q414"),
    *[item(f"Q{number}", f"Tango {number}", P31="Q5") for number in range(100, 180)],
    *[item(f"Q{number}", "bar", P31="Q5") for number in range(200, 320)],
    item("Q400", "bar", P31="Q746549"),
]
ASKS = asks(
    ("en", "food", "dish", "miso soup"),
    ("ja", "food", "dish", "味噌汁"),
    ("zh-tw", "food", "dish", "味噌湯"),
    ("en", "food", "dish", "Misoshiru"),
    ("de", "beverage", "drink", "Tango"),
    ("en", "music", "song", "Tango"),
    ("en", "food", "dish", "bar"),
    ("en", "food", "dish", "nothing of the kind"),
    ("en", "food", "dish", "x" * 300),
)
EXACT = Rules(fuzzy_threshold=None)


@pytest.fixture
def server() -> Iterator[WikidataServer]:
    with WikidataServer([*CLASSES, *ITEMS], redirects={"Q99": "Q40050"}) as running:
        yield running


def settings(server: WikidataServer, waits: list[float] | None = None) -> ApiSettings:
    pauses: list[float] = [] if waits is None else waits
    return ApiSettings("test@example.org", server.url, requests_per_minute=60_000, sleep=pauses.append)


def source(server: WikidataServer, folder: Path, waits: list[float] | None = None) -> ApiSource:
    return ApiSource(settings(server, waits), folder / "cache.sqlite", LANGUAGES)


def test_the_same_links_as_the_index_row_for_row(server: WikidataServer, tmp_path: Path) -> None:
    redirected = {**item("Q40050", "drink", P279="Q2095"), "redirects": {"from": "Q99", "to": "Q40050"}}
    index = index_of(tmp_path, [*ITEMS, redirected])
    by_index = Linker(CATALOG, index, EXACT).link(ASKS)
    by_api = Linker(CATALOG, source(server, tmp_path), EXACT).link(ASKS)
    assert all(by_api[name].equals(by_index[name]) for name in TABLES)
    statuses = by_api["links"].column("status").to_pylist()
    assert statuses.count("linked") == 7
    assert statuses.count("no candidate") == 2
    (drink,) = [row for row in by_api["links"].to_pylist() if row["topic"] == "beverage"]
    assert (drink["qid"], drink["path"]) == ("Q12", ["Q40050"])
    assert by_api["entity_countries"].to_pylist()[-1]["property"] == "P175/P27"


def test_a_second_run_asks_nothing(server: WikidataServer, tmp_path: Path) -> None:
    first = Linker(CATALOG, source(server, tmp_path)).link(ASKS)
    asked = len(server.requests)
    seen: list[Outcome] = []
    again = Linker(CATALOG, source(server, tmp_path)).link(ASKS, seen.append)
    assert asked > 0
    assert len(server.requests) == asked
    assert all(first[name].equals(again[name]) for name in TABLES)
    assert seen[-1].done == seen[-1].reused > 0


def test_it_is_polite(server: WikidataServer, tmp_path: Path) -> None:
    asked = source(server, tmp_path)
    Linker(CATALOG, asked).link(ASKS)
    assert asked.requests == len(server.requests)
    assert server.connections == 1
    assert all("test@example.org" in agent and agent.startswith("Polyculture/") for agent in server.agents)
    assert all(request["maxlag"] == "5" and request["format"] == "json" for request in server.requests)
    gets = [request["ids"].split("|") for request in server.requests if request["action"] == "wbgetentities"]
    assert max(map(len, gets)) == 50
    fetched = [qid for ids in gets for qid in ids]
    assert len(fetched) == len(set(fetched))
    searches = [(r["language"], r["search"]) for r in server.requests if r["action"] == "wbsearchentities"]
    assert ("en", "x" * 300) not in searches  # no name is that long
    assert {language for language, term in searches if term == "Tango"} == {"de", "en"}


def test_it_keeps_the_rate(server: WikidataServer) -> None:
    pauses: list[float] = []
    with ApiClient(ApiSettings("me@example.org", server.url, sleep=pauses.append)) as client:
        for _ in range(3):
            client.entities(["Q5"], ["en"])
    assert len(pauses) == 2
    assert pauses[0] == pytest.approx(0.3, abs=0.1)
    assert pauses[1] == pytest.approx(0.6, abs=0.2)


@pytest.mark.parametrize(("fault", "wait"), [(MAXLAG_200, 6.1), (TOO_MANY, 7.0), (UNAVAILABLE, 1.0), (HTML, 1.0)])
def test_a_busy_service_is_waited_for(server: WikidataServer, fault: Any, wait: float) -> None:
    server.faults = [fault, fault]
    waits: list[float] = []
    with ApiClient(settings(server, waits)) as client:
        found = client.entities(["Q5"], ["en"])
    assert found["Q5"] is not None
    assert found["Q5"]["labels"]["en"]["value"] == "human"
    long = [pause for pause in waits if pause >= 1.0]
    assert len(long) == 2
    assert min(long) >= wait


@pytest.mark.parametrize(
    ("fault", "tries", "says"),
    [(MAXLAG_200, 8, "maxlag"), (TOO_MANY, 8, "HTTP 429"), (HTML, 3, "not JSON"), ((404, {}, b"{}"), 1, "HTTP 404")],
)
def test_a_service_that_stays_away_ends_in_one_line(server: WikidataServer, fault: Any, tries: int, says: str) -> None:
    server.faults = [fault] * 20
    with ApiClient(settings(server)) as client, pytest.raises(WikidataError, match=says) as error:
        client.entities(["Q5"], ["en"])
    assert len(server.requests) == tries
    assert server.url in str(error.value)
    assert error.value.exit_code == 2


def test_what_was_answered_is_kept_when_the_service_goes_away(server: WikidataServer, tmp_path: Path) -> None:
    server.faults = []
    asked = source(server, tmp_path)
    first = asks(("en", "food", "dish", "miso soup"))
    Linker(CATALOG, asked).link(first)
    server.faults = [UNAVAILABLE] * 20
    before = len(server.requests)
    with pytest.raises(WikidataError, match="goes on from there"):
        Linker(CATALOG, source(server, tmp_path)).link(ASKS)
    server.faults = []
    Linker(CATALOG, source(server, tmp_path)).link(first)
    assert len(server.requests) == before + 8


def test_no_network_is_one_line(tmp_path: Path) -> None:
    nobody = ApiSettings("me@example.org", "http://127.0.0.1:9/w/api.php", sleep=lambda _: None)
    with pytest.raises(WikidataError, match="does not answer"):
        Linker(CATALOG, ApiSource(nobody, tmp_path / "c.sqlite", LANGUAGES)).link(ASKS)


def test_a_contact_must_be_set(tmp_path: Path) -> None:
    with pytest.raises(WikidataError, match="contact"):
        ApiSource(ApiSettings(" "), tmp_path / "c.sqlite", LANGUAGES)


def test_missing_merged_and_impossible_items(server: WikidataServer) -> None:
    with ApiClient(settings(server)) as client:
        found = client.entities(["Q99", "Q404", "Q5"], ["en"])
        spoilt = client.entities(["Q5", "Q0"], ["en"])
    assert found["Q404"] is None
    assert found["Q99"] is not None
    assert found["Q99"]["id"] == "Q40050"
    assert spoilt["Q0"] is None
    assert spoilt["Q5"] is not None


def test_the_recorded_answers_are_understood(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shared_data / "wikidata" / "api-shapes" / "wdtk"
    recorded = {
        "Q32063953": "wbgetentities-Q32063953.json",
        "M91629437": "wbgetentities-missing-mid.json",
        "Q6": "wbgetentities-Q6-Q42-P31.json",
    }

    def answer(self: httpx.Client, url: str, params: dict[str, str]) -> httpx.Response:
        body = (folder / recorded[params["ids"].split("|")[0]]).read_bytes()
        return httpx.Response(200, content=body, request=httpx.Request("GET", url))

    monkeypatch.setattr(httpx.Client, "get", answer)
    with ApiClient(ApiSettings("me@example.org", sleep=lambda _: None)) as client:
        moved = client.entities(["Q32063953"], ["en"])["Q32063953"]
        assert moved is not None
        assert (moved["id"], moved["lastrevid"]) == ("Q1040", 619336121)
        assert client.entities(["M91629437"], ["en"]) == {"M91629437": None}
        several = client.entities(["Q6", "Q42"], ["en"])
        assert several["Q6"] is None or several["Q6"]["id"] == "Q6"
        assert several["Q42"] is not None


@pytest.mark.parametrize("name", ["error-maxlag.json", "error-maxlag-full.json"])
def test_recorded_maxlag_answers_are_waited_for(shared_data: Path, server: WikidataServer, name: str) -> None:
    body = (shared_data / "wikidata" / "api-shapes" / "wdtk" / name).read_bytes()
    server.faults = [(200, {}, body)]
    with ApiClient(settings(server)) as client:
        assert client.entities(["Q5"], ["en"])["Q5"] is not None
    assert len(server.requests) == 2


def test_the_cache_remembers_missing_items_for_a_while(tmp_path: Path) -> None:
    now = [1_000.0]
    with WikidataCache(tmp_path / "c.sqlite", "here", missing_days=2, clock=lambda: now[0]) as cache:
        cache.keep_entities({"Q1": {"id": "Q1", "lastrevid": 5}, "Q2": None}, ["en", "de"])
        assert cache.entities(["Q1", "Q2", "Q3"], ["en"]) == {"Q1": {"id": "Q1", "lastrevid": 5}, "Q2": None}
        assert cache.entities(["Q1"], ["en", "fr"]) == {}  # not asked in French
        now[0] += 3 * DAY
        assert cache.entities(["Q1", "Q2"], ["de"]) == {"Q1": {"id": "Q1", "lastrevid": 5}}
        cache.keep_search("en", "tea", ["Q6", "Q5"])
        assert cache.searches("en", ["tea", "none"]) == {"tea": ["Q6", "Q5"]}
        assert cache.searches("de", ["tea"]) == {}
        assert [entity["id"] for entity in cache.all_entities()] == ["Q1"]
    with WikidataCache(tmp_path / "c.sqlite", "elsewhere") as cache:
        assert cache.entities(["Q1"], ["en"]) == {} == cache.searches("en", ["tea"])


def test_a_broken_cache_is_set_aside_and_told(server: WikidataServer, tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"this is no database " * 100)
    asked = source(server, tmp_path)
    Linker(CATALOG, asked).link(ASKS)
    assert asked.set_aside == tmp_path / "cache.sqlite.broken-1"
    assert asked.set_aside.read_bytes().startswith(b"this is no database")
    with WikidataCache(path, server.url) as cache:
        assert cache.set_aside is None
        assert cache.entities(["Q5"], ["en"])["Q5"] is not None


def test_two_processes_may_share_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with WikidataCache(path, "here") as one, WikidataCache(path, "here") as other:
        one.keep_search("en", "tea", ["Q6"])
        other.keep_search("en", "rice", ["Q5"])
        assert one.searches("en", ["rice", "tea"]) == {"tea": ["Q6"], "rice": ["Q5"]}


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="the Wikidata cache cannot be used"):
        WikidataCache(tmp_path / "file" / "c.sqlite", "here")


def test_entities_are_cached_in_the_form_of_a_dump(server: WikidataServer, tmp_path: Path) -> None:
    Linker(CATALOG, source(server, tmp_path)).link(ASKS)
    from link.build import build_index

    with WikidataCache(tmp_path / "cache.sqlite", server.url) as cache:
        (tmp_path / "dump.json").write_text("\n".join(json.dumps(entity) for entity in cache.all_entities()) + "\n")
    built = build_index(tmp_path / "dump.json", tmp_path / "i.duckdb", LANGUAGES)
    assert built.intake.broken == 0
    with duckdb.connect(str(built.snapshot.path), read_only=True) as connection:
        found = connection.execute("SELECT name FROM names WHERE item = 11 AND language = 'ja'").fetchall()
    assert found == [("味噌汁",)]
