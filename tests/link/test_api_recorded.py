"""Recorded answers of the real service, replayed by a local server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import WikidataError
from polyculture.link.api.client import ApiClient, ApiSettings
from tests.api_recordings import recorded_bodies, recorded_exchanges
from tests.wikidata_server import Answer, WikidataServer


@pytest.fixture
def server() -> Iterator[WikidataServer]:
    with WikidataServer([]) as running:
        yield running


@pytest.fixture(scope="module")
def bodies(shared_data: Path) -> dict[str, bytes]:
    return recorded_bodies(shared_data)


@pytest.fixture(scope="module")
def exchanges(shared_data: Path) -> dict[str, list[tuple[str, Answer]]]:
    found: dict[str, list[tuple[str, Answer]]] = {}
    for name, address, answer in recorded_exchanges(shared_data):
        found.setdefault(name, []).append((address, answer))
    return found


def client(server: WikidataServer, *answers: bytes | Answer) -> ApiClient:
    """A client of a service that gives these answers, one per request."""
    server.faults = [(200, {}, answer) if isinstance(answer, bytes) else answer for answer in answers]
    return ApiClient(ApiSettings("test@example.org", server.url, 60_000_000, sleep=lambda _: None))


def search(server: WikidataServer, *answers: bytes | Answer) -> list[str]:
    """The QIDs of a search."""
    with client(server, *answers) as asked:
        return asked.search("en", "some name")


def entities(server: WikidataServer, *qids: str, answers: list[bytes | Answer]) -> dict[str, Any]:
    with client(server, *answers) as asked:
        return asked.entities(qids, ["en", "fr"])


def test_a_hit_by_alias(server: WikidataServer, bodies: dict[str, bytes]) -> None:
    found = search(server, bodies["wbsearchentities-abc"])
    assert found[:2] == ["Q169889", "Q286874"]  # the label of the first is American Broadcasting Company
    assert search(server, bodies["search_alias"]) == ["Q4115189"]


def test_hits_by_label_and_in_another_language(server: WikidataServer, bodies: dict[str, bytes]) -> None:
    assert search(server, bodies["search_label"]) == ["Q36724", "Q17987270", "Q4818461"]
    found = search(server, bodies["search_crosslang"])
    assert found == ["Q3183295", "Q3666468", "Q47253"]  # the last by its name in Tagalog


@pytest.mark.parametrize("name", ["wbsearchentities-empty", "search_empty"])
def test_nothing_found(server: WikidataServer, bodies: dict[str, bytes], name: str) -> None:
    assert search(server, bodies[name]) == []


@pytest.mark.parametrize(
    ("name", "qid", "label"),
    [
        ("wbgetentites-Oliver-Kahn", "Q131261", "Oliver Kahn"),
        ("wbgetentities-Douglas-Adams", "Q42", "Douglas Adams"),
        ("wbgetentities-Q1", "Q1", "universe"),
    ],
)
def test_one_item(server: WikidataServer, bodies: dict[str, bytes], name: str, qid: str, label: str) -> None:
    (found,) = entities(server, qid, answers=[bodies[name]]).values()
    assert (found["id"], found["labels"]["en"]["value"]) == (qid, label)


def test_a_batch_with_an_item_that_is_missing_by_id(server: WikidataServer, bodies: dict[str, bytes]) -> None:
    found = entities(server, "Q6", "Q42", answers=[bodies["wbgetentities-Q6-Q42-P31"]])
    assert found["Q6"] is None
    assert found["Q42"]["lastrevid"] == 196015688
    assert found["Q42"]["modified"] == "2015-02-13T00:11:48Z"
    people = found["Q42"]["claims"]["P31"]
    assert [claim["mainsnak"]["datavalue"]["value"]["numeric-id"] for claim in people] == [5]


@pytest.mark.parametrize(
    ("name", "qid"), [("wbgetentities-missing-mid", "M91629437"), ("wbgetentities-virtual-Test.jpg", "M4215516")]
)
def test_missing_by_id(server: WikidataServer, bodies: dict[str, bytes], name: str, qid: str) -> None:
    assert entities(server, qid, answers=[bodies[name]]) == {qid: None}


def test_missing_by_title_is_no_answer_to_an_id(server: WikidataServer, bodies: dict[str, bytes]) -> None:
    with pytest.raises(WikidataError, match="does not fit the request"):
        entities(server, "Q42", answers=[bodies["wbgetentities-1234567890-missing"]] * 3)


@pytest.mark.parametrize(
    ("name", "qid"), [("wbgetentities-RandomImage.jpg", "M65057"), ("wbgetentities-titles", "M89")]
)
def test_what_is_no_item_is_none(server: WikidataServer, bodies: dict[str, bytes], name: str, qid: str) -> None:
    with pytest.raises(WikidataError, match="does not fit the request"):
        entities(server, qid, answers=[bodies[name]] * 3)


@pytest.mark.parametrize(
    ("name", "qid"), [("error", "Q0"), ("wbgetentities-bogus", "bogus"), ("no_such_entity", "pop")]
)
def test_no_such_entity_spoils_nothing_else(
    server: WikidataServer, bodies: dict[str, bytes], name: str, qid: str
) -> None:
    """Regression: an error without `id` marked the first item of the batch as missing, for thirty days."""
    found = entities(server, "Q1", qid, answers=[bodies[name], bodies["wbgetentities-Q1"]])
    assert found[qid] is None
    assert found["Q1"]["labels"]["en"]["value"] == "universe"
    assert [request["ids"] for request in server.requests] == [f"Q1|{qid}", "Q1"]


def test_a_redirect_gives_its_target_and_says_so(server: WikidataServer, bodies: dict[str, bytes]) -> None:
    found = entities(server, "Q32063953", answers=[bodies["wbgetentities-Q32063953"]])["Q32063953"]
    assert (found["id"], found["lastrevid"]) == ("Q1040", 619336121)
    assert found["redirects"] == {"from": "Q32063953", "to": "Q1040"}
    quoted = entities(server, "Q53265341", answers=[bodies["redirect_shape"]])["Q53265341"]
    assert (quoted["id"], quoted["redirects"]["from"]) == ("Q11036", "Q53265341")


@pytest.mark.parametrize("status", [200, 503])
@pytest.mark.parametrize("name", ["error-maxlag", "error-maxlag-full", "maxlag_live"])
def test_maxlag_is_waited_for(server: WikidataServer, bodies: dict[str, bytes], name: str, status: int) -> None:
    lagging: Answer = (status, {"Retry-After": "5"}, bodies[name])
    assert entities(server, "Q1", answers=[lagging, bodies["wbgetentities-Q1"]])["Q1"]["id"] == "Q1"
    assert len(server.requests) == 2


def test_an_answer_with_warnings_is_one(server: WikidataServer, bodies: dict[str, bytes]) -> None:
    warned = bodies["wbgetentities-Q1"].rstrip()[:-1] + b"," + bodies["warnings"].strip()[1:]
    assert entities(server, "Q1", answers=[warned])["Q1"]["id"] == "Q1"


Exchanges = dict[str, list[tuple[str, Answer]]]


def test_an_item_of_april_2026(server: WikidataServer, exchanges: Exchanges) -> None:
    ((_, answer),) = exchanges["find_by_id_Q65"]
    assert answer[1]["Transfer-Encoding"] == "chunked"
    found = entities(server, "Q65", answers=[answer])["Q65"]
    assert (found["labels"]["en"]["value"], found["lastrevid"]) == ("Los Angeles", 2479872432)
    assert found["modified"] == "2026-04-09T19:34:48Z"
    assert len(found["sitelinks"]) > 0
    ((_, answer),) = exchanges["find_by_title_Los_Angeles"]
    assert entities(server, "Q65", answers=[answer])["Q65"]["id"] == "Q65"


def test_a_batch_of_april_2026(server: WikidataServer, exchanges: Exchanges) -> None:
    _, (address, answer) = exchanges["search_Los_Angeles"]
    qids = address.split("ids=")[1].split("&")[0].split("%7C")
    found = entities(server, *qids, answers=[answer])
    assert list(found) == qids
    assert len(qids) == 10
    assert all(found[qid]["id"] == qid and found[qid]["claims"]["P31"] for qid in qids)


@pytest.mark.parametrize("name", ["search_Los_Angeles", "search_no_results"])
def test_an_answer_to_another_kind_of_search_is_not_nothing_found(
    server: WikidataServer, exchanges: Exchanges, name: str
) -> None:
    _, answer = exchanges[name][0]
    with pytest.raises(WikidataError, match="does not fit the request"):
        search(server, answer, answer, answer)


def test_a_title_that_was_not_found_in_april_2026_is_no_answer_to_an_id(
    server: WikidataServer, exchanges: Exchanges
) -> None:
    ((_, answer),) = exchanges["find_by_title_not_found"]
    with pytest.raises(WikidataError, match="does not fit the request"):
        entities(server, "Q65", answers=[answer] * 3)


def test_every_recording_is_replayed_here(bodies: dict[str, bytes], exchanges: Exchanges) -> None:
    """Every recording has a test that replays it."""
    tests = Path(__file__).read_text(encoding="utf-8")
    assert not [name for name in (*bodies, *exchanges) if f'"{name}"' not in tests]
