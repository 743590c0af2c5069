"""The batch API of an OpenAI-compatible provider: upload a file, create a batch, download its answers.

API: https://platform.openai.com/docs/api-reference/batch
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import openai
from openai.types import Batch, FileObject
from tenacity import Retrying

from polyculture.cache.errors import EngineError
from polyculture.cache.files import replacing
from polyculture.generate.engines.batch_records import BatchRecord
from polyculture.generate.engines.openai.chat import PATH, ChatApi
from polyculture.generate.engines.openai.faults import RequestError
from polyculture.generate.engines.openai.retries import retry_policy

MARK = "polyculture"  # the batch's metadata that holds our key
ENDED = ("completed", "failed", "expired", "cancelled")
_CLOCKS = 3600.0  # seconds by which the provider's clock and ours may differ
_PATIENCE = 3600.0  # seconds to wait for a provider that cannot be reached

Result = TypeVar("Result")


class BatchApi:
    """The calls, with retries. Raises `EngineError` for permanent errors, and for errors that affect every call.

    `sleep` waits the given number of seconds, and raises where the work is cancelled.
    """

    def __init__(self, chat: ChatApi, sleep: Callable[[float], None]) -> None:
        self._chat, self._sleep = chat, sleep
        http = openai.DefaultHttpxClient(trust_env=not chat.local, timeout=chat.options.timeout)
        self._client = openai.OpenAI(
            api_key=chat.key or "none",
            base_url=chat.address,
            max_retries=0,
            http_client=http,
            default_headers=chat.headers,
        )

    def close(self) -> None:
        self._client.close()

    def upload(self, file: Path, key: str) -> str:
        """Upload a file and return the provider's id. A repeated upload costs nothing."""
        content = (f"{MARK}-{key}.jsonl", file, "application/jsonl")
        return self._insist(lambda: self._a(FileObject, self._client.files.create(file=content, purpose="batch"))).id

    def create(self, record: BatchRecord, file_id: str) -> str:
        """The id of the record's batch; creates it unless an earlier call, whose answer was lost, already has."""

        def make() -> str:
            found = self._find(record) if record.asked_for else None
            record.asked_for = True
            return found or self._create(record.key, file_id)

        return self._insist(make)

    def wait_for(self, batch_id: str) -> Batch:
        """Wait for the batch to end, through temporary network failures."""
        reached = time.monotonic()
        while True:
            try:
                batch = self._call(lambda: self._a(Batch, self._client.batches.retrieve(batch_id)))
            except RequestError as fault:
                if not fault.retryable or time.monotonic() - reached > _PATIENCE:
                    raise self._gone(batch_id, fault) from fault
            else:
                reached = time.monotonic()
                if batch.status in ENDED:
                    return batch
            self._sleep(self._chat.options.batch_poll)

    def download(self, file_id: str, to: Path) -> None:
        """Download a file of answers atomically."""

        def stream() -> None:
            with replacing(to) as temporary, self._client.files.with_streaming_response.content(file_id) as response:
                response.stream_to_file(temporary)

        self._insist(stream)

    def _create(self, key: str, file_id: str) -> str:
        batch = self._client.batches.create(
            completion_window="24h",
            endpoint="/v1/chat/completions",
            input_file_id=file_id,
            metadata={MARK: key},
        )
        return self._a(Batch, batch).id

    def _find(self, record: BatchRecord) -> str | None:
        """The batch with the record's key. The provider lists the newest first."""
        for batch in self._client.batches.list(limit=100):
            if (batch.metadata or {}).get(MARK) == record.key:
                return batch.id
            if batch.created_at < record.made - _CLOCKS:
                return None
        return None

    def _a(self, kind: type[Result], answer: object) -> Result:
        """The answer, checked: the SDK returns a web page as text."""
        if isinstance(answer, kind):
            return answer
        raise self._chat.server.not_an_api()

    def _insist(self, call: Callable[[], Result]) -> Result:
        """The call's result, with retries. A permanent fault ends the work; running again resumes."""
        retrying = Retrying(**retry_policy(self._chat.options.max_retries), sleep=self._sleep)
        try:
            result: Result = retrying(self._call, call)
        except RequestError as fault:
            if fault.status in (404, 405):
                remedy = "Remove batch = true, or correct base_url."
                raise EngineError(f"has no batch API ({fault})", where=self._chat.server.url, remedy=remedy) from fault
            if fault.unreachable:
                raise self._chat.server.unreachable(str(fault)) from fault
            remedy = "Run the same command again: it resumes."
            raise EngineError(f"the batch API fails: {fault}", where=self._chat.server.url, remedy=remedy) from fault
        return result

    def _call(self, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except openai.APIError as error:
            raise self._chat.server.explain(error) from error

    def _gone(self, batch_id: str, fault: RequestError) -> EngineError:
        remedy = "Run the same command again later, with the key that the batch was sent with."
        return EngineError(f"says nothing of batch {batch_id}: {fault}", where=self._chat.server.url, remedy=remedy)


def request_line(ident: str, body: dict[str, object]) -> dict[str, object]:
    """A request as a line of a batch's file."""
    return {"custom_id": ident, "method": "POST", "url": f"/v1{PATH}", "body": body}
