"""The step that extracts: responses in, their mentions in the store out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.catalog import Catalog
from polyculture.cache.store.answers import REQUEST_COLUMNS, sibling_parts, wanted_batches, wanted_rows
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import EXTRACTIONS, MENTIONS, RESPONSES
from polyculture.cache.store.shards import JobShards, part_files
from polyculture.cache.work.faults import RetryFailed
from polyculture.cache.work.worker import (
    AnswerText,
    Load,
    Remaining,
    Work,
    WorkCount,
    count_rows,
    row_states,
    states_of,
    status_columns,
)
from polyculture.extract.rows import (
    RESPONSE_COLUMNS,
    ResponseColumns,
)
from polyculture.extract.text_step import EXTRACTOR, ExtractorChoice, ExtractorLoads, ResponseRow, TextExtractionStep

COUNTED = 500  # stored texts of a job whose tokens a plan counts


class ExtractionStep(TextExtractionStep):
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
        super().__init__(run, catalog, extractor)
        self._jobs, self._wanted = jobs, wanted

    def works(self) -> Iterator[Work[ResponseRow]]:
        """A work per job; its size is that of its prompts and samples."""
        models = {EXTRACTOR: self._extractor.model} if self._extractor.model else {}
        loads = self._extractor.loads
        for job, size in self._jobs:
            prompts = loads.prompts[job.language, job.topic] if loads else None
            yield Work(job, models, partial(self.responses, job), size, prompts=prompts)

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
        answered = responses.filter(pc.field("status") == "ok").select(list(_READ))
        for row in zip(*(answered[name].to_pylist() for name in _READ), strict=True):
            values = dict(zip(_READ, row, strict=True))
            text = values.pop("text")
            yield self.item(ResponseColumns(**values), text, job.topic)


_READ = (*RESPONSE_COLUMNS, "text")
_TEXT = ("text", "status")
