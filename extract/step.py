"""The step that extracts: responses in, their mentions in the store out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.catalog import Catalog, Topic
from polyculture.cache.store.answers import REQUEST_COLUMNS, sibling_parts, wanted_batches, wanted_rows
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import EXTRACTIONS, MENTIONS, RESPONSES, Extraction, Mention
from polyculture.cache.store.shards import JobShards, part_files
from polyculture.cache.work.faults import RetryFailed
from polyculture.cache.work.worker import (
    AnswerText,
    Done,
    Kept,
    Load,
    Remaining,
    Step,
    Work,
    WorkCount,
    count_rows,
    row_states,
    states_of,
    status_columns,
)
from polyculture.extract.base import Extracted, Extractor, ResponseText, unpaid
from polyculture.extract.llm import asked_id
from polyculture.extract.rows import (
    RESPONSE_COLUMNS,
    ResponseColumns,
    as_tables,
    extraction_id,
    extraction_rows,
)
from polyculture.extract.sharing import find_extractions, read_known
from polyculture.generate.engines.models import Models

COUNTED = 500  # stored texts of a job whose tokens a plan counts
BATCH = 8_192  # responses that a gazetteer reads together
EXTRACTOR = "extractor"  # the role of the model that extracts

OpenExtractor = Callable[[Job, Models], Extractor]


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """A response that is extracted: its cell, its text, the key of its extraction, and the request about its text."""

    extraction_id: str
    cell: ResponseColumns
    text: str
    asked_id: str | None  # None where no model is asked

    @property
    def response_id(self) -> str:
        """That of the response."""
        return self.cell.response_id


@dataclass(frozen=True)
class ExtractorLoads:
    """What `plan` knows of what an extractor model will read and write."""

    heads: Mapping[str, str]  # by topic, the instructions that it reads before each text
    most_tokens: int  # of its answer about a text
    text_tokens: int  # of a text, at most
    prompts: Mapping[tuple[str, str], int]  # that texts answer, by language and topic
    taken_over: Callable[[Job], pa.Table | None]  # responses that runs beside this one hold for a job
    are_stored: bool = False  # whether all texts are there, as imported ones: their own tokens are counted


@dataclass(frozen=True)
class ExtractorChoice:
    """What extracts: the model by name, or None for one that is no model; its identity by topic; how it is opened."""

    model: str | None
    extractor_ids: Mapping[str, str]  # topic -> the id that mentions are known by
    open: OpenExtractor
    reader_id: str | None = None  # who reads a model's answers; None: the first reader
    loads: ExtractorLoads | None = None  # None of what is no model


class ExtractionStep(Step[ResponseRow, Models]):
    """Finds the mentions of the current responses of jobs. Memory is bounded by a batch of responses and their ids."""

    name = "extract"
    tables = (MENTIONS, EXTRACTIONS)
    reads = (RESPONSES,)
    slot = ("response_id",)  # nobody reads another text in place of one
    use, in_batches = "extract", True

    def __init__(
        self,
        run: RunFolder,
        jobs: Sequence[tuple[Job, int]],
        wanted: pa.Table,
        catalog: Catalog,
        extractor: ExtractorChoice,
    ) -> None:
        """`wanted` has the rows of `wanted_responses`: the responses of these requests are extracted."""
        self._run, self._jobs, self._wanted = run, jobs, wanted
        self._catalog, self._extractor = catalog, extractor

    def works(self) -> Iterator[Work[ResponseRow]]:
        """A work per job; its size is that of its prompts and samples."""
        models = {EXTRACTOR: self._extractor.model} if self._extractor.model else {}
        loads = self._extractor.loads
        for job, size in self._jobs:
            prompts = loads.prompts[job.language, job.topic] if loads else None
            yield Work(job, models, partial(self.responses, job), size, prompts=prompts)

    def keys(self, item: ResponseRow) -> tuple[str, ...]:
        return (item.extraction_id,)

    def adopt(
        self, run: RunFolder, work: Work[ResponseRow], missing: Sequence[ResponseRow]
    ) -> dict[str, pa.Table] | None:
        """What the model has answered about the same texts. A gazetteer costs nothing to ask again."""
        topic = self._catalog.topic(work.job.topic)
        if self._extractor.model is None:
            return None
        items = {item.cell.response_id: item for item in missing}
        texts, asked = {key: item.text for key, item in items.items()}, [item.asked_id or "" for item in items.values()]
        found = find_extractions(run, work.job, texts, asked, topic, self._catalog.endings)
        return as_tables(row for one in found for row in self.rows(items[one.response_id], one, topic))

    def read_again(
        self, work: Work[ResponseRow], missing: Sequence[ResponseRow], failed: pa.Table
    ) -> dict[str, pa.Table] | None:
        """The mentions that the model lists in answers which nobody could read when they came."""
        topic = self._catalog.topic(work.job.topic)
        items = {item.extraction_id: item for item in missing}
        rows: list[Extraction | Mention] = []
        for row in failed.to_pylist():
            answer, item = Extracted(**{name: row[name] for name in _UNREAD}), items.get(row["extraction_id"])
            if item is not None:
                found = read_known([answer], item.text, topic, work.job.language, self._catalog.endings)
                rows += self.rows(item, found, topic) if found is not None and found.status == "ok" else ()
        return as_tables(rows) if rows else None

    def ask(self, work: Work[ResponseRow], items: Iterator[ResponseRow], models: Models, kept: Kept) -> Iterator[Done]:
        """The outcome of each response. Paid answers arrive one by one, one for equal texts; the others in bulk."""
        topic = self._catalog.topic(work.job.topic)
        extractor = self._extractor.open(work.job, models)
        if not extractor.costly:
            while batch := {item.cell.response_id: item for item in islice(items, BATCH)}:
                found = extractor.extract(_texts([item] for item in batch.values()))
                yield Done(as_tables(row for one in found for row in self.rows(batch[one.response_id], one, topic)))
            return
        equal: dict[str | None, list[ResponseRow]] = {}  # the missing responses are in memory anyway
        for item in items:
            equal.setdefault(item.asked_id or item.extraction_id, []).append(item)
        asked = {group[0].cell.response_id: group for group in equal.values()}
        unusable = _unusable(kept, extractor.extractor_id)
        for extracted in extractor.extract(_texts(asked.values(), unusable)):
            item, *others = asked[extracted.response_id]
            yield Done(self.rows(item, extracted, topic))
            if extracted.status != "unusable":
                yield from (Done(self.rows(one, unpaid(extracted), topic)) for one in others)

    def count(self, run: RunFolder, work: Work[ResponseRow]) -> WorkCount:
        """As of any step, by the requests of the job's responses. A response that failed has nothing to extract."""
        job, extractor = work.job, self._extractor
        wanted = self._wanted.filter(pc.field("model") == job.model)

        def current(rows: pa.Table) -> pa.Table:
            mine = pc.field("extractor_id") == extractor.extractor_ids[job.topic]
            reader = pc.field("reader_id")
            read = reader.is_null() if extractor.reader_id is None else reader == extractor.reader_id
            return wanted_rows(rows.filter(mine & read), wanted)

        responses = JobShards(run, job, (RESPONSES,))
        lost = count_rows(responses, REQUEST_COLUMNS, partial(wanted_rows, wanted=wanted), work.size).failed
        columns = (*REQUEST_COLUMNS, "extractor_id", "reader_id")
        return count_rows(JobShards(run, job, self.tables), columns, current, work.size - lost)

    def remaining(self, run: RunFolder, work: Work[ResponseRow], retry: RetryFailed | None = None) -> Remaining:
        """The texts that nobody has read, those that are still to come included. Whoever read one reads it for free.

        Texts are not read here, as long as nothing says that an answer about an equal one is there: a run has millions.
        """
        loads, job = self._extractor.loads, work.job
        if loads is None:
            return super().remaining(run, work, retry)
        texts = self._texts_of(job, retry)
        unread = {text for text, state in texts.items() if state == "ok"} - self._read_of(job, retry)
        lost = sum(state == "failed" for state in texts.values())
        shared = self._shared(run, work, unread, retry)
        left = max(work.size - sum(state == "ok" for state in texts.values()) - lost + len(unread) - shared, 0)
        if loads.are_stored:
            return Remaining(work.size - left, self._loads_of(job, unread, left, loads))
        text = AnswerText(RESPONSES.stage, job.model, loads.text_tokens)
        # Until answers are measured, as much is expected to be written as is read.
        load = Load(loads.heads[job.topic], loads.most_tokens, left, answer=text, length=1.0)
        return Remaining(work.size - left, [replace(load, distinct=self._distinct)] if left else [])

    def _loads_of(self, job: Job, unread: Collection[str], left: int, loads: ExtractorLoads) -> Iterator[Load]:
        """What is read of the stored texts of a job, and written about `left` of them; of many, some are counted."""
        batches = (batch.to_pydict() for batch in self._wanted_of(job, ("response_id", "text")))
        rows = (row for batch in batches for row in zip(batch["response_id"], batch["text"], strict=True))
        texts = [text for key, text in rows if key in unread] if left else []
        counted = texts[:: -(-len(texts) // COUNTED) or 1]
        told = f"Texts are counted by {COUNTED:,} of each model, language and topic" if counted != texts else ""
        for place, text in enumerate(counted):
            read = f"{loads.heads[job.topic]} {text}"
            times = left // len(counted) + (place < left % len(counted))
            # Until answers are measured, as much is expected to be written as the text has.
            length = len(text) / len(read)
            yield Load(read, loads.most_tokens, times, length=length, distinct=self._distinct, assumed=told)

    def _texts_of(self, job: Job, retry: RetryFailed | None) -> dict[str, str | None]:
        """The state of each stored response of a job, by its id."""
        found: dict[str, str | None] = {}
        for batch in self._wanted_of(job, ("response_id", *status_columns(RESPONSES, retry))):
            ids = map(str, batch["response_id"].to_pylist())
            found.update(zip(ids, states_of(batch, retry), strict=True))
        return found

    def _read_of(self, job: Job, retry: RetryFailed | None) -> set[str]:
        """The responses of a job that the extractor has read, or failed to read for good, whoever parses answers."""
        columns = ("response_id", "extractor_id")
        wanted = self._extractor.extractor_ids[job.topic]
        states = row_states(JobShards(self._run, job, self.tables), retry, columns)
        return {text for (text, extractor), state in states if extractor == wanted and state in ("ok", "failed")}

    def _shared(
        self, run: RunFolder, work: Work[ResponseRow], unread: Collection[str], retry: RetryFailed | None
    ) -> int:
        """How many of a job's texts have an answer about an equal text, of this run or one beside it: of those that are
        unread, and of those that will be taken over. A failure that is asked again is no answer."""
        job, loads = work.job, self._extractor.loads
        if not sibling_parts(run, job, EXTRACTIONS) and not (unread and part_files(run.shards(EXTRACTIONS.name, job))):
            return 0
        items = [item for item in work.items() if item.cell.response_id in unread] if unread else []
        taken = loads.taken_over(job) if loads else None
        found = self.adopt(run, work, [*items, *(self.rows_of(job, taken) if taken is not None else ())])
        if found is None:
            return 0
        again = self._read_of(job, None) - self._read_of(job, retry) if retry else ()
        asked_again = pa.array([item.asked_id for item in items if item.cell.response_id in again], pa.string())
        fails = (pc.field("status") == "failed") & pc.field("asked_id").isin(asked_again)
        return found[EXTRACTIONS.name].filter(~fails).num_rows

    @cached_property
    def _distinct(self) -> float:
        """The share of distinct texts among those of a job, over all jobs: later texts are taken to repeat alike."""
        distinct = texts = 0
        for job, _ in self._jobs:
            batches = (batch.filter(pc.field("status") == "ok") for batch in self._wanted_of(job, _TEXT))
            stored = pa.chunked_array([batch["text"].cast(pa.string()) for batch in batches], pa.string())
            texts, distinct = texts + len(stored), distinct + pc.count_distinct(stored).as_py()
        return distinct / texts if texts else 1.0

    def _wanted_of(self, job: Job, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        wanted = self._wanted.filter(pc.field("model") == job.model)
        return wanted_batches(self._run, job, RESPONSES, wanted, columns)

    def responses(self, job: Job) -> Iterator[ResponseRow]:
        """The job's responses that have a text."""
        for batch in self._wanted_of(job, (*_READ, "status")):
            yield from self.rows_of(job, pa.Table.from_batches([batch]))

    def rows_of(self, job: Job, responses: pa.Table) -> Iterator[ResponseRow]:
        """Responses of a job that have a text, as they are extracted."""
        ids = self._extractor.extractor_ids[job.topic], self._extractor.reader_id
        answered = responses.filter(pc.field("status") == "ok").select(list(_READ))
        for row in zip(*(answered[name].to_pylist() for name in _READ), strict=True):
            values = dict(zip(_READ, row, strict=True))
            text = values.pop("text")
            asked = asked_id(ids[0], text) if self._extractor.model else None
            yield ResponseRow(extraction_id(values["response_id"], *ids), ResponseColumns(**values), text, asked)

    def rows(self, item: ResponseRow, extracted: Extracted, topic: Topic) -> tuple[Extraction | Mention, ...]:
        """The rows of `extractions` and `mentions` that a result becomes."""
        ids = self._extractor.extractor_ids[topic.code], self._extractor.reader_id
        return extraction_rows(item.cell, extracted, topic, *ids, item.asked_id)


_READ = (*RESPONSE_COLUMNS, "text")
_TEXT = ("text", "status")
# What is known of an unusable answer: what the next one is asked with, and what it lists.
_UNUSABLE = ("response_id", "status", "retryable", "attempts", "error", "raw", "extractor_model", "ending",
             "finish_reason", "note", "completion_tokens")  # fmt: skip
_UNREAD = (*_UNUSABLE, "prompt_tokens", "body")  # what is known of an answer that nobody could read


def _texts(
    groups: Iterable[Sequence[ResponseRow]], unusable: Mapping[str, Sequence[Extracted]] = MappingProxyType({})
) -> Iterator[ResponseText]:
    """One response of each group of equal texts."""
    for item, *_ in groups:
        before = tuple(unusable.get(item.asked_id or "", ()))
        yield ResponseText(item.cell.response_id, item.cell.language, item.text, before)


def _unusable(kept: Kept, extractor_id: str) -> Mapping[str, list[Extracted]]:
    """Unusable answers so far, by request: the same question is not repeated. Retryable ones count as no attempt."""
    rows = kept.read("extractions", ["asked_id", "extractor_id", *_UNUSABLE])
    is_void = (pc.field("retryable") == pc.scalar(True)) & pc.field("retryable").is_valid()
    unusable = (pc.field("status") == "unusable") & ~is_void
    mine = rows.filter((pc.field("extractor_id") == extractor_id) & unusable).sort_by("attempts")
    answers: dict[str, list[Extracted]] = {}
    for row in mine.to_pylist():
        answers.setdefault(row["asked_id"], []).append(Extracted(**{name: row[name] for name in _UNUSABLE}))
    return answers
