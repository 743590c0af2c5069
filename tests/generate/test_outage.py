"""How long a request to a failing service is repeated; and the few answers that a service is asked for first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any, Self

import pytest

from polyculture.cache.errors import SystematicFaultError
from polyculture.cache.work.faults import StopLimits, fault_table
from polyculture.cache.work.outage import LONGEST_WAIT, Outage
from polyculture.cache.work.stop_rule import StopRule
from polyculture.generate.admission import admitted
from polyculture.generate.engines import ModelSpec
from polyculture.generate.engines.base import (
    Completion,
    Decoding,
    Message,
    Request,
)
from polyculture.generate.engines.capabilities import SAMPLING
from polyculture.generate.engines.models import Wrapper
from polyculture.generate.engines.openai.engine import OpenAIEngine
from polyculture.generate.engines.openai.faults import RequestError
from tests.servers import Reply, StubServer, failure

FAULTS = fault_table().stop.answers


def requests(prompts: int, seeds: int) -> list[Request]:
    return [
        Request(str(number), (Message("user", f"Prompt {number}"),), Decoding(), tuple(range(seeds)))
        for number in range(prompts)
    ]


def patient(server: StubServer, **options: Any) -> OpenAIEngine:
    return OpenAIEngine(
        ModelSpec("openai:stub", {"base_url": server.url, "concurrency": 4, "max_retries": 50, **options})
    )


def test_a_request_is_given_up_after_so_many_minutes_however_many_tries_are_left() -> None:
    with (
        StubServer(behaviour=lambda *_: failure(500, "busy", retry_after="0.1")) as server,
        patient(server, outage_minutes=1 / 60) as engine,
    ):
        found = list(engine.sample(requests(4, 1)))
    assert all(completion.retryable for completion in found)
    assert FAULTS + 4 <= len(server.asked) <= FAULTS + 12


def test_a_service_that_answers_some_is_not_given_up() -> None:
    def behaviour(body: Mapping[str, Any], before: int) -> Reply | None:
        return failure(500, "busy", retry_after="0.02") if before < 2 and body["seed"] % 5 else None

    with StubServer(behaviour=behaviour) as server, patient(server, concurrency=1) as engine:
        found = list(engine.sample(requests(1, 60)))
    assert all(completion.error is None for completion in found)


@pytest.mark.parametrize(("status", "at_once", "retries"), [(500, 8, 6), (429, 8, 6), (503, 32, 3), (500, 1, 6)])
def test_a_service_that_fails_is_asked_by_one_request_for_all(status: int, at_once: int, retries: int) -> None:
    """Each of 8 prompts was repeated 6 times: 56 requests before the stage stopped."""
    reply = failure(status, "so it is told", retry_after="0.01")
    with StubServer(behaviour=lambda *_: reply) as server:
        with patient(server, concurrency=at_once, max_retries=retries) as engine:
            found = list(engine.sample(requests(FAULTS, 1)))
        assert len(found) == FAULTS
        assert all(f"HTTP {status}" in str(completion.error) and completion.retryable for completion in found)
        assert FAULTS <= len(server.asked) <= 2 * FAULTS - 1 + retries


def test_a_service_that_comes_back_answers_all_that_waited() -> None:
    down = True

    def behaviour(_body: Mapping[str, Any], _before: int) -> Reply | None:
        return failure(503, "restarting", retry_after="0.05") if down or len(server.asked) < 40 else None

    with StubServer(behaviour=behaviour, latency=0.01) as server:
        server.asked += [("", 0)] * 28  # twelve requests fail
        down = False
        with patient(server, concurrency=32) as engine:
            found = list(engine.sample(requests(100, 2)))
    assert [completion.error for completion in found] == [None] * 200
    assert len(server.asked) - 28 <= 200 + 12 + 32


def test_an_outage_in_mid_run_costs_what_was_in_flight_and_a_few() -> None:
    given = 0

    def behaviour(_body: Mapping[str, Any], _before: int) -> Reply | None:
        nonlocal given
        given += 1
        return failure(500, "down", retry_after="0.01") if given > 40 else None

    options = {"max_retries": 4, "concurrency": 16, "outage_minutes": 1 / 60}
    with StubServer(behaviour=behaviour, latency=0.02) as server, patient(server, **options) as one:
        answers = one.sample(requests(500, 1))
        failed = 0
        for completion in answers:
            failed += completion.error is not None
            if failed == FAULTS:
                break
        answers.close()  # type: ignore[attr-defined]
        assert len(server.asked) <= 40 + 16 + 4 + FAULTS


def test_an_answer_of_no_kind_in_between_ends_the_outage() -> None:
    """A server that turns some prompts away for good does answer: nobody waits for it."""

    def behaviour(body: Mapping[str, Any], before: int) -> Reply | None:
        odd = int(body["messages"][0]["content"].split()[1]) % 2
        return failure(400, "too odd") if odd else failure(500, "x", retry_after="0.01") if before < 1 else None

    with StubServer(behaviour=behaviour) as server, patient(server, concurrency=1) as engine:
        found = list(engine.sample(requests(60, 1)))
    assert sum(completion.error is None for completion in found) == 30
    assert len(server.asked) == 90


@dataclass
class Counting(Wrapper):
    """An engine that answers all it is given, and keeps what it was given at a time."""

    given: list[list[tuple[str, int]]] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        self.given.append([])
        for request in requests:
            for seed in request.seeds:
                self.given[-1].append((request.request_id, seed))
                yield Completion(request.request_id, seed, "x")


@pytest.mark.parametrize(("prompts", "seeds"), [(1, 100), (3, 50), (30, 10), (2, 3), (0, 0)])
def test_the_first_answers_go_to_as_many_prompts_as_there_are(prompts: int, seeds: int) -> None:
    engine, rule = Counting(), StopRule(limits=StopLimits(20, 5), few_first=True)
    found = []
    for completion in admitted(engine, SAMPLING, rule).sample(requests(prompts, seeds)):
        found.append((completion.request_id, completion.seed))
        if len(found) == min(20, prompts * seeds):
            rule.succeed()
    assert sorted(found) == sorted((str(prompt), seed) for prompt in range(prompts) for seed in range(seeds))
    if found:
        assert len(engine.given[0]) == min(20, prompts * seeds)
        assert len({name for name, _ in engine.given[0]}) == min(20, prompts)
        assert len(engine.given) <= 2


def test_no_more_than_the_first_answers_are_asked_for_while_none_of_them_is_of_use() -> None:
    engine, rule = Counting(), StopRule(limits=StopLimits(8, 5), few_first=True)
    for at, completion in enumerate(admitted(engine, SAMPLING, rule).sample(requests(30, 4)), start=1):
        assert completion.error is None
        assert [len(some) for some in engine.given][:-1] == [8] * ((at - 1) // 8), "a round ends before the next"
    assert [len(some) for some in engine.given] == [8] * 15


def test_a_service_that_is_free_is_asked_for_all_at_once() -> None:
    engine, rule = Counting(), StopRule(limits=StopLimits(8, 5))
    assert len(list(admitted(engine, SAMPLING, rule).sample(requests(30, 4)))) == 120
    assert [len(some) for some in engine.given] == [120]


def test_nothing_more_is_asked_of_batches_once_the_stage_has_stopped() -> None:
    engine, rule = Counting(), StopRule(limits=StopLimits(20, 5), drains=True)
    answers = admitted(engine, SAMPLING, rule).sample(requests(100, 1))
    for _ in range(30):
        next(answers)
    rule.stopped = SystematicFaultError("so it is told")
    assert list(answers) == []
    assert len(engine.given[0]) == 30


LOADING = Reply(503, b'{"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}')


def test_a_server_that_is_loading_its_model_is_waited_for_however_often_it_says_so() -> None:
    """llama.cpp's server answers so for minutes before its first answer; the tries were soon used up."""

    async def at_once(_: float) -> None:
        """No wait between two tries."""

    with StubServer(behaviour=lambda _, before: LOADING if before < 20 else None) as server:
        spec = ModelSpec("openai:stub", {"base_url": server.url, "concurrency": 4, "max_retries": 2})
        with OpenAIEngine(spec, sleep=at_once) as engine:
            assert all(completion.error is None for completion in engine.sample(requests(8, 1)))


BUSY, FULL, LOADS = "HTTP 500: busy", "HTTP 429: slow down", "HTTP 503: Loading model"


class Repeated:
    """A request to a service that only fails, as its outage takes it; the clock is that of the waits."""

    def __init__(self, minutes: float = 5, max_retries: int = 6, answers: int = 8) -> None:
        self.now = 0.0
        self.outage = Outage(StopLimits(answers, minutes), max_retries, self._sleep, lambda: self.now, "openai:one")

    async def _sleep(self, seconds: float) -> None:
        self.now += seconds

    def times(self, *errors: str, most: int = 1000, retry_after: float | None = None) -> int:
        """How often a request is sent that meets these faults in turn, after eight others have failed once."""

        async def sent() -> int:
            for error in islice(cycle(errors), self.outage._most):
                await self.outage.passes(object(), RequestError(error, retryable=False), 1)
            request = object()
            for tries in range(1, most + 1):
                fault = RequestError(errors[tries % len(errors)], retry_after=retry_after)
                if not await self.outage.passes(request, fault, tries):
                    return tries
            return most

        return asyncio.run(sent())


@pytest.mark.parametrize("errors", [(BUSY,), (FULL,), ("no answer in time",), (BUSY, "no answer in time", FULL)])
def test_a_service_that_had_answered_is_waited_for_as_many_minutes_as_the_file_says(
    errors: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    one = Repeated(minutes=5, max_retries=1)
    one.outage.answer()
    assert one.times(*errors) <= 16, "with growing waits: each repetition may be billed"
    assert 5 * 60 <= one.now < 5 * 60 + LONGEST_WAIT
    [line] = [record.message for record in caplog.records]
    assert "openai:one: " in line
    assert "(HTTP" in line or "(no answer" in line
    assert "up to 5 minutes" in line


def test_a_service_that_never_answered_is_given_up_after_the_repetitions() -> None:
    one = Repeated(minutes=5, max_retries=3)
    assert one.times(BUSY) == 3 + 1
    assert one.now < 60


def test_a_server_that_is_loading_its_model_is_given_the_minutes_before_any_answer() -> None:
    one = Repeated(minutes=5, max_retries=3)
    one.times(LOADS, retry_after=0.01)
    assert 5 * 60 <= one.now < 5 * 60 + LONGEST_WAIT


@pytest.mark.parametrize("answers", [0, 8])
def test_without_a_number_of_minutes_an_outage_is_waited_for_however_long_it_lasts(answers: int) -> None:
    """Where no number of faults makes an outage, as of a model in this process, the repetitions count."""
    one = Repeated(minutes=0, max_retries=3, answers=answers)
    one.outage.answer()
    assert one.times(BUSY, most=400) == (400 if answers else 3 + 1)
    assert (one.now > 300 * 30) == (answers > 0)


def test_a_wait_that_is_longer_than_ten_minutes_is_left_to_a_later_run() -> None:
    one = Repeated()
    one.outage.answer()
    assert one.times(FULL, retry_after=3600) == 1
    assert one.now == 0
