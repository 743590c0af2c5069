"""The steps that ask about texts with swapped entities and read the answers, and the tables that say what is asked.

A job is a task, a model, a language, and one type of one native culture of a data set. Its unit of work is one entity
in one context; where the answer depends on the seed, in one draw.

Reading asks no model, and is free: a changed reader reads all stored answers again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.identity import content_id
from polyculture.cache.store.layout import Table
from polyculture.cache.store.manifest import CurrentId
from polyculture.cache.store.parquet import joined, present_rows, read_rows
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.shards import JobShards
from polyculture.cache.work.worker import Load, Work
from polyculture.generate.engines.base import Completion
from polyculture.generate.engines.endings import ending_of
from polyculture.generate.engines.models import Models
from polyculture.instruments.datasets.model import DataSet
from polyculture.instruments.row_step import MadeRow, RowStep, TextStep
from polyculture.instruments.swaps.asking import AskedText, SwapJob, SwapProtocol, place_of
from polyculture.instruments.swaps.layout import (
    SWAP_QUESTIONS,
    SWAP_READINGS,
    SWAP_RESPONSES,
    WANTED_SWAPS,
    SwapReading,
)
from polyculture.instruments.swaps.tasks import FilledContext


class SwapStep(TextStep[AskedText, SwapJob]):
    """Asks about the texts of jobs."""

    tables = (SWAP_RESPONSES,)
    use = "answer"

    def __init__(self, task: str, jobs: Sequence[SwapJob]) -> None:
        super().__init__(jobs)
        self.name = task

    def works(self) -> Iterator[Work[AskedText]]:
        """As of each step; in messages the step's name is the task already."""
        for work in super().works():
            job = work.job
            yield replace(work, name=f"{job.model} {job.language} {job.topic.partition('-')[2]}")

    def completions(self, job: Job, asks: Iterator[AskedText], models: Models) -> Iterator[Completion]:
        return self.asked[job].asking.completions(asks, models)

    def loads(self, work: Work[AskedText], items: Iterable[AskedText]) -> Iterator[Load]:
        """The question about each text, and the tokens that an answer has at most."""
        asking = self.asked[work.job].asking
        return (load for item in items if (load := asking.load(item.filled)))


def wanted_tables(run: RunFolder, task: str, jobs: Sequence[SwapJob]) -> dict[Table[Any], pa.Table]:
    """The tables to write so that the answers of these jobs count; none that say so already.

    What was wanted before is still, e.g. after a command that asks fewer texts.
    """
    questions = list({swap.asking.question.asked_id: swap.asking.question for swap in jobs}.values())
    wanted = [row for swap in jobs for row in swap.wanted()]
    context = ("asked_id", "model", "context_id")
    contexts = pa.array({f"{row.asked_id}\n{row.model}\n{row.context_id}" for row in wanted}, pa.string())

    def once(others: pa.Table) -> pa.Table:
        """A text that is not drawn now of a context that is asked now counts once."""
        asked = pc.is_in(joined(others, context), value_set=contexts)
        times = pc.if_else(asked, pa.scalar(1, pa.int64()), others["times"])
        return others.set_column(others.schema.get_field_index("times"), others.schema.field("times"), times)

    return {
        **present_rows(run, SWAP_QUESTIONS.of_measure(task), questions),
        **present_rows(run, WANTED_SWAPS.of_measure(task), wanted, once),
    }


_DECIDE = ("answer_id", "request_id", "context_id", "entity_id", "status")  # which answers are read


class SwapReadingStep(RowStep):
    """Reads all stored answers to the present questions of a task, whatever part of a data set is asked now.

    An answer that cannot be read is a row with the reason.
    """

    name = "read"
    tables = (SWAP_READINGS,)
    reads = (SWAP_RESPONSES,)

    def __init__(self, run: RunFolder, task: str, dataset: DataSet, by_language: Mapping[str, SwapProtocol]) -> None:
        self._run, self._task, self._by_language = run, task, by_language
        self._contexts = {context.context_id: context for context in dataset.contexts}
        self._entities = {entity.entity_id: entity for entity in dataset.entities}
        self.ids = [
            CurrentId(what=place_of(one, language), id=one.reader_id, reads=True, measure=task)
            for language, one in by_language.items()
        ]

    def jobs(self) -> Iterator[Job]:
        for job in self._run.jobs(SWAP_RESPONSES.name):
            if job.language in self._by_language and job.topic.startswith(f"{self._task}-"):
                yield job

    def size(self, job: Job) -> int:
        return self._answers(job, _DECIDE).num_rows

    def works(self) -> Iterator[Work[MadeRow]]:
        """As of each step, with the task as a word of its own."""
        for work in super().works():
            job = work.job
            yield replace(work, name=f"{job.model} {job.language} {job.topic.replace('-', ' ', 1)}")

    def rows(self, job: Job) -> Iterator[MadeRow]:
        """A row per answer that came to a present request about what the data set holds."""
        asking = self._by_language[job.language]
        for row in self._answers(job, (*_DECIDE, "raw", "finish_reason")).to_pylist():
            key = content_id(row["answer_id"], asking.reader_id)
            yield MadeRow(key, partial(self._read, asking, key, row))

    def _read(self, asking: SwapProtocol, key: str, row: Mapping[str, Any]) -> SwapReading:
        filled = FilledContext(self._contexts[row["context_id"]], self._entities[row["entity_id"]])
        read = asking.read(row["raw"], filled, cut=ending_of(row["finish_reason"]) == "cut")
        return SwapReading(key, row["answer_id"], asking.reader_id, **read.columns)

    def _answers(self, job: Job, columns: Sequence[str]) -> pa.Table:
        rows = JobShards(self._run, job, [SWAP_RESPONSES]).read(SWAP_RESPONSES.name, columns)
        table = WANTED_SWAPS.of_measure(self._task)
        path = self._run.table(table.name)
        if not path.exists():
            return rows.slice(0, 0)
        wanted = read_rows(path, table, ["request_id", "asked_id"])
        asked_id = self._by_language[job.language].question.asked_id
        present = wanted.filter(pc.field("asked_id") == asked_id)["request_id"].combine_chunks()
        known = pc.is_in(rows["request_id"], value_set=present)
        for name, ids in (("context_id", self._contexts), ("entity_id", self._entities)):
            known = pc.and_(known, pc.is_in(rows[name], value_set=pa.array(list(ids), pa.string())))
        return rows.filter(pc.and_(known, pc.equal(rows["status"], pa.scalar("ok"))))
