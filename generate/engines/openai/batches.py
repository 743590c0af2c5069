"""Sampling through a provider's batch API: half the price, and answers within a day.

    [options.openai]
    batch = true

Requests and answers are those of direct calls, one per sample with its own seed. No request is sent twice, whenever
this process is killed: see `batch_records.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Self

import orjson
from openai.types import Batch

from polyculture.cache.errors import EngineError
from polyculture.cache.identity import content_id
from polyculture.generate.engines.base import Completion, ModelSpec, Request
from polyculture.generate.engines.batch_records import BatchRecord, BatchRecords
from polyculture.generate.engines.openai.batch_answer import completion, failed, read_lines
from polyculture.generate.engines.openai.batch_api import BatchApi, request_line
from polyculture.generate.engines.openai.chat import ChatApi, ChatCall

ATTEMPTS = 3  # batches that a request with transient faults is sent in
_MEGABYTE = 1_000_000


class BatchEngine:
    """Answers by batch; `folder` keeps their ids and belongs to one stage of one job.

    `stop` ends the waiting, from another thread: `sample` then raises `KeyboardInterrupt`. `tell` receives a line
    before each wait.
    """

    def __init__(self, spec: ModelSpec, folder: Path, stop: Event, tell: Callable[[str], None]) -> None:
        self._chat = ChatApi(spec)
        self.spec, self.options = spec, self._chat.options
        self._records = BatchRecords(folder)
        self._stop, self._tell = stop, tell

    def __enter__(self) -> Self:
        self._api = BatchApi(self._chat, self._sleep)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._api.close()

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Sends all requests that are in no batch yet, waits, and yields an answer or an error per request and seed.

        It first consumes all of `requests`. Raises `EngineError` where the provider rejects a call or a whole batch.
        """
        wanted = {_ident(ask): ask for r in requests for ask in self._chat.asks(r)}
        attempts: Counter[str] = Counter()
        while wanted:
            records = self._sent(wanted)
            self._say(records)
            for record in records:
                for ident, answer in self._answers(record, wanted):
                    attempts[ident] += 1
                    if not answer.retryable or attempts[ident] == ATTEMPTS:
                        del wanted[ident]
                        yield answer
                self._records.forget(record)

    def _sent(self, wanted: Mapping[str, ChatCall]) -> list[BatchRecord]:
        """The batches with the wanted requests: existing ones in flight, and new ones for the rest."""
        records = []
        for record in self._records.all():
            if any(ident in wanted for ident in record.ids):
                records.append(record)
            elif record.downloaded:  # all of it is in the store
                self._records.forget(record)
        held = {ident for record in records for ident in record.ids}
        left = [(ident, ask) for ident, ask in wanted.items() if ident not in held]
        records += [self._records.add(piece) for piece in self._pieces(left)]
        for record in records:
            self._send(record)
        return records

    def _pieces(self, asks: Iterable[tuple[str, ChatCall]]) -> Iterator[list[tuple[str, bytes]]]:
        """The lines of the batches' files, each within the provider's limits."""
        piece: list[tuple[str, bytes]] = []
        size = 0
        for ident, ask in asks:
            line = orjson.dumps(request_line(ident, ask.whole), option=orjson.OPT_APPEND_NEWLINE)
            full = len(piece) >= self.options.batch_requests
            if piece and (full or size + len(line) > self.options.batch_megabytes * _MEGABYTE):
                yield piece
                piece, size = [], 0
            piece.append((ident, line))
            size += len(line)
        if piece:
            yield piece

    def _send(self, record: BatchRecord) -> None:
        """Submits a batch, starting from its last recorded step. Every step is recorded before the next."""
        if record.batch_id is not None:
            return
        if record.file_id is None:
            record.file_id = self._api.upload(self._records.requests(record), record.key)
        self._records.save(record.model_copy(update={"asked_for": True}))
        record.batch_id = self._api.create(record, record.file_id)
        self._records.save(record)
        self._records.requests(record).unlink(missing_ok=True)

    def _answers(self, record: BatchRecord, wanted: Mapping[str, ChatCall]) -> Iterator[tuple[str, Completion]]:
        """The results of the wanted requests of a batch; its answers are written to disk first."""
        ending = "ended" if record.downloaded or record.batch_id is None else self._fetch(record, record.batch_id)
        left = {ident: wanted[ident] for ident in record.ids if ident in wanted}
        for line in read_lines(self._records.output(record), self._records.errors(record)):
            if ask := left.pop(line.custom_id, None):
                yield line.custom_id, completion(line, ask, self._chat)
        for ident, ask in left.items():
            yield ident, failed(ask, f"batch {record.batch_id} {ending} without it")

    def _fetch(self, record: BatchRecord, batch_id: str) -> str:
        """Waits for a batch, writes its answers to disk, and returns its final status."""
        batch = self._api.wait_for(batch_id)
        if batch.status == "failed":
            self._records.forget(record)  # nothing of it was worked on
            raise self._refused(batch)
        for file_id, path in (
            (batch.output_file_id, self._records.output(record)),
            (batch.error_file_id, self._records.errors(record)),
        ):
            if file_id:
                self._api.download(file_id, path)
        record.downloaded = True
        self._records.save(record)
        return batch.status

    def _refused(self, batch: Batch) -> EngineError:
        faults = (batch.errors.data if batch.errors else None) or []
        words = self._chat.server.in_short("; ".join(f"{fault.code}: {fault.message}" for fault in faults[:3]))
        remedy = "Correct that and run the same command again."
        if any(fault.code == "token_limit_exceeded" for fault in faults):
            remedy = "Set batches_at_once = 1, or a smaller batch_requests, and run the same command again."
        return EngineError(f"refuses the batch {batch.id}: {words}", where=self._chat.server.url, remedy=remedy)

    def _say(self, records: list[BatchRecord]) -> None:
        waiting = [record for record in records if not record.downloaded]
        if waiting:
            count = sum(len(record.ids) for record in waiting)
            batches = "1 batch" if len(waiting) == 1 else f"{len(waiting)} batches"
            self._tell(f"{self.spec.model}: {batches} with {count} requests at the provider, answered within 24 hours")

    def _sleep(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise KeyboardInterrupt


def _ident(ask: ChatCall) -> str:
    """The id of a call, also of one of several that differ in a seed which is not sent."""
    return content_id(ask.request_id, {**ask.whole, "seed": ask.seed})
