"""A server for OpenAI's API that answers each request in one of the modes of `modes.py`, down to the bytes.

It speaks raw HTTP, as a hostile server may, and keeps its own books: what it was asked, and what it billed.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from types import TracebackType
from typing import Any, Self

PROMPT_TOKENS, COMPLETION_TOKENS = 7, 5  # of an honest answer
HONEST = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": COMPLETION_TOKENS, "total_tokens": 12}
TEXT = "寿司とラーメン"


@dataclass
class Call:
    """One request, and the connection that its answer goes out on."""

    body: Mapping[str, Any]
    number: int  # of all requests, from 0
    before: int  # how often the same was asked before
    writer: asyncio.StreamWriter
    url: str
    last: bool = False  # the connection ends with the answer, which says so

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(
        self, content: bytes, status: int = 200, kind: str = "application/json", length: int | None = None, **more: str
    ) -> None:
        """A whole answer, with its length unless told otherwise."""
        more |= {"connection": "close"} if self.last else {}
        await self.send(head(status, kind, len(content) if length is None else length, **more) + content)

    async def drip(self, pieces: AsyncIterator[bytes]) -> None:
        """Whatever comes, until the client has had enough."""
        async for piece in pieces:
            await self.send(piece)


def head(status: int = 200, kind: str = "application/json", length: int | None = None, **more: str) -> bytes:
    """A status line and headers; without a length the answer ends with the connection."""
    lines = [f"HTTP/1.1 {status} Told", f"content-type: {kind}"]
    lines += [] if length is None else [f"content-length: {length}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def answer(text: Any = TEXT, usage: Any = None, **changed: Any) -> dict[str, Any]:
    """A chat completion, by default an honest one."""
    whole = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "told",
        "system_fingerprint": "fp",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": HONEST if usage is None else usage,
    }
    return {**whole, **changed}


def dumps(value: Any) -> bytes:
    return json.dumps(value).encode()


@dataclass(frozen=True, kw_only=True)
class Mode:
    """What a server does to requests, and what must come of it. Every request of a run gets the same."""

    name: str
    does: Callable[[Call], Awaitable[None]]
    rows: str | None = "failed"  # 'ok', 'failed', 'none' (the run ends before), or None: as the table of faults says
    tries: int | None = 1  # requests for each row, of two that are allowed; None: as the table of faults says
    code: tuple[int, ...] = (4, 6)  # exit codes: 6 where a service answers nothing at all, and all alike
    note: str | None = None  # a word of the rows' notes; None: they have none
    text: str | None = None  # of the rows; None: that of an honest answer
    bill: Callable[[Call], tuple[int, int]] = field(default=lambda _call: (PROMPT_TOKENS, COMPLETION_TOKENS))
    stops: str | None = None  # a word of the line that ends a run with max_cost
    hangs_up: bool = True  # the connection ends with the answer


class FaultServer:
    """Serves a mode on the loopback interface while the `with` block lasts; the mode may be changed between runs."""

    def __init__(self, mode: Mode | None = None, latency: float = 0.0) -> None:
        self.mode, self.latency = mode, latency
        self.modes: Mapping[str, Mode] = {}  # by model, before `mode`
        self.asked: list[tuple[str, int | None]] = []
        self.asked_of: Counter[str] = Counter()  # requests by model
        self.billed: list[tuple[int, int]] = []
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._loop.run_forever, name="fault server", daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def begin(self, mode: Mode, modes: Mapping[str, Mode] | None = None) -> None:
        """From here on requests are answered in this mode, or in that of their model, and counted anew."""
        self.mode, self.modes = mode, modes or {}
        self.asked, self.asked_of, self.billed = [], Counter(), []

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=512)

    async def _hang_up(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            with suppress(RuntimeError):
                writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        body = json.loads(content) if content.startswith(b"{") else {}
        question = (body["messages"][-1]["content"] if "messages" in body else "", body.get("seed"))
        mode = self.modes.get(body.get("model", ""), self.mode)
        call = Call(body, len(self.asked), self.asked.count(question), writer, self.url, mode.hangs_up)
        self.asked.append(question)
        self.asked_of[body.get("model", "")] += 1
        self.billed.append(mode.bill(call))  # when the work is done, whether the client is still there or not
        await asyncio.sleep(self.latency)
        await mode.does(call)
        return not mode.hangs_up
