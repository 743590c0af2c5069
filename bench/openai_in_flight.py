"""How close the openai engine comes to the ideal rate of a server that needs 200 ms for an answer.

    python -m bench.openai_in_flight [--rounds 40]

The ideal is `in flight / latency` answers a second, which no client can exceed. The peer is the least that a client
can do: as many coroutines as are in flight, each asking through the same library, one question after the other, and
throwing the answers away. Both are measured twice: on cores as they are, and on cores kept awake. A core that sleeps
while all answers are under way wakes late, a virtual one by several milliseconds; on a busy machine it never sleeps.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from openai import AsyncOpenAI

from bench.results import keep
from polyculture.generate.engines import Decoding, Message, ModelSpec, Request, open_engine

LATENCY = 0.2
IN_FLIGHT = 64
SMALLEST = ("--rounds", "2")
RAMP = 4  # rounds until the number in flight has doubled from what the limiter starts with to all of them
TEXT = "Write a short paragraph about a person and the food this person likes to eat."
IDLING = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"


def requests(count: int) -> Iterator[Request]:
    """`count` samples of one prompt after the other, a few hundred each, as the study asks them."""
    for start in range(0, count, 320):
        yield Request(str(start), (Message("user", TEXT),), Decoding(), tuple(range(start, min(start + 320, count))))


def engine_rate(url: str, count: int) -> float:
    """Answers a second, in the steady state: connections are open, the rounds of the ramp are not counted."""
    spec = ModelSpec("openai:stub", {"base_url": url, "concurrency": IN_FLIGHT})
    with open_engine(spec) as engine:
        answers = engine.sample(requests(count + RAMP * IN_FLIGHT))
        for _ in range(RAMP * IN_FLIGHT):
            next(answers)
        started = time.perf_counter()
        failed = sum(answer.error is not None for answer in answers)
        seconds = time.perf_counter() - started
    if failed:
        raise SystemExit(f"{failed} requests failed")
    return count / seconds


async def bare_rate(url: str, count: int) -> float:
    """Answers a second of a client that does nothing else, from its second round on."""
    async with AsyncOpenAI(base_url=url, api_key="none") as client:

        async def ask(numbers: Iterator[int]) -> None:
            for seed in numbers:
                await client.chat.completions.create(
                    model="stub", messages=[{"role": "user", "content": TEXT}], seed=seed
                )

        async def ask_all(number: int) -> None:
            numbers = iter(range(number))
            await asyncio.gather(*(ask(numbers) for _ in range(IN_FLIGHT)))

        await ask_all(IN_FLIGHT)
        started = time.perf_counter()
        await ask_all(count)
        return count / (time.perf_counter() - started)


@contextmanager
def cores_awake() -> Iterator[None]:
    """Keeps every core from sleeping, by a loop each that gives way to whatever else would run (Linux)."""
    loops = [subprocess.Popen([sys.executable, "-c", IDLING]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main() -> None:
    """Prints the rates, the ideal and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40, help="answers of each in flight that are timed (default: 40)")
    count = IN_FLIGHT * parser.parse_args().rounds
    command = [sys.executable, "-m", "tests.servers", "--latency", str(LATENCY)]
    ideal = IN_FLIGHT / LATENCY
    print(f"{ideal:.1f} answers/s are ideal with {IN_FLIGHT} in flight")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            for cores, name in ((nullcontext(), "as they are"), (cores_awake(), "kept awake")):
                with cores:
                    bare = asyncio.run(bare_rate(url, count))
                    ours = engine_rate(url, count)
                keep("speed", "Engines", name, {"engine": f"{ours / ideal:.3f}", "bare client": f"{bare / ideal:.3f}"})
                print(
                    f"cores {name}: engine {ours:.1f} ({ours / ideal:.3f}), bare client {bare:.1f} ({bare / ideal:.3f})"
                )
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
