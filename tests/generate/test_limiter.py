"""How many requests are in flight: by the limiter's rule, and at a real local server that turns some down."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from polyculture.generate.engines import Decoding, Message, ModelSpec, Request
from polyculture.generate.engines.openai.engine import OpenAIEngine
from polyculture.generate.engines.openai.limiter import START, Limiter
from tests.servers import Reply, StubServer, failure


async def fill(limiter: Limiter) -> list[int]:
    """As many permits as there are."""
    return [await limiter.acquire() for _ in range(limiter.limit)]


async def round_trip(limiter: Limiter) -> None:
    """Every request that may be in flight leaves, and is answered."""
    for permit in await fill(limiter):
        limiter._in_flight = limiter.limit  # others wait behind each of them
        limiter.succeeded(permit)
    limiter._in_flight = 0


def test_it_doubles_every_round_trip_up_to_the_most() -> None:
    async def grow() -> list[int]:
        limiter, limits = Limiter(100), []
        for _ in range(4):
            limits.append(limiter.limit)
            await round_trip(limiter)
        return [*limits, limiter.limit]

    assert asyncio.run(grow()) == [START, 2 * START, 4 * START, 100, 100]


def test_a_crowd_of_refusals_halves_once_and_growth_is_one_a_round_trip_after() -> None:
    async def refuse() -> list[int]:
        limiter = Limiter(64, start=64)
        permits, limits = await fill(limiter), []
        for permit in permits:
            limiter.refused(permit)
        limits.append(limiter.limit)
        for _ in range(3):
            await round_trip(limiter)
            limits.append(limiter.limit)
        return limits

    halved, *grown = asyncio.run(refuse())
    assert halved == 32
    assert all(0 <= limit - (32 + trips) + 1 <= 1 for trips, limit in enumerate(grown, start=1))


def test_an_old_answer_does_not_undo_a_cut_and_one_is_always_left() -> None:
    async def work() -> tuple[int, int]:
        limiter = Limiter(8)
        old = await fill(limiter)
        limiter.refused(old.pop())
        for permit in old:
            limiter.succeeded(permit)
        after_old = limiter.limit
        for _ in range(10):
            limiter.refused(await limiter.acquire())
        return after_old, limiter.limit

    assert asyncio.run(work()) == (4, 1)


def test_other_faults_move_nothing_and_requests_that_do_not_fill_it_do_not_raise_it() -> None:
    async def work() -> int:
        limiter = Limiter(64)
        for _ in range(100):
            await limiter.acquire()
            limiter.failed()
            limiter.succeeded(await limiter.acquire())
        return limiter.limit

    assert asyncio.run(work()) == START


def test_one_who_leaves_the_queue_takes_no_permit_along() -> None:
    async def work() -> int:
        limiter = Limiter(1)
        first = await limiter.acquire()
        gone, waiting = asyncio.create_task(limiter.acquire()), asyncio.create_task(limiter.acquire())
        await asyncio.sleep(0)
        limiter.succeeded(first)  # the permit goes to `gone`, who is called off before it wakes
        gone.cancel()
        limiter.succeeded(await asyncio.wait_for(waiting, 10))
        return limiter._in_flight

    assert asyncio.run(work()) == 0


def test_from_a_fault_to_the_next_answer_few_are_sent() -> None:
    async def work() -> tuple[int, int]:
        limiter = Limiter(64, start=64)
        permits = await fill(limiter)
        waiting = [asyncio.create_task(limiter.acquire()) for _ in range(64)]
        for _ in range(60):
            limiter.failed()
        await asyncio.sleep(0)
        in_doubt = limiter._in_flight
        limiter.succeeded(permits[0])
        await asyncio.sleep(0)
        in_flight = limiter._in_flight
        for task in waiting:
            task.cancel()
        return in_doubt, in_flight

    assert asyncio.run(work()) == (8, 64)


def test_nothing_is_sent_before_the_time_that_the_server_names() -> None:
    async def work() -> float:
        limiter, loop = Limiter(8), asyncio.get_running_loop()
        began = loop.time()
        limiter.refused(await limiter.acquire(), wait=0.2)
        gone = asyncio.create_task(limiter.acquire())
        await asyncio.sleep(0)
        gone.cancel()
        await limiter.acquire()
        assert limiter._in_flight == 1
        return loop.time() - began

    assert asyncio.run(work()) >= 0.2


def requests(count: int) -> Iterator[Request]:
    return (Request(str(n), (Message("user", f"prompt {n}"),), Decoding(), (n,)) for n in range(count))


def test_a_server_that_bears_few_is_found_out_and_nothing_is_lost() -> None:
    with StubServer(latency=0.02) as server:
        # More than 24 at once are turned down.
        def behaviour(_: Mapping[str, Any], __: int) -> Reply | None:
            return failure(429, retry_after="0.01") if server.in_flight > 24 else None

        server.behaviour = behaviour
        spec = ModelSpec("openai:stub", {"base_url": server.url, "max_retries": 20})
        with OpenAIEngine(spec) as engine:
            answers = list(engine.sample(requests(400)))
            settled = engine._limiter.limit
    assert [answer.error for answer in answers] == [None] * 400
    refused = len(server.asked) - len(server.answered)
    assert 0 < refused < 200
    assert settled <= 48, "of 64"


def test_five_hundreds_cut_nothing() -> None:
    def behaviour(body: Mapping[str, Any], before: int) -> Reply | None:
        return failure(500, retry_after="0.01") if before == 0 and body["seed"] % 3 == 0 else None

    with (
        StubServer(latency=0.02, behaviour=behaviour) as server,
        OpenAIEngine(ModelSpec("openai:stub", {"base_url": server.url})) as engine,
    ):
        assert all(answer.error is None for answer in engine.sample(requests(300)))
        assert engine._limiter.limit >= START
        assert len(server.asked) == 400


def test_a_hundred_thousand_prompts_are_no_hundred_thousand_tasks() -> None:
    taken = 0

    def counted() -> Iterator[Request]:
        nonlocal taken
        for taken, request in enumerate(requests(100_000), start=1):  # noqa: B007
            yield request

    async def alive() -> int:
        return len(asyncio.all_tasks())

    with (
        StubServer(latency=0.01) as server,
        OpenAIEngine(ModelSpec("openai:stub", {"base_url": server.url})) as engine,
    ):
        answers = engine.sample(counted())
        most = 0
        for yielded, _ in enumerate(islice(answers, 400), start=1):
            most = max(most, engine._background.run(alive())) if yielded % 50 == 0 else most
        answers.close()  # type: ignore[attr-defined]
    assert 32 < server.most_in_flight <= 64
    assert 64 <= most <= 2 * 64 + 16  # a worker each, and what the transport starts for a call
    assert taken <= 400 + 2 * 64
