"""A local OpenAI-compatible server that answers after a set time, or misbehaves as it is told.

python -m tests.servers --latency 0.2        prints its base URL and serves until it is killed
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Reply:
    """What one request gets instead of an answer."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    reset: bool = False  # the connection breaks in the middle of the body
    content_type: str = "application/json"
    slow: float = 0.0  # seconds over which the body drips out


def failure(status: int, message: str = "so it is told", code: str | None = None, **headers: str) -> Reply:
    """An error as OpenAI words it; `retry_after="2"` becomes the header Retry-After."""
    body = json.dumps({"error": {"message": message, "type": "stub", "code": code}}).encode()
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


PIECES = 5  # of a body that comes slowly
RESET = Reply(body=b'{"choices": [', reset=True)
TRUNCATED = Reply(body=b'{"id": "1", "choices": [{"index": 0, "mess')
HTML = Reply(body=b"<!DOCTYPE html><html><body>Welcome to nginx!</body></html>", content_type="text/html")

# What becomes of a request: its parsed body, and how often the same prompt and seed came before.
Behaviour = Callable[[Mapping[str, Any], int], Reply | None]


def answer_text(prompt: str, seed: int | None) -> str:
    """The answer of a well-behaved request: a function of prompt and seed, in the prompt's language."""
    return f"{prompt} ({seed})"


class StubServer:
    """Serves on the loopback interface, on a free port unless told, while the `with` block lasts."""

    def __init__(self, latency: float = 0.0, behaviour: Behaviour | None = None, port: int = 0) -> None:
        self.latency, self.behaviour, self.port = latency, behaviour, port
        self.asked: list[tuple[str, int | None]] = []  # (prompt, seed) in order of arrival
        self.answered: list[tuple[str, int | None]] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []  # with their queries
        self.serves: list[str] = []  # the models that its list names
        self.most_answers = math.inf  # once there are so many, requests wait until it is raised
        self.in_flight = self.most_in_flight = 0
        self._times: Counter[tuple[str, int | None]] = Counter()
        self._lock = Lock()
        self._loop = asyncio.new_event_loop()
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._loop.run_forever, name="stub server", daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hangs up on everybody and frees the port; the second time it does nothing."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._connected, "127.0.0.1", self.port, backlog=512)

    async def _hang_up(self) -> None:
        self._server.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client hung up, or the server closes
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        received = await reader.readuntil(b"\r\n\r\n")
        arrived = time.perf_counter()
        head = received.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        if head[0].startswith("GET"):  # the list of models, which is no question
            listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in self.serves]}
            await self._send(writer, Reply(body=json.dumps(listed).encode()))
            return True
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        prompt, seed = body["messages"][-1]["content"] if "messages" in body else str(body["prompt"]), body.get("seed")
        with self._lock:
            before = self._times[prompt, seed]
            self._times[prompt, seed] += 1
            self.asked.append((prompt, seed))
            self.bodies.append(body)
            self.headers.append(headers)
            self.paths.append(head[0].split()[1])
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            whole = completion(body, prompt, seed)
            # From arrival to answer: the server's own work is part of the latency, not on top of it.
            await asyncio.sleep(self.latency - (time.perf_counter() - arrived))
            while len(self.answered) >= self.most_answers:
                await asyncio.sleep(0.02)
            reply = self.behaviour(body, before) if self.behaviour else None
        finally:
            with self._lock:
                self.in_flight -= 1
        await self._send(writer, reply or Reply(body=whole))
        if reply is None:
            with self._lock:
                self.answered.append((prompt, seed))
        return reply is None or not reply.reset

    async def _send(self, writer: asyncio.StreamWriter, reply: Reply) -> None:
        length = len(reply.body) + (100 if reply.reset else 0)
        lines = [f"HTTP/1.1 {reply.status} Stub", f"content-type: {reply.content_type}", f"content-length: {length}"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        for piece in _pieces(reply):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(reply.slow / PIECES)


def _pieces(reply: Reply) -> list[bytes]:
    size = len(reply.body) // PIECES + 1 if reply.slow else max(len(reply.body), 1)
    return [reply.body[start : start + size] for start in range(0, len(reply.body), size)]


def completion(body: Mapping[str, Any], prompt: str, seed: int | None) -> bytes:
    message = {"role": "assistant", "content": answer_text(prompt, seed)}
    answer = {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "system_fingerprint": "fp_stub",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12},
    }
    return json.dumps(answer).encode()


def main() -> None:
    """Serves until it is killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.2)
    with StubServer(parser.parse_args().latency) as server:
        print(server.url, flush=True)
        server._thread.join()


if __name__ == "__main__":
    main()
