"""Sampling through a provider's batch API: half the price, and answers within a day.

    [options.openai]
    batch = true

Requests and answers are those of direct calls, one per sample with its own seed. No request is sent twice, whenever
this process is killed: see `batch_records.py`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, Self

import orjson
from openai.types import Batch
from pydantic import BaseModel

from polyculture.cache.errors import EngineError
from polyculture.cache.identity import content_id
from polyculture.cache.log import get_logger
from polyculture.cache.store.model_facts import BATCH
from polyculture.cache.text.sanitize import parse
from polyculture.cache.work.faults import FaultKind, kind_of_error
from polyculture.generate.engines.answer import completed
from polyculture.generate.engines.base import Completion, ModelSpec, Request
from polyculture.generate.engines.batch_records import BatchRecord, BatchRecords
from polyculture.generate.engines.error_body import read_error
from polyculture.generate.engines.models import Closing
from polyculture.generate.engines.openai.batch_api import BatchApi, GoneError, request_line
from polyculture.generate.engines.openai.chat import ChatApi, ChatCall
from polyculture.generate.engines.openai.faults import RequestError

_log = get_logger(__name__)

ATTEMPTS = 3  # batches that a request with transient faults is sent in
MOST_BYTES = 200_000_000  # of a file of requests: OpenAI's own limit
_GONE = (
    "is gone at the provider, where it may have been billed; --retry-failed looks for it once more, then buys it again"
)


class BatchEngine(Closing):
    """Answers by batch; `folder` keeps their ids and belongs to one stage of one job.

    `stop` ends the waiting, from another thread: `sample` then raises `KeyboardInterrupt`. Before each wait it
    logs for what.
    """

    def __init__(self, spec: ModelSpec, folder: Path, stop: Event) -> None:
        self._chat = ChatApi(spec)
        self.spec, self.options = spec, self._chat.options
        self._records = BatchRecords(folder)
        self._stop = stop

    def __enter__(self) -> Self:
        self._api = BatchApi(self._chat, self._sleep)
        return self

    def close(self) -> None:
        self._api.close()

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Sends all requests that are in no batch yet, waits, and yields an answer or an error per request and seed.

        It first consumes all of `requests`. A batch that the provider knows no more is a failure of its requests, for
        good: only `--retry-failed` looks for it once more, and then buys them again. Raises `EngineError` where the
        provider rejects a call or a whole batch, once the other batches are fetched.
        """
        wanted = {_ident(ask): ask for r in requests for ask in self._chat.asks(r)}
        attempts: Counter[str] = Counter()
        faults: list[EngineError] = []
        while wanted and not faults:
            sent = [record for record in self._records_of(wanted) if self._without(faults, self._send, record)]
            self._say(sent)
            for record in sent:
                ending = self._without(faults, self._fetch, record)
                for ident, answer in self._answers(record, wanted, ending) if ending else ():
                    attempts[ident] += 1
                    if not answer.retryable or attempts[ident] >= _attempts(answer, wanted[ident]):
                        del wanted[ident]
                        yield answer
                if ending is _GONE:  # its rows are written: from here on they alone stand for it
                    self._records.save(record.model_copy(update={"lost": True}))
                elif ending:
                    self._records.forget(record)
        if faults:
            raise faults[0]

    @staticmethod
    def _without(faults: list[EngineError], call: Callable[[BatchRecord], str], record: BatchRecord) -> str | None:
        """What a call says of a batch; None where it failed, which must not keep other batches from being fetched."""
        try:
            return call(record)
        except EngineError as fault:
            faults.append(fault)
            return None

    def _records_of(self, wanted: Mapping[str, ChatCall]) -> list[BatchRecord]:
        """The batches with the wanted requests: existing ones in flight, and new ones for the rest."""
        records = []
        for record in self._records.all():
            if any(ident in wanted for ident in record.ids):
                records.append(record)
            elif record.downloaded:  # all of it is in the store
                self._records.forget(record)
        held = {ident for record in records for ident in record.ids}
        left = [(ident, ask) for ident, ask in wanted.items() if ident not in held]
        return records + [self._records.add(piece) for piece in self._pieces(left)]

    def _pieces(self, asks: Iterable[tuple[str, ChatCall]]) -> Iterator[list[tuple[str, bytes]]]:
        """The lines of the batches' files, each within the provider's limits."""
        piece: list[tuple[str, bytes]] = []
        size = 0
        for ident, ask in asks:
            line = orjson.dumps(request_line(ident, ask.whole), option=orjson.OPT_APPEND_NEWLINE)
            full = len(piece) >= self.options.batch_requests
            if piece and (full or size + len(line) > MOST_BYTES):
                yield piece
                piece, size = [], 0
            piece.append((ident, line))
            size += len(line)
        if piece:
            yield piece

    def _send(self, record: BatchRecord) -> str:
        """Submits a batch, starting from its last recorded step; its id. Every step is recorded before the next."""
        if record.batch_id is not None:
            return record.batch_id
        if record.file_id is None:
            record.file_id = self._api.upload(self._records.file(record, "requests"), record.key)
        self._records.save(record.model_copy(update={"asked_for": True}))
        try:
            record.batch_id = self._api.create(record, record.file_id)
        except EngineError:
            # It may be the file that the provider knows no more: the next run uploads it anew.
            self._records.save(record.model_copy(update={"file_id": None, "asked_for": True}))
            raise
        self._records.save(record)
        self._records.file(record, "requests").unlink(missing_ok=True)
        return record.batch_id

    def _answers(
        self, record: BatchRecord, wanted: Mapping[str, ChatCall], ending: str
    ) -> Iterator[tuple[str, Completion]]:
        """The results of the wanted requests of a batch, its failures in equal shares before its answers.

        Files tell of no order in time: whoever counts failures in a row would take the file of errors for an outage of
        a service that answered all others. They are read twice, since the answers need not fit into memory. A line with
        a text stands for its request, whatever others say.
        """
        left = {ident: wanted[ident] for ident in record.ids if ident in wanted}
        failures: dict[str, Completion] = {}
        answered: set[str] = set()
        for ident, answer in self._results(record, left):
            if answer.text is None:
                failures.setdefault(ident, answer)
            else:
                answered.add(ident)
        gone = ending is _GONE
        unanswered: deque[tuple[str, Completion]] = deque()
        for ident, ask in left.items():
            if ident not in answered:
                missing = failed(ask, f"batch {record.batch_id} {ending}", retryable=not gone)
                if record.lost:  # it was booked when it was lost, and what is reserved now pays for a new one
                    missing = replace(missing, bill_unknown=False)
                unanswered.append((ident, failures.get(ident) or missing))
        failures_each = len(unanswered) / max(len(answered), 1)
        for ident, answer in self._results(record, left):
            if answer.text is not None and ident in answered:
                answered.remove(ident)
                while len(unanswered) > failures_each * len(answered):
                    yield unanswered.popleft()
                yield ident, answer
        yield from unanswered

    def _results(self, record: BatchRecord, asks: Mapping[str, ChatCall]) -> Iterator[tuple[str, Completion]]:
        """The lines about these requests, as completions."""
        for line in read_lines(self._records.file(record, "output"), self._records.file(record, "errors")):
            if (ask := asks.get(line.custom_id)) is not None:
                yield line.custom_id, completion(line, ask, self._chat)

    def _fetch(self, record: BatchRecord) -> str:
        """Waits for a batch and writes its answers to disk; says how it ended for requests without one."""
        if record.downloaded or record.batch_id is None:
            return "ended without it"
        try:
            batch = self._api.wait_for(record.batch_id)
            if batch.status != "failed":
                for file_id, path in (
                    (batch.error_file_id, self._records.file(record, "errors")),
                    (batch.output_file_id, self._records.file(record, "output")),
                ):
                    if file_id:
                        self._api.download(file_id, path)
        except GoneError as fault:
            # What is lost already is wanted under `--retry-failed` alone: it is sent anew.
            return f"is gone ({fault})" if record.lost else _GONE
        if batch.status == "failed":
            self._records.forget(record)  # nothing of it was worked on
            raise self._refused(batch)
        record.downloaded = True
        self._records.save(record)
        return f"{batch.status} without it"

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
            _log.info(f"{self.spec.model}: {batches} with {count} requests at the provider, answered within 24 hours")

    def _sleep(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise KeyboardInterrupt


def _attempts(answer: Completion, ask: ChatCall) -> int:
    """In how many batches a request is sent at most by one command. A useless answer that was billed is bought twice.

    Where somebody counts the money, it is reserved for one answer: what may have been billed is sent once.
    """
    may_cost = answer.bill_unknown or answer.completion_tokens or answer.named_cost
    if ask.meter is not None and may_cost:
        return 1
    return 2 if kind_of_error(answer.error).then == "retry" else ATTEMPTS


def _ident(ask: ChatCall) -> str:
    """The id of a call, also of one of several that differ in a seed which is not sent."""
    return content_id(ask.request_id, {**ask.whole, "seed": ask.seed})


class _BatchResponse(BaseModel):
    status_code: int
    body: Any = None


class _BatchError(BaseModel):
    code: str | None = None
    message: str | None = None


class AnswerLine(BaseModel):
    """The result of one request of a batch."""

    custom_id: str
    response: _BatchResponse | None = None
    error: _BatchError | None = None


def read_lines(*files: Path) -> Iterator[AnswerLine]:
    """The lines of the existing files. A line that cannot be parsed is skipped: its request has no answer."""
    for path in files:
        if not path.exists():
            continue
        with path.open("rb") as file:
            for line in file:
                try:
                    yield AnswerLine.model_validate(parse(line))
                except ValueError:  # pydantic's own is one
                    continue


def completion(line: AnswerLine, ask: ChatCall, chat: ChatApi) -> Completion:
    """A line as a completion, with the same errors as a direct request."""
    response = line.response
    if line.error is not None or response is None:
        error = line.error or _BatchError()
        return failed(ask, chat.server.in_short(f"{error.code or 'no answer'}: {error.message or ''}".rstrip(": ")))
    if response.status_code != 200:
        fault = chat.server.fault(response.status_code, read_error(response.body))
        return replace(failed(ask, str(fault), retryable=fault.retryable, kind=fault.kind), ending=fault.ending)
    try:
        answer = chat.read(response.body)
    except RequestError as fault:
        unknown = fault.kind.billable and (fault.bill is None or fault.bill.unknown)
        return replace(chat.failure(ask, fault), purchase=BATCH, bill_unknown=unknown)
    return completed(ask.request_id, ask.seed, answer, purchase=BATCH)


def failed(ask: ChatCall, reason: str, *, retryable: bool = True, kind: FaultKind | None = None) -> Completion:
    """A request of a batch that has no answer. It may be billed, unless the table of faults denies that of its kind."""
    unknown = (kind or kind_of_error(reason)).billable
    return Completion(
        ask.request_id, ask.seed, None, error=reason, retryable=retryable, purchase=BATCH, bill_unknown=unknown
    )
