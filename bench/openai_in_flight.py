"""How close the openai engine comes to the ideal rate of a server that needs 200 ms for an answer.

    python -m bench.openai_in_flight

The peer is the ideal: `in flight / latency` answers a second, which no client can exceed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from generate.engines import Decoding, Message, ModelSpec, Request, open_engine

LATENCY = 0.2
IN_FLIGHT = 64
ROUNDS = 40
RAMP = 4  # rounds until the number in flight has doubled from what the limiter starts with to all of them


def requests(count: int) -> Iterator[Request]:
    """`count` samples of one prompt after the other, a few hundred each, as the study asks them."""
    text = "Write a short paragraph about a person and the food this person likes to eat."
    for start in range(0, count, 320):
        yield Request(str(start), (Message("user", text),), Decoding(), tuple(range(start, min(start + 320, count))))


def rate(url: str, count: int) -> float:
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


def main() -> None:
    """Prints the rate, the ideal and their ratio."""
    command = [sys.executable, "-m", "tests.servers", "--latency", str(LATENCY)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            measured = rate(server.stdout.readline().strip(), IN_FLIGHT * ROUNDS)
        finally:
            server.terminate()
    ideal = IN_FLIGHT / LATENCY
    print(f"{measured:.1f} answers/s of {ideal:.1f} ideal with {IN_FLIGHT} in flight: ratio {measured / ideal:.3f}")


if __name__ == "__main__":
    main()
