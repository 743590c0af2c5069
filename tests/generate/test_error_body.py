"""What servers say of errors, in bodies of any shape; and addresses with a query of their own."""

from __future__ import annotations

from typing import Any

import pytest

from polyculture.cache.work.faults import kind_of_error
from polyculture.generate.engines import Decoding, Message, ModelSpec, Request
from polyculture.generate.engines.error_body import NO_REASON, WEB_PAGE, named_wait, read_error
from polyculture.generate.engines.openai.engine import OpenAIEngine
from tests.servers import Reply, StubServer, failure

BODIES: list[tuple[bytes, str]] = [
    (b'{"error": {"message": "no"}}', "no"),
    (b'[{"error": {"code": 400, "message": "no"}}]', "no"),
    (b'{"error": "no"}', "no"),
    (b'{"message": "no"}', "no"),
    (b'{"detail": [{"loc": ["body"], "msg": "no"}]}', "no"),
    (b'{"errors": ["no", "never"]}', "no; never"),
    (b'{"error": {"error": {"message": "no"}}}', "no"),
    (b'{"fault": {"faultstring": "no"}}', "no"),
    (b'{"Message": "no"}', "no"),
    (b'"no"', "no"),
    (b"no", "no"),
    (b"<html>no</html>", WEB_PAGE),
    (b"", NO_REASON),
    (b"[]", NO_REASON),
    (b"null", NO_REASON),
]


@pytest.mark.parametrize(("body", "words"), BODIES)
def test_the_message_is_found_in_any_shape(body: bytes, words: str) -> None:
    assert read_error(body).words == words


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please retry in 1.2s.", 1.2),
        ("Rate limit reached. Please try again in 7m12s.", 432.0),
        ("Please try again in 850ms", 0.85),
        ("Please retry after 26 seconds.", 26.0),
        ("Please wait 1 minute and 30 seconds before the next request", 90.0),
        ("Your quota will reset after 1h16m27s.", 4587.0),
        ("In 30 seconds please try again", 30.0),
        ("您的请求过快，请在10秒后重试", 10.0),
        ("In 60 s 60 requests are allowed", None),
        ("60 requests per 60 s are allowed; retry 3 times", None),
        ("You exceeded your current quota", None),
    ],
)
def test_a_time_in_words_is_read(words: str, seconds: float | None) -> None:
    assert named_wait(words) == seconds


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (b'{"error": {"details": [{"@type": "RetryInfo", "retryDelay": "1.2s"}]}}', 1.2),
        (b'{"error": {"details": [{"retryDelay": {"seconds": 2}}]}}', 2.0),
        (b'{"retry_after": 20}', 20.0),
        (b'{"retry_after_ms": 850}', 0.85),
        (b'{"detail": {"wait_seconds": 9}}', 9.0),
        (b'{"error": "loading", "estimated_time": 20.5}', 20.5),
        (b'{"error": {"message": "upstream", "metadata": {"raw": "{\\"error\\": \\"retry in 5 s\\"}"}}}', 5.0),
        (b'{"wait": true, "reset_in": "soon"}', None),
        (b'{"retryAfter": "soon", "retry": 3}', None),
    ],
)
def test_a_time_in_a_field_is_read(body: bytes, seconds: float | None) -> None:
    assert read_error(body).wait == seconds


def request(seeds: int = 1) -> Request:
    return Request("a", (Message("user", "prompt"),), Decoding(), tuple(range(seeds)))


def test_an_error_in_a_list_is_read_under_http_200_too() -> None:
    reply = Reply(body=b'[{"error": {"code": 401, "message": "expired"}}]')
    with (
        StubServer(behaviour=lambda *_: reply) as server,
        OpenAIEngine(ModelSpec("openai:stub", {"base_url": server.url, "max_retries": 0})) as engine,
    ):
        [answer] = engine.sample([request()])
    assert kind_of_error(answer.error).name == "key"
    assert "expired" in str(answer.error)


def test_a_query_of_the_address_is_kept_on_every_call() -> None:
    def behaviour(_body: Any, before: int) -> Reply | None:
        return failure(503, retry_after="0.01") if before == 0 else None

    with (
        StubServer(behaviour=behaviour) as server,
        OpenAIEngine(ModelSpec("openai:stub", {"base_url": f"{server.url}?api-version=2024-10-21&x=a/b"})) as engine,
    ):
        assert [answer.error for answer in engine.sample([request()])] == [None]
        assert server.paths == ["/v1/chat/completions?api-version=2024-10-21&x=a/b"] * 2
