"""The batch API of an OpenAI-compatible provider: upload a file, create a batch, download its answers.

API: https://platform.openai.com/docs/api-reference/batch
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import openai
from openai.types import Batch, FileObject
from tenacity import Retrying

from polyculture.cache.errors import EngineError
from polyculture.cache.files import replacing
from polyculture.cache.network.async_runner import Background
from polyculture.cache.network.http_answers import MEBIBYTE
from polyculture.generate.engines.batch_records import BatchRecord
from polyculture.generate.engines.openai.attempt import retry_policy
from polyculture.generate.engines.openai.chat import PATH, ChatApi
from polyculture.generate.engines.openai.faults import RequestError

MARK = "polyculture"  # the batch's metadata that holds our key
ENDED = ("completed", "failed", "expired", "cancelled")
MOST_BYTES = 4096 * MEBIBYTE  # of a file of answers
FILE_DEADLINE = 3600.0  # seconds to send or fetch a file
_GONE = (404, 410)  # statuses of HTTP
_CLOCKS = 3600.0  # seconds by which the provider's clock and ours may differ
_PATIENCE = 3600.0  # seconds to wait for a provider that cannot be reached

Result = TypeVar("Result")


class GoneError(Exception):
    """The provider knows a batch, or a file of its answers, no more: deleted, expired, or of another account."""


class BatchApi:
    """The calls, with retries. Raises `EngineError` for permanent errors, and for errors that affect every call.

    `sleep` waits the given number of seconds, and raises where the work is cancelled.
    """

    def __init__(self, chat: ChatApi, sleep: Callable[[float], None]) -> None:
        self._chat, self._sleep = chat, sleep
        self._background = Background(f"batches {chat.spec.model}")
        self._client = self._background.run(self._connect())
        self._files = self._background.run(self._connect(MOST_BYTES))

    def close(self) -> None:
        for client in (self._client, self._files):
            self._background.run(client.close())
        self._background.close()

    def upload(self, file: Path, key: str) -> str:
        """Upload a file and return the provider's id. A repeated upload costs nothing."""
        content = (f"{MARK}-{key}.jsonl", file, "application/jsonl")

        async def send() -> str:
            return self._id(FileObject, await self._client.files.create(file=content, purpose="batch"))

        return self._insist(send, FILE_DEADLINE)

    def create(self, record: BatchRecord, file_id: str) -> str:
        """The id of the record's batch; creates it unless an earlier call, whose answer was lost, already has."""

        async def make() -> str:
            batch_id = await self._find(record) if record.asked_for else None
            record.asked_for = True
            return batch_id or await self._create(record.key, file_id)

        return self._insist(make, self._chat.options.deadline)

    def wait_for(self, batch_id: str) -> Batch:
        """Wait for the batch to end, through temporary network failures. Raises `GoneError`."""
        reached = time.monotonic()
        while True:
            try:
                batch = self._call(partial(self._retrieve, batch_id), self._chat.options.deadline)
            except RequestError as fault:
                if fault.status in _GONE:
                    raise GoneError(str(fault)) from fault
                passes = fault.kind.waits or fault.kind.name == "web page"
                if not passes or time.monotonic() - reached > _PATIENCE:
                    raise self._gone(batch_id, fault) from fault
            else:
                reached = time.monotonic()
                if batch.status in ENDED:
                    return batch
            self._sleep(self._chat.options.batch_poll)

    def download(self, file_id: str, to: Path) -> None:
        """Download a file of answers atomically. Raises `GoneError`."""

        async def stream() -> None:
            with replacing(to) as temporary, temporary.open("wb") as file:
                async with self._files.files.with_streaming_response.content(file_id) as response:
                    async for piece in response.iter_bytes():
                        file.write(piece)

        self._insist(stream, FILE_DEADLINE, gone=True)

    async def _connect(self, most: int | None = None) -> openai.AsyncOpenAI:
        return self._chat.connect(1, most)

    async def _retrieve(self, batch_id: str) -> Batch:
        return self._a(Batch, await self._client.batches.retrieve(batch_id))

    async def _create(self, key: str, file_id: str) -> str:
        batch = await self._client.batches.create(
            completion_window="24h",
            endpoint="/v1/chat/completions",
            input_file_id=file_id,
            metadata={MARK: key},
        )
        return self._id(Batch, batch)

    async def _find(self, record: BatchRecord) -> str | None:
        """The batch with the record's key. The provider lists the newest first."""
        async for batch in self._client.batches.list(limit=100):
            marks: object = batch.metadata
            if isinstance(marks, dict) and marks.get(MARK) == record.key:
                return self._id(Batch, batch)
            created: object = batch.created_at
            if isinstance(created, int | float) and created < record.made - _CLOCKS:
                return None
        return None

    def _a(self, kind: type[Result], answer: object) -> Result:
        """The answer, checked: the SDK returns a web page as text."""
        if isinstance(answer, kind):
            return answer
        raise self._chat.server.not_an_api()

    def _id(self, kind: type[FileObject | Batch], answer: object) -> str:
        """The answer's id: the SDK does not check what it is."""
        given_id: object = self._a(kind, answer).id
        if not isinstance(given_id, str) or not given_id:
            raise RequestError("the batch API gives no id", retryable=True)
        return given_id

    def _insist(
        self, call: Callable[[], Coroutine[Any, Any, Result]], deadline: float, *, gone: bool = False
    ) -> Result:
        """The call's result, with retries. A permanent fault ends the work; running again resumes.

        `gone`: what is asked for was there once.
        """
        retrying = Retrying(**retry_policy(self._chat.options.max_retries), sleep=self._sleep)
        try:
            result: Result = retrying(self._call, call, deadline)
        except RequestError as fault:
            if gone and fault.status in _GONE:
                raise GoneError(str(fault)) from fault
            if fault.status in (404, 405):
                remedy = "Remove batch = true, or correct base_url."
                raise EngineError(f"has no batch API ({fault})", where=self._chat.server.url, remedy=remedy) from fault
            if fault.unreachable:
                raise self._chat.server.unreachable(str(fault)) from fault
            if not fault.kind.final and fault.kind.then == "stop":
                raise self._chat.server.ended(fault) from fault
            remedy = "Run the same command again: it resumes."
            raise EngineError(f"the batch API fails: {fault}", where=self._chat.server.url, remedy=remedy) from fault
        return result

    def _call(self, call: Callable[[], Coroutine[Any, Any, Result]], deadline: float) -> Result:
        try:
            return self._background.run(within(deadline, call))
        except openai.APIError as error:
            raise self._chat.server.explain(error) from error

    def _gone(self, batch_id: str, fault: RequestError) -> EngineError:
        remedy = "Run the same command again later, with the key that the batch was sent with: it goes on there."
        return EngineError(f"says nothing of batch {batch_id}: {fault}", where=self._chat.server.url, remedy=remedy)


async def within(seconds: float, call: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """A call's result, whole within the deadline; else `RequestError`."""
    try:
        async with asyncio.timeout(seconds):
            return await call()
    except TimeoutError as fault:
        raise RequestError(f"no whole answer within {seconds:g} seconds", retryable=True) from fault


def request_line(ident: str, body: dict[str, object]) -> dict[str, object]:
    """A request as a line of a batch's file."""
    return {"custom_id": ident, "method": "POST", "url": f"/v1{PATH}", "body": body}
