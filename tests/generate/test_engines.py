"""The openai engine against a real local server that answers, or misbehaves as it is told; and the engines' door."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from polyculture.cache.errors import EngineError
from polyculture.cache.network.async_runner import Background
from polyculture.generate.engines import Completion, Decoding, Message, ModelSpec, Request, open_engine
from polyculture.generate.engines.openai.engine import OpenAIEngine
from polyculture.generate.engines.openai.faults import RequestError
from tests.servers import RESET, TRUNCATED, Reply, StubServer, answer_text, failure

KEY = "sk-very-secret-1234567890"
PROMPT = "Write a short paragraph."


class Clock:
    """A sleep that does not, and remembers what it was asked."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


def request(count: int = 1, text: str = PROMPT, first: int = 10, **decoding: Any) -> Request:
    return Request(text, (Message("user", text),), Decoding(**decoding), tuple(range(first, first + count)))


def ask(
    server: StubServer, *asked: Request, requests: Iterable[Request] = (), clock: Clock | None = None, **options: Any
) -> list[Completion]:
    spec = ModelSpec("openai:stub", {"base_url": server.url, **options})
    with OpenAIEngine(spec, sleep=clock or Clock()) as engine:
        return list(engine.sample(asked or requests or [request()]))


def always(reply: Reply) -> StubServer:
    return StubServer(behaviour=lambda *_: reply)


def once(reply: Reply) -> StubServer:
    return StubServer(behaviour=lambda _, before: reply if before == 0 else None)


def test_an_answer_carries_text_reason_tokens_and_version() -> None:
    with StubServer() as server:
        found = ask(server, request(3))
    assert {c.seed: c.text for c in found} == {seed: answer_text(PROMPT, seed) for seed in (10, 11, 12)}
    assert found[0].request_id == PROMPT
    assert (found[0].finish_reason, found[0].prompt_tokens, found[0].completion_tokens) == ("stop", 7, 5)
    assert (found[0].model_version, found[0].error, found[0].retryable) == ("stub fp_stub", None, False)


def test_what_is_sent_is_what_was_asked() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    with StubServer() as server:
        ask(
            server,
            request(temperature=0.5, top_p=0.8, top_k=7, max_tokens=33, schema=schema),
            extra_body={"min_p": 0.1},
        )
    body = server.bodies[0]
    assert body["messages"] == [{"role": "user", "content": PROMPT}]
    assert (body["model"], body["seed"], body["temperature"], body["top_p"]) == ("stub", 10, 0.5, 0.8)
    assert (body["top_k"], body["max_tokens"], body["min_p"]) == (7, 33, 0.1)
    assert body["response_format"]["json_schema"]["schema"] == schema


def test_openai_itself_is_not_sent_what_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    engine = OpenAIEngine(ModelSpec("openai:gpt-4o-mini"))
    body = engine._api.body(request(max_tokens=33))
    assert "top_k" not in body
    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 33


RETRIED = [
    pytest.param(failure(429), id="rate limit"),
    pytest.param(failure(500), id="server error"),
    pytest.param(Reply(503, b"<html>Bad gateway</html>", content_type="text/html"), id="gateway's page"),
    pytest.param(RESET, id="reset"),
    pytest.param(TRUNCATED, id="truncated JSON"),
    pytest.param(Reply(body=b'{"error": {"message": "overloaded"}}'), id="error as 200"),
    pytest.param(Reply(body=b"[]"), id="not an object"),
    pytest.param(Reply(body=b'{"choices": [{"message": "hello"}]}'), id="another shape"),
]


@pytest.mark.parametrize("reply", RETRIED)
def test_a_fault_that_passes_is_retried(reply: Reply) -> None:
    with once(reply) as server:
        found = ask(server, request(5))
        assert [c.error for c in found] == [None] * 5
        assert len(server.asked) == 10


def test_retry_after_is_honoured_and_backoff_grows_without_it() -> None:
    clock = Clock()
    with once(failure(429, retry_after="7")) as server:
        ask(server, clock=clock)
    assert clock.slept == [7.0]
    clock = Clock()
    with always(failure(500)) as server:
        ask(server, clock=clock, max_retries=6)
    assert len(clock.slept) == 6
    assert all(0 <= slept <= 2**attempt for attempt, slept in enumerate(clock.slept))


def test_a_wait_longer_than_a_run_should_bear_is_left_to_a_later_one() -> None:
    clock = Clock()
    with always(failure(429, "come back tomorrow", retry_after="86400")) as server:
        found = ask(server, clock=clock)
        assert len(server.asked) == 1
    assert clock.slept == []
    assert found[0].retryable


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_fails_each_answer_at_once_and_is_never_shown(
    status: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", KEY)
    with always(failure(status, f"Incorrect API key provided: {KEY}")) as server:
        found = ask(server, request(20), api_key_env="MY_KEY")
        assert len(server.asked) == 20
    assert {(c.error, c.retryable) for c in found} == {(f"HTTP {status}: Incorrect API key provided: ***", True)}
    assert KEY not in caplog.text
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_local_server_that_wants_a_key_says_where_to_name_it() -> None:
    server = OpenAIEngine(ModelSpec("openai:x", {"base_url": "http://127.0.0.1:9/v1"}))._api.server
    told = str(server.ended(RequestError("HTTP 401: no", status=401)))
    assert told.startswith("http://127.0.0.1:9/v1: refuses the API key (HTTP 401: no)")
    assert "in the option api_key_env" in told


def test_a_key_copied_with_its_line_end_is_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", f"{KEY}\n")
    with StubServer() as server:
        assert ask(server, api_key_env="MY_KEY")[0].error is None
    monkeypatch.setenv("MY_KEY", "sk-…")
    with pytest.raises(EngineError, match=r"MY_KEY.*character"):
        open_engine(ModelSpec("openai:x", {"api_key_env": "MY_KEY"}))


def test_a_local_server_is_not_shown_the_key_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with StubServer() as server:
        ask(server)
    assert KEY not in str(server.headers)


def test_a_missing_key_is_told_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EngineError, match=r"environment.*OPENAI_API_KEY"):
        open_engine(ModelSpec("openai:gpt-4o-mini"))
    with pytest.raises(EngineError, match="DEEPSEEK_KEY"):
        open_engine(ModelSpec("openai:x", {"base_url": "https://api.deepseek.com", "api_key_env": "DEEPSEEK_KEY"}))


def test_nobody_at_the_port_is_one_line() -> None:
    with StubServer() as server:
        url = server.url
    with (
        OpenAIEngine(ModelSpec("openai:stub", {"base_url": url})) as engine,
        pytest.raises(EngineError, match=f"{url}: cannot be reached: the port is closed. Is the server running there"),
    ):
        list(engine.sample([request(100)]))


def test_a_host_that_does_not_exist_is_one_line() -> None:
    with (
        OpenAIEngine(ModelSpec("openai:stub", {"base_url": "http://nowhere.invalid/v1"})) as engine,
        pytest.raises(EngineError, match=r"nowhere\.invalid/v1.*reached"),
    ):
        list(engine.sample([request()]))


def test_a_proxy_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with StubServer() as server:
        address = server.url.removesuffix("/v1")
    monkeypatch.setenv("ALL_PROXY", address)
    for name in ("NO_PROXY", "no_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    with (
        OpenAIEngine(ModelSpec("openai:stub", {"base_url": "http://192.0.2.1/v1", "max_retries": 0})) as engine,
        pytest.raises(EngineError, match=r"the proxy of ALL_PROXY cannot be reached.*unset it"),
    ):
        list(engine.sample([request()]))


def test_answers_through_a_proxy_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client has a transport of its own for each of the environment's proxies."""
    bodies = {"small": b'{"choices": [{"message": {"content": "Tea."}, "finish_reason": "stop"}]}'}
    bodies["large"] = bodies["small"] + b" " * 17 * 1024**2
    with StubServer(behaviour=lambda body, _: Reply(body=bodies[body["messages"][-1]["content"]])) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        for name in ("NO_PROXY", "no_proxy", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        spec = ModelSpec("openai:stub", {"base_url": "http://192.0.2.1/v1", "max_retries": 0})
        asked = [Request(name, (Message("user", name),), Decoding(), (1,)) for name in bodies]
        with OpenAIEngine(spec) as engine:
            found = {answer.request_id: answer for answer in engine.sample(asked)}
        assert set(proxy.paths) == {"http://192.0.2.1/v1/chat/completions"}
    assert found["small"].text == "Tea."
    assert "16 MiB" in (found["large"].error or "")


def test_a_server_that_goes_away_is_waited_for_and_then_ends_the_work() -> None:
    clock = Clock()
    with StubServer() as server:
        engine = OpenAIEngine(ModelSpec("openai:stub", {"base_url": server.url, "max_retries": 3}), sleep=clock)
        with engine:
            assert len(list(engine.sample([request()]))) == 1
            server.close()
            with pytest.raises(EngineError, match="cannot be reached"):
                list(engine.sample([request()]))
    assert len(clock.slept) == 3


FINAL = [
    pytest.param(failure(400, "no such parameter"), None, id="400 with a reason"),
    pytest.param(failure(422, "no such parameter"), None, id="422"),
    pytest.param(failure(413, "the prompt is too long"), None, id="context length"),
    pytest.param(failure(403, "no", code="content_policy_violation"), "withheld", id="content policy"),
]


@pytest.mark.parametrize(("reply", "ending"), FINAL)
def test_only_a_request_s_own_faults_are_final(reply: Reply, ending: str | None) -> None:
    with always(reply) as server:
        [found] = ask(server)
        assert len(server.asked) == 1
    assert (found.retryable, found.ending) == (False, ending)


def test_an_iterator_that_is_left_leaves_nothing_running() -> None:
    with StubServer(latency=0.2) as server:
        with OpenAIEngine(ModelSpec("openai:stub", {"base_url": server.url, "concurrency": 4})) as engine:
            next(engine.sample([request(100)]))
            list(engine.sample([request(2, "another")]))
        asked = len(server.asked)
        time.sleep(0.5)
        assert len(server.asked) == asked


def test_two_jobs_can_share_an_engine() -> None:
    with (
        StubServer(latency=0.01) as server,
        OpenAIEngine(ModelSpec("openai:stub", {"base_url": server.url, "concurrency": 4})) as engine,
    ):
        found = [
            answer for pair in zip(*(engine.sample([request(20, t)]) for t in "ab"), strict=True) for answer in pair
        ]
    assert sorted((c.request_id, c.seed) for c in found) == sorted((t, s) for t in "ab" for s in range(10, 30))
    assert server.most_in_flight <= 4


def test_a_fault_in_the_callers_requests_is_raised_and_nothing_hangs() -> None:
    def requests() -> Iterator[Request]:
        yield request()
        raise KeyError("the caller's own")

    with StubServer() as server, pytest.raises(KeyError, match="the caller's own"):
        ask(server, requests=requests())


def test_background_work_that_raises_comes_after_what_had_finished() -> None:
    async def work(number: int) -> int:
        if number == 3:
            raise ValueError("three")
        return number

    background = Background("test")
    answers = background.map_unordered(work, range(100), workers=1)
    assert [next(answers), next(answers), next(answers)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(answers)
    background.close()


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (ModelSpec("opnai:gpt"), "unknown engine 'opnai' in 'opnai:gpt'. Did you mean 'openai'"),
        (ModelSpec("gpt-4o-mini"), "names no engine"),
        (ModelSpec("claude-sonnet-4"), "Of a service: 'openai:claude-sonnet-4', with its base_url"),
        (ModelSpec("openai:"), "names no model"),
        (ModelSpec("transformers:org/model", {"dtyp": "float16"}), "dtype"),
        (ModelSpec("openai:x", {"base_ur": "http://localhost"}), "unknown key 'base_ur'. Did you mean 'base_url'"),
        (ModelSpec("openai:x", {"base_url": "localhost:8000"}), "options of openai:x: base_url"),
        (ModelSpec("openai:x", {"concurrency": 0}), "concurrency: must be 1 or more, not 0"),
    ],
)
def test_a_mistake_in_a_model_is_one_line(spec: ModelSpec, told: str) -> None:
    with pytest.raises(EngineError) as error:
        open_engine(spec)
    assert told in str(error.value)
    assert "\n" not in str(error.value)
