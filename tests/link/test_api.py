"""The live service: request rules, faults, the cache, and the same links as an index over the same items."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from polyculture.cache.errors import ExperimentError, StoreError, WikidataError
from polyculture.cache.outcome import Outcome
from polyculture.cache.wikidata_cache import DAY, WikidataCache
from polyculture.experiment.workspace import open_workspace
from polyculture.link.api.at_once import at_once
from polyculture.link.api.cache import AnswerCache
from polyculture.link.api.client import ApiClient, ApiSettings
from polyculture.link.api.source import ApiSource
from polyculture.link.entity_json import PROPERTIES
from polyculture.link.linker import TABLES, Linker
from polyculture.link.rules import LinkRules
from polyculture.running.linking import plan_linking
from tests.link_world import CATALOG, CLASSES, LANGUAGES, Entity, compared, index_of, item, queries
from tests.polyculture.test_command_line import polyculture
from tests.wikidata_server import (
    CUT_OFF,
    HTML,
    MAXLAG_200,
    TOO_MANY,
    UNAVAILABLE,
    Fault,
    WikidataServer,
    moved_to,
    reset,
    slow,
    truncated,
)

ROOT = Path(__file__).parents[2]
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
QUERIES = queries(
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
EXACT = LinkRules(fuzzy_threshold=None)


class Time:
    """A clock that only sleeping advances; `waits` holds every sleep."""

    def __init__(self) -> None:
        self.now, self.waits = 0.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    @property
    def pauses(self) -> list[float]:
        """The sleeps beyond those of the rate limit."""
        return [wait for wait in self.waits if wait >= 0.9]


@pytest.fixture
def server() -> Iterator[WikidataServer]:
    with WikidataServer([*CLASSES, *ITEMS], redirects={"Q99": "Q40050"}) as running:
        yield running


def settings(server: WikidataServer, time: Time | None = None, **more: Any) -> ApiSettings:
    kept = time or Time()
    polite = {"requests_per_minute": 60_000, "sleep": kept.sleep, "clock": lambda: kept.now}
    return ApiSettings("test@example.org", server.url, **{**polite, **more})


def source(server: WikidataServer, folder: Path, **more: Any) -> ApiSource:
    return ApiSource(settings(server, **more), folder / "cache.sqlite", LANGUAGES)


def test_the_same_links_as_the_index_row_for_row(server: WikidataServer, tmp_path: Path) -> None:
    redirected = {**item("Q40050", "drink", P279="Q2095"), "redirects": {"from": "Q99", "to": "Q40050"}}
    index = index_of(tmp_path, [*ITEMS, redirected])
    by_index = Linker(CATALOG, index, EXACT).link(QUERIES)
    by_api = Linker(CATALOG, source(server, tmp_path), EXACT).link(QUERIES)
    assert all(compared(by_api[name]).equals(compared(by_index[name])) for name in TABLES)
    statuses = by_api["links"].column("status").to_pylist()
    assert statuses.count("linked") == 7
    assert statuses.count("no candidate") == 2
    (drink,) = [row for row in by_api["links"].to_pylist() if row["topic"] == "beverage"]
    assert (drink["qid"], drink["path"]) == ("Q12", ["Q40050"])
    assert by_api["entity_countries"].to_pylist()[-1]["property"] == "P175/P27"


def test_a_second_run_sends_no_request(server: WikidataServer, tmp_path: Path) -> None:
    first = Linker(CATALOG, source(server, tmp_path)).link(QUERIES)
    asked = len(server.requests)
    seen: list[Outcome] = []
    again = Linker(CATALOG, source(server, tmp_path)).link(QUERIES, seen.append)
    assert asked > 0
    assert len(server.requests) == asked
    assert all(first[name].equals(again[name]) for name in TABLES)
    assert seen[-1].done == seen[-1].reused > 0


def test_it_is_polite(server: WikidataServer, tmp_path: Path) -> None:
    asked = source(server, tmp_path)
    Linker(CATALOG, asked).link(QUERIES)
    assert asked.requests == len(server.requests)
    assert server.connections == 1
    assert all("gzip" in headers["Accept-Encoding"] for headers in server.headers)
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
    time = Time()
    with ApiClient(settings(server, time, requests_per_minute=None)) as client:
        for _ in range(401):
            client.entities(["Q5"], ["en"])
    assert len(server.requests) == 401
    assert time.now == pytest.approx(120.0)  # 200 a minute


@pytest.mark.parametrize(
    ("given", "rate", "connections"),
    [
        ({}, 200, 1),
        ({"token_env": "MY_TOKEN"}, 600, 3),
        ({"token_env": "MY_TOKEN", "connections": 1}, 200, 1),
        ({"connections": 4}, 200, 4),
        ({"requests_per_minute": 50}, 50, 1),
        ({"token_env": "MY_TOKEN", "requests_per_minute": 50}, 50, 3),
    ],
)
def test_rate_and_connections_grow_only_when_signed_in(given: dict[str, Any], rate: float, connections: int) -> None:
    chosen = ApiSettings("test@example.org", "http://localhost/", **given)
    chosen.check()
    assert (chosen.rate, chosen.concurrency) == (rate, connections)


def test_several_connections_are_used_at_once_and_the_links_stay_the_same(
    server: WikidataServer, tmp_path: Path
) -> None:
    one = Linker(CATALOG, source(server, tmp_path / "one")).link(QUERIES)
    assert (server.busiest, server.connections) == (1, 1)
    asked = Counter(json.dumps(request) for request in server.requests)
    server.requests, server.connections, server.delay = [], 0, 0.03
    crowd = source(server, tmp_path / "several", connections=4)
    several = Linker(CATALOG, crowd).link(QUERIES)
    assert 2 <= server.busiest <= 4
    assert server.connections <= 4
    assert Counter(json.dumps(request) for request in server.requests) == asked
    assert crowd.requests == len(server.requests)
    assert all(one[name].equals(several[name]) for name in TABLES)


def test_all_connections_wait_when_one_is_sent_away(server: WikidataServer) -> None:
    waits: list[float] = []
    server.faults, server.delay = [TOO_MANY], 0.2
    real = settings(server, connections=3, sleep=waits.append, clock=lambda: 0.0, requests_per_minute=60_000_000)
    with ApiClient(real) as client:
        done = list(at_once(3, lambda qid: client.entities([qid], ["en"]), ["Q5"] * 9, client.stop))
    assert len(done) == 9
    assert len(server.requests) == 10
    assert sum(wait >= 7.0 for wait in waits) >= 5  # all but three, and two that were just about to be sent


def test_a_fault_ends_what_other_connections_wait_for(server: WikidataServer) -> None:
    server.faults = [(404, {}, b"")]
    patient = replace(settings(server, connections=2, requests_per_minute=1.0), sleep=None, clock=time.monotonic)
    began = time.monotonic()
    with ApiClient(patient) as client, pytest.raises(WikidataError, match="HTTP 404"):
        list(at_once(2, lambda qid: client.entities([qid], ["en"]), ["Q5"] * 9, client.stop))
    assert time.monotonic() - began < 20  # the second one had a minute to wait
    assert len(server.requests) == 1


def test_what_came_before_a_fault_is_handed_over() -> None:
    gate, taken = threading.Barrier(2), []

    def work(task: int) -> int:
        gate.wait()
        if task == 0:
            raise WikidataError("no")
        return task

    with pytest.raises(WikidataError):
        taken.extend(at_once(2, work, [0, 1], lambda: None))
    assert taken in ([], [(1, 1)])  # as it came


def test_closing_the_iterator_stops_running_tasks() -> None:
    stopped = threading.Event()
    results = at_once(2, lambda task: stopped.wait(30) if task else True, [0, 1, 2], stopped.set)
    assert next(results) == (0, True)
    results.close()
    assert stopped.is_set()


DATED: Fault = (
    503,
    {"Date": "Fri, 10 Apr 2026 22:30:12 GMT", "Retry-After": "Fri, 10 Apr 2026 22:30:42 GMT"},
    b"busy",
)
MAXLAG_503: Fault = (503, {"Retry-After": "9"}, MAXLAG_200[2])
LAGGING: Fault = (200, {}, b'{"error": {"code": "maxlag", "info": "lagged", "lag": 0.1}}')
FAR_BEHIND: Fault = (200, {}, b'{"error": {"code": "maxlag", "info": "lagged", "lag": 86400}}')
LIMITED: Fault = (200, {"Retry-After": "12"}, b'{"error": {"code": "ratelimited", "info": "slow down"}}')
BROKEN_INSIDE: Fault = (200, {}, b'{"error": {"code": "internal_api_error_DBQueryError", "info": "oops"}}')
A_LIST: Fault = (200, {}, b"[]")
OF_ANOTHER_QUESTION: Fault = (200, {}, b'{"batchcomplete": "", "query": {"search": []}}')
WITHOUT_THE_ITEM: Fault = (200, {}, b'{"entities": {"-1": {"site": "dewiki", "title": "x", "missing": ""}}}')
NO_ITEM: Fault = (200, {}, b'{"entities": {"Q5": {"type": "mediainfo", "id": "M5"}}}')
ODD: Fault = (200, {}, b'{"entities": {"Q5": {"type": "item", "id": "Q5", "claims": {"P31": [{"rank": 1}]}}}}')
NONSENSE_IN_ERROR: Fault = (200, {}, b'{"error": "out of order"}')


@pytest.mark.parametrize(
    ("fault", "wait"),
    [
        (MAXLAG_200, 6.1),
        (MAXLAG_503, 9.0),
        (LAGGING, 5.0),
        (FAR_BEHIND, 60.0),
        (TOO_MANY, 7.0),
        (DATED, 30.0),
        (LIMITED, 12.0),
        (UNAVAILABLE, 1.0),
        (BROKEN_INSIDE, 1.0),
        (HTML, 1.0),
        (CUT_OFF, 1.0),
        (A_LIST, 1.0),
        (truncated, 1.0),
        (reset, 1.0),
        (slow, 1.0),
        (WITHOUT_THE_ITEM, 1.0),
    ],
)
def test_a_service_in_trouble_is_waited_for(server: WikidataServer, fault: Fault, wait: float) -> None:
    server.faults = [fault, fault]
    time = Time()
    with ApiClient(settings(server, time, timeout=0.5)) as client:
        found = client.entities(["Q5"], ["en"])
    assert found["Q5"] is not None
    assert found["Q5"]["labels"]["en"]["value"] == "human"
    assert len(time.pauses) == 2
    assert min(time.pauses) >= wait
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("fault", "tries", "says"),
    [
        (MAXLAG_200, 8, "maxlag"),
        (TOO_MANY, 8, "HTTP 429"),
        (reset, 8, "does not answer"),
        (truncated, 8, "does not answer"),
        (HTML, 3, "does not send JSON"),
        (A_LIST, 3, "does not send JSON"),
        (OF_ANOTHER_QUESTION, 3, "does not fit the request"),
        (WITHOUT_THE_ITEM, 3, "does not fit the request"),
        (NO_ITEM, 3, "does not fit the request"),
        (ODD, 3, "does not fit the request"),
        (NONSENSE_IN_ERROR, 1, "refuses: : out of order"),
        ((404, {}, b"{}"), 1, "HTTP 404"),
        ((403, {"Content-Type": "text/html"}, b"<h1>Forbidden</h1>"), 1, "HTTP 403"),
        ((429, {"Retry-After": "86400"}, b""), 1, "asks to wait 86400 seconds"),
    ],
)
def test_a_service_that_stays_away_ends_in_one_line(
    server: WikidataServer, fault: Fault, tries: int, says: str
) -> None:
    server.faults = [fault] * 20
    with ApiClient(settings(server)) as client, pytest.raises(WikidataError, match=says) as error:
        client.entities(["Q5"], ["en"])
    assert len(server.requests) == tries
    assert server.url in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2


def test_an_answer_to_another_question_is_not_nothing_found(server: WikidataServer) -> None:
    server.faults = [OF_ANOTHER_QUESTION] * 3
    with ApiClient(settings(server)) as client, pytest.raises(WikidataError, match="does not fit the request"):
        client.search("en", "tea", lambda _: True)


def test_a_service_that_goes_on_for_ever_is_left(server: WikidataServer) -> None:
    page = json.dumps({"search": [{"id": "Q5"}], "search-continue": 1}).encode()
    server.faults = [(200, {}, page)] * 20
    with ApiClient(settings(server)) as client:
        assert client.search("en", "tea", lambda _: False) == ["Q5"]
    assert len(server.requests) == 2


def test_patience_is_kept_for_each_kind_of_fault(server: WikidataServer) -> None:
    server.faults = [TOO_MANY, TOO_MANY, HTML, TOO_MANY, HTML, TOO_MANY]
    with ApiClient(settings(server)) as client:
        assert client.entities(["Q5"], ["en"])["Q5"] is not None
    assert len(server.requests) == 7


def test_long_pauses_and_warnings_are_reported_once(server: WikidataServer) -> None:
    warning = {"warnings": {"wbgetentities": {"*": "Unrecognized value for parameter 'languages': xx\x1b[31m"}}}
    server.faults = [LIMITED] + [(200, {}, json.dumps({**server.answer(REQUEST), **warning}).encode())] * 2
    told: list[str] = []
    with ApiClient(settings(server, tell=told.append)) as client:
        assert client.entities(["Q5"], ["en"])["Q5"] is not None
        assert client.entities(["Q5"], ["en"])["Q5"] is not None
    assert told == [
        "The Wikidata service is busy (ratelimited: slow down): waiting 12 s",
        "The Wikidata service warns: wbgetentities: Unrecognized value for parameter 'languages': xx [31m",
    ]


REQUEST = {"action": "wbgetentities", "ids": "Q5", "languages": "en"}


def test_the_token_is_sent_and_never_printed(
    server: WikidataServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_TOKEN", "s3cr3t.t0ken\n")
    signed_in = source(server, tmp_path, token_env="MY_TOKEN")
    Linker(CATALOG, signed_in).link(QUERIES)
    assert {headers["Authorization"] for headers in server.headers} == {"Bearer s3cr3t.t0ken"}
    assert {request["assert"] for request in server.requests} == {"user"}
    told = [repr(signed_in.settings), str(signed_in.provenance), signed_in.identity, caplog.text]
    assert not [text for text in told if "s3cr3t" in text]
    assert not [file for file in tmp_path.iterdir() if b"s3cr3t" in file.read_bytes()]
    asked = len(server.requests)
    monkeypatch.delenv("MY_TOKEN")
    Linker(CATALOG, signed_in).link(QUERIES)  # asks nothing, so it needs no token
    assert len(server.requests) == asked
    monkeypatch.setenv("MY_TOKEN", "s3cr3t.t0ken")
    with WikidataServer([]) as elsewhere:
        server.faults = [moved_to(elsewhere.url)]
        with ApiClient(signed_in.settings) as client:
            assert client.entities(["Q5"], ["en"]) == {"Q5": None}
        assert "Authorization" not in elsewhere.headers[0]


def test_no_token_is_sent_without_the_setting(server: WikidataServer) -> None:
    with ApiClient(settings(server)) as client:
        client.entities(["Q5"], ["en"])
    assert "Authorization" not in server.headers[0]
    assert "assert" not in server.requests[0]


@pytest.mark.parametrize(
    "fault",
    [
        (401, {}, b'{"error": {"code": "mwoauth-invalid-authorization", "info": "Bearer s3cr3t is not valid"}}'),
        (200, {}, b'{"error": {"code": "assertuserfailed", "info": "You are no longer logged in: s3cr3t"}}'),
    ],
)
def test_a_wrong_token_is_one_line_that_does_not_hold_it(
    server: WikidataServer, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.faults = [fault]
    monkeypatch.setenv("MY_TOKEN", "s3cr3t")
    mine = settings(server, token_env="MY_TOKEN")
    with ApiClient(mine) as client, pytest.raises(WikidataError, match="Check the token in the environ") as error:
        client.entities(["Q5"], ["en"])
    assert "MY_TOKEN" in str(error.value)
    assert "s3cr3t" not in str(error.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"token_env": "MY_TOKEN", "endpoint": "http://example.org/w/api.php"}, "would be sent unencrypted"),
        ({"contact": "jos\u00e9@example.org"}, "characters that a User-Agent cannot hold"),
        ({"contact": "me@example.org\nX-Other: 1"}, "characters that a User-Agent cannot hold"),
        ({"contact": " "}, "requires a contact, and none is set"),
        ({"contact": "me"}, "'me' is neither an e-mail address nor a page"),
        ({"contact": "you@example"}, "neither an e-mail address nor a page"),
    ],
)
def test_settings_that_cannot_be_sent_are_refused(tmp_path: Path, changed: dict[str, Any], says: str) -> None:
    wrong = replace(ApiSettings("me@example.org"), **changed)
    with pytest.raises(WikidataError, match=says):
        ApiSource(wrong, tmp_path / "c.sqlite", LANGUAGES)


@pytest.mark.parametrize(
    ("token", "says"),
    [
        (None, "MY_TOKEN, which should hold an access token, is not set"),
        (" ", "MY_TOKEN, which should hold an access token, is not set"),
        ("two s3crets", "MY_TOKEN holds no access token"),
        ("s3cr\u00e9t", "MY_TOKEN holds no access token"),
    ],
)
def test_an_invalid_token_is_refused_at_the_first_request(
    server: WikidataServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str | None, says: str
) -> None:
    """Not earlier: a machine that only samples needs no token."""
    monkeypatch.delenv("MY_TOKEN", raising=False)
    if token is not None:
        monkeypatch.setenv("MY_TOKEN", token)
    signed_in = source(server, tmp_path, token_env="MY_TOKEN")
    with pytest.raises(WikidataError, match=says) as error:
        Linker(CATALOG, signed_in).link(QUERIES)
    assert "s3cr" not in str(error.value)
    assert not server.requests


def test_what_was_answered_is_kept_when_the_service_goes_away(server: WikidataServer, tmp_path: Path) -> None:
    server.faults = []
    first = queries(("en", "food", "dish", "miso soup"))
    Linker(CATALOG, source(server, tmp_path)).link(first)
    server.faults = [UNAVAILABLE] * 20
    before = len(server.requests)
    with pytest.raises(WikidataError, match="again later to resume"):
        Linker(CATALOG, source(server, tmp_path)).link(QUERIES)
    server.faults = []
    Linker(CATALOG, source(server, tmp_path)).link(first)
    assert len(server.requests) == before + 8


KILLED = """
import sys
from pathlib import Path
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.source import ApiSource
from polyculture.link.linker import Linker
from tests.link_world import CATALOG, LANGUAGES
from tests.link.test_api import QUERIES
settings = ApiSettings("test@example.org", sys.argv[1], requests_per_minute=60_000, connections=int(sys.argv[3]))
Linker(CATALOG, ApiSource(settings, Path(sys.argv[2]), LANGUAGES)).link(QUERIES)
"""


@pytest.mark.parametrize("connections", [1, 3])
@pytest.mark.parametrize("after", [4, 14])
def test_a_killed_run_requests_only_the_rest(
    server: WikidataServer, tmp_path: Path, connections: int, after: int
) -> None:
    server.delay = 0.1
    command = [sys.executable, "-c", KILLED, server.url, str(tmp_path / "cache.sqlite"), str(connections)]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    while len(server.requests) < after and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    asked, server.delay = len(server.requests), 0.0
    resumed = Linker(CATALOG, source(server, tmp_path)).link(QUERIES)
    assert process.returncode == -signal.SIGKILL
    assert asked >= after
    before, later = map(_questions, (server.requests[:asked], server.requests[asked:]))
    assert sum(bool(question & set().union(*later)) for question in before) <= connections  # answers on their way
    with WikidataServer([*CLASSES, *ITEMS], redirects={"Q99": "Q40050"}) as fresh:
        whole = Linker(CATALOG, source(fresh, tmp_path / "fresh")).link(QUERIES)
        assert set().union(*before) | set().union(*later) == set().union(*_questions(fresh.requests))
    assert all(resumed[name].equals(whole[name]) for name in TABLES)


def _questions(requests: list[dict[str, str]]) -> list[set[str]]:
    """The content of each request: a name, over all its pages, or some items."""
    asked = [{f"{r['language']} {r['search']}"} if "search" in r else set(r["ids"].split("|")) for r in requests]
    return [question for position, question in enumerate(asked) if question not in asked[:position]]


def test_no_network_is_one_line(tmp_path: Path) -> None:
    nobody = ApiSettings("me@example.org", "http://127.0.0.1:9/w/api.php", sleep=lambda _: None)
    with pytest.raises(WikidataError, match="does not answer"):
        Linker(CATALOG, ApiSource(nobody, tmp_path / "c.sqlite", LANGUAGES)).link(QUERIES)


def test_missing_merged_and_impossible_items(server: WikidataServer) -> None:
    with ApiClient(settings(server)) as client:
        found = client.entities(["Q99", "Q40050", "Q404", "Q5"], ["en"])
        spoilt = client.entities(["Q5", "Q0"], ["en"])
    assert found["Q404"] is None
    assert found["Q99"] is not None
    assert found["Q99"]["id"] == "Q40050"
    assert found["Q99"]["redirects"] == {"from": "Q99", "to": "Q40050"}
    assert found["Q40050"] is not None
    assert "redirects" not in found["Q40050"]
    assert spoilt["Q0"] is None
    assert spoilt["Q5"] is not None


def test_a_class_that_was_found_by_name_is_climbed_from_too(server: WikidataServer, tmp_path: Path) -> None:
    """Regression: a hit without the exact name counted as expanded, and its classes were never fetched."""
    world = [
        item("Q600", "Miso dish of the north", P279="Q601"),
        item("Q601", "regional dish", P279="Q746549"),
        item("Q602", "miso", P31="Q600"),
    ]
    row = queries(("en", "food", "dish", "miso"))
    with WikidataServer([*CLASSES, *world]) as service:
        by_api = Linker(CATALOG, source(service, tmp_path), EXACT).link(row)
    (tmp_path / "index").mkdir()
    by_index = Linker(CATALOG, index_of(tmp_path / "index", world), EXACT).link(row)
    assert by_api["links"].to_pylist()[0]["path"] == ["Q600", "Q601", "Q746549"]
    assert all(compared(by_api[name]).equals(compared(by_index[name])) for name in TABLES)


def test_requests_are_batched_over_the_whole_run(server: WikidataServer, tmp_path: Path) -> None:
    """Regression: batches were filled before the cache was read, so that cached items made them small."""
    with AnswerCache(tmp_path / "cache.sqlite", server.url) as cache, ApiClient(settings(server)) as client:
        kept = client.entities([f"Q{number}" for number in range(200, 320, 3)], LANGUAGES)
        cache.keep_entities(kept, LANGUAGES)
    server.requests = []
    Linker(CATALOG, source(server, tmp_path)).link(queries(("en", "food", "dish", "bar")))
    sizes = [len(r["ids"].split("|")) for r in server.requests if r["action"] == "wbgetentities"]
    assert sizes[0] == 50
    assert sum(sizes[:2]) == 81  # 121 items of that name, 40 of which are known


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


def test_searches_and_missing_items_expire(tmp_path: Path) -> None:
    now, bare = [1_000.0], {code: list[Any]() for code in PROPERTIES}
    with AnswerCache(tmp_path / "c.sqlite", "here", clock=lambda: now[0]) as cache:
        cache.keep_search("en", "tea", ["Q6"])
        cache.keep_entities({"Q1": {"id": "Q1", "claims": bare}, "Q2": None}, ["en"])
        now[0] += 29 * DAY
        assert cache.searches("en", ["tea"]) == {"tea": ["Q6"]}
        assert cache.entities(["Q1", "Q2"], ["en"]).keys() == {"Q1", "Q2"}
        now[0] += 2 * DAY
        assert cache.searches("en", ["tea"]) == {"tea": ["Q6"]}
        assert cache.entities(["Q1", "Q2"], ["en"]).keys() == {"Q1"}
        now[0] += 60 * DAY
        assert cache.searches("en", ["tea"]) == {}
        assert cache.entities(["Q1", "Q2"], ["en"]).keys() == {"Q1"}


def test_cached_items_without_a_needed_property_are_requested_again(tmp_path: Path) -> None:
    with AnswerCache(tmp_path / "c.sqlite", "here") as cache:
        cache.keep_entities({"Q1": {"id": "Q1", "claims": {"P31": []}}, "Q2": {"id": "Q2", "claims": []}}, ["en"])
        assert cache.entities(["Q1", "Q2"], ["en"]) == {}


def no_database(path: Path) -> None:
    path.write_bytes(b"this is no database " * 100)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scribbled_over(path: Path) -> None:
    """The first page is intact: the file opens, and is damaged further in."""
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))


@pytest.mark.parametrize("damage", [no_database, cut_short, scribbled_over])
def test_a_damaged_cache_is_set_aside_rebuilt_and_reported(
    server: WikidataServer, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "cache.sqlite"
    first = Linker(CATALOG, source(server, tmp_path)).link(QUERIES)
    asked = len(server.requests)
    damage(path)
    damaged = path.read_bytes()
    told: list[str] = []
    again = source(server, tmp_path, tell=told.append)
    rebuilt = Linker(CATALOG, again).link(QUERIES)
    assert all(first[name].equals(rebuilt[name]) for name in TABLES)
    assert again.set_aside == tmp_path / "cache.sqlite.broken-1"
    assert again.set_aside.read_bytes()[4096:] == damaged[4096:]  # in the first page it counts who opened it
    assert told == [f"{path}: the Wikidata cache was damaged: kept as cache.sqlite.broken-1; a new one begins"]
    assert len(server.requests) == 2 * asked
    Linker(CATALOG, source(server, tmp_path)).link(QUERIES)
    assert len(server.requests) == 2 * asked


def test_an_unreadable_answer_is_requested_again(server: WikidataServer, tmp_path: Path) -> None:
    Linker(CATALOG, source(server, tmp_path)).link(QUERIES)
    with sqlite3.connect(tmp_path / "cache.sqlite") as connection:
        connection.execute("UPDATE entities SET entity = '{\"id\": ' WHERE qid = 'Q11'")
        connection.execute("UPDATE searches SET items = '[' WHERE term = 'Misoshiru'")
    connection.close()
    server.requests = []
    links = Linker(CATALOG, source(server, tmp_path)).link(QUERIES)["links"]
    assert [request.get("search") or request["ids"] for request in server.requests] == ["Misoshiru", "Q11"]
    assert links.column("status").to_pylist().count("linked") == 7


def test_revision_and_time_are_kept(server: WikidataServer, tmp_path: Path) -> None:
    world = [
        *CLASSES,
        {**item("Q7", "soup", P31="Q746549"), "lastrevid": 2479872432, "modified": "2026-04-09T19:34:48Z"},
    ]
    began = time.time()
    with WikidataServer(world) as service:
        found = Linker(CATALOG, source(service, tmp_path)).link(queries(("en", "food", "dish", "soup")))
    assert found["entities"].to_pylist()[0]["revision"] == 2479872432
    with sqlite3.connect(tmp_path / "cache.sqlite") as connection:
        row = connection.execute("SELECT revision, fetched, entity FROM entities WHERE qid = 'Q7'").fetchone()
        (searched,) = connection.execute("SELECT fetched FROM searches WHERE term = 'soup'").fetchone()
    connection.close()
    assert row[0] == 2479872432
    assert began <= searched <= row[1] <= time.time()
    assert json.loads(row[2])["modified"] == "2026-04-09T19:34:48Z"


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
    Linker(CATALOG, source(server, tmp_path)).link(QUERIES)
    from polyculture.link.dumps.build import build_index

    with WikidataCache(tmp_path / "cache.sqlite", server.url) as cache:
        (tmp_path / "dump.json").write_text("\n".join(json.dumps(entity) for entity in cache.all_entities()) + "\n")
    built = build_index(tmp_path / "dump.json", tmp_path / "i.duckdb", LANGUAGES)
    assert built.counts.broken == 0
    with duckdb.connect(str(built.snapshot.path), read_only=True) as connection:
        found = connection.execute("SELECT name FROM names WHERE item = 11 AND language = 'ja'").fetchall()
        moved = connection.execute("FROM redirects").fetchall()
    assert found == [("味噌汁",)]
    assert moved == [(99, 40050)]


EXPERIMENT = """
name = "small"
models = ["openai:any"]
languages = ["en"]
topics = ["food"]
countries = ["IT"]
[link]
source = "api"
contact = "test@example.org"
"""


def test_an_experiment_holds_the_settings_of_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYCULTURE_CACHE", str(tmp_path))
    monkeypatch.delenv("MY_TOKEN", raising=False)
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    plain = plan_linking(open_workspace(file)).source
    assert isinstance(plain, ApiSource)
    assert (plain.settings.rate, plain.settings.concurrency, plain.settings.token_env) == (200, 1, None)
    with file.open("a", encoding="utf-8") as more:
        more.write("requests_per_minute = 90\nconnections = 2\ntoken_env = 'MY_TOKEN'\n")
    signed_in = plan_linking(open_workspace(file)).source
    assert isinstance(signed_in, ApiSource)
    assert (signed_in.settings.rate, signed_in.settings.concurrency) == (90, 2)
    assert signed_in.settings.token_env == "MY_TOKEN"
    assert signed_in.identity == plain.identity  # how fast it is asked changes no link


def test_a_plan_says_how_much_the_service_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT.replace("openai:any", "mock:m"), encoding="utf-8")
    planned = polyculture("plan", file, cwd=tmp_path, POLYCULTURE_CACHE=str(tmp_path))
    assert planned.returncode == 0, planned.stderr
    told = " ".join(planned.stdout.split())
    assert "3 requests per distinct name, 200 a minute at most: 15 minutes per 1,000 names" in told
    workspace = open_workspace(file)
    responses = len(workspace.prompts) * workspace.sampling.n
    names = round(5 * (3 * responses) ** 0.6)  # one language and topic
    assert f"here {3 * names:,} requests, {3 * names / 200:.0f} minutes" in told
    assert f"for some {names:,} distinct names. Assumed: 3 mentions a response" in told
    assert "polyculture wikidata pull exp.toml: a query per 100 items of the topics" in told
    assert "with --count it says how many there are" in told


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("connections = 0", "link.connections: must be 1 or more, not 0"),
        ("connections = 99", "link.connections: must be 16 or less, not 99"),
        ("connections = '2'", "link.connections: must be a whole number"),
        ("requests_per_minute = 0", "link.requests_per_minute: must be more than 0"),
        ("requests_per_minute = inf", "link.requests_per_minute: must be"),
        ("token_env = 'eyJ0.s3cr3t-token'", "link.token_env: is not the name of an environment variable"),
        ("token = 's3cr3t'", "unknown key 'link.token'. Did you mean 'token_env'?"),
        ("connection = 2", "unknown key 'link.connection'. Did you mean 'connections'?"),
        ("token_env = 'T'\nendpoint = 'http://example.org/'", "would be sent unencrypted"),
    ],
)
def test_a_mistake_in_the_settings_of_requests_is_one_line(tmp_path: Path, line: str, says: str) -> None:
    file = tmp_path / "exp.toml"
    file.write_text(f"{EXPERIMENT}{line}\n", encoding="utf-8")
    with pytest.raises(ExperimentError, match=re.escape(says)) as error:
        plan_linking(open_workspace(file))
    assert str(file) in str(error.value)
    assert "s3cr3t" not in str(error.value)
