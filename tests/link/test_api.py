"""The client of the live service: the rules of requests, and faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from polyculture.cache.errors import WikidataError
from polyculture.link.api.client import ApiClient, ApiSettings
from tests.link_world import CLASSES
from tests.logs import logged
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
    with WikidataServer(CLASSES, redirects={"Q99": "Q40050"}) as running:
        yield running


def settings(server: WikidataServer, time: Time | None = None, **more: Any) -> ApiSettings:
    kept = time or Time()
    polite = {"requests_per_minute": 60_000, "sleep": kept.sleep, "clock": lambda: kept.now}
    return ApiSettings(**{"contact": "test@example.org", "endpoint": server.url, **polite, **more})


def test_it_keeps_the_rate(server: WikidataServer) -> None:
    time = Time()
    with ApiClient(settings(server, time, requests_per_minute=200)) as client:
        for _ in range(401):
            client.entities(["Q5"], ["en"])
    assert len(server.requests) == 401
    assert time.now == pytest.approx(120.0)  # 200 a minute


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
        (NONSENSE_IN_ERROR, 3, "refuses: out of order.*Check the address"),
        ((200, {}, b'{"error": {"code": "unheard-of", "info": "no"}}'), 3, "refuses: unheard-of: no"),
        ((408, {}, b""), 8, "HTTP 408"),
        ((404, {}, b"{}"), 1, "HTTP 404"),
        ((403, {"Content-Type": "text/html"}, b"<h1>Forbidden</h1>"), 1, "HTTP 403"),
        ((429, {"Retry-After": "86400"}, b""), 1, "asks to wait 24.0 hours.*again after that"),
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
        client.search("en", "tea")


def test_patience_is_kept_for_each_kind_of_fault(server: WikidataServer) -> None:
    server.faults = [TOO_MANY, TOO_MANY, HTML, TOO_MANY, HTML, TOO_MANY]
    with ApiClient(settings(server)) as client:
        assert client.entities(["Q5"], ["en"])["Q5"] is not None
    assert len(server.requests) == 7


def test_long_pauses_are_reported(server: WikidataServer) -> None:
    server.faults = [LIMITED]
    with logged() as told, ApiClient(settings(server)) as client:
        assert client.entities(["Q5"], ["en"])["Q5"] is not None
    assert told == ["The Wikidata service is busy (ratelimited: slow down): waiting 12 s"]


def test_missing_merged_and_impossible_items(server: WikidataServer) -> None:
    with ApiClient(settings(server)) as client:
        found = client.entities(["Q99", "Q40050", "Q404", "Q5"], ["en"])
        spoilt = client.entities(["Q5", "Q0"], ["en"])
    assert found["Q404"] is None
    assert found["Q99"]["id"] == "Q40050"
    assert found["Q99"]["redirects"] == {"from": "Q99", "to": "Q40050"}
    assert found["Q40050"] is not None
    assert "redirects" not in found["Q40050"]
    assert spoilt["Q0"] is None
    assert spoilt["Q5"] is not None


@pytest.mark.parametrize("limit", ["most_ids", "most_sent"])
def test_a_service_that_takes_or_sends_fewer_items_is_asked_more_often(server: WikidataServer, limit: str) -> None:
    setattr(server, limit, 3)
    with ApiClient(settings(server)) as client:
        found = client.entities([*server.entities, "Q404"], ["en"])
    assert {qid for qid, entity in found.items() if entity} == server.entities.keys()
    assert found["Q404"] is None
    assert len(server.requests) <= len(found) / 3 + 5


def test_items_that_are_too_large_together_come_apart(server: WikidataServer) -> None:
    large = {f"{number}wiki": {} for number in range(2_000)}  # 26 kB
    server.entities |= {qid: {**server.entities[qid], "sitelinks": large} for qid in ("Q5", "Q2095")}
    with ApiClient(settings(server, megabytes=0.04)) as client:
        assert all(client.entities([*server.entities], ["en"]).values())
    with ApiClient(settings(server, megabytes=0.02)) as client, pytest.raises(WikidataError, match="larger than"):
        client.entities(["Q5"], ["en"])


def test_hits_that_are_no_items_are_left_out(server: WikidataServer) -> None:
    page = json.dumps({"search": [{"id": "L5"}, {"id": "L5-F1"}, {"id": "Q5"}, {"id": "P31"}]}).encode()
    server.faults = [(200, {}, page)]
    with ApiClient(settings(server)) as client:
        assert client.search("en", "human") == ["Q5"]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"contact": "jos\u00e9@example.org"}, "characters that a User-Agent cannot hold"),
        ({"contact": "me@example.org\nX-Other: 1"}, "characters that a User-Agent cannot hold"),
        ({"contact": " "}, "requires a contact, and none is given"),
        ({"contact": "me"}, "'me' is neither an e-mail address nor a page"),
        ({"contact": "you@example"}, "neither an e-mail address nor a page"),
    ],
)
def test_settings_that_cannot_be_sent_are_refused(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(WikidataError, match=says):
        ApiClient(replace(ApiSettings("me@example.org"), **changed))


def test_a_redirect_is_followed(server: WikidataServer) -> None:
    with WikidataServer([]) as elsewhere, ApiClient(settings(server)) as client:
        server.faults = [moved_to(elsewhere.url)]
        assert client.entities(["Q5"], ["en"]) == {"Q5": None}
        assert len(elsewhere.requests) == 1
