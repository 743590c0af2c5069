"""The steps that ask about texts with swapped entities and read the answers, and the tables that say what is asked.

A job is a task, a model, a language, and one type of one native culture of a data set. Its unit of work is one entity
in one context; where the answer depends on the seed, in one draw.

Reading asks no model, and is free: a changed reader reads all stored answers again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.cache.manifest import setup_id
from polyculture.cache.parquet import joined, present_rows, read_rows
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.shards import JobShards
from polyculture.cache.worker import Done, Kept, Load, Step, Work
from polyculture.generate.engines.base import Completion
from polyculture.generate.engines.endings import ending_of
from polyculture.generate.engines.models import MODEL, Models
from polyculture.instruments.datasets.model import DataSet
from polyculture.instruments.row_step import MadeRow, RowStep, adopted_answers, completion_columns
from polyculture.instruments.swaps.asking import Ask, Asking
from polyculture.instruments.swaps.layout import (
    SWAP_QUESTIONS,
    SWAP_READINGS,
    SWAP_RESPONSES,
    WANTED_SWAPS,
    SwapReading,
    SwapResponse,
    WantedSwap,
)
from polyculture.instruments.swaps.selection import SwapJob
from polyculture.instruments.swaps.text import Filled, Reader

# Of an answer, what follows from where its text stands in the data set: taken over with the same request's answer.
_OF_NOW = ("answer_id", "request_id", "context_id", "entity_id", "sample")


class SwapStep(Step[Ask, Models]):
    """Asks about the texts of jobs. A failure is a row with its reason."""

    tables = (SWAP_RESPONSES,)

    def __init__(self, task: str, jobs: Sequence[SwapJob], by_language: Mapping[str, Asking]) -> None:
        self.name = task
        self._jobs = {swap.job: swap for swap in jobs}
        self._by_language = by_language

    def works(self) -> Iterator[Work[Ask]]:
        """A work per job."""
        for job, swap in self._jobs.items():
            asking = self._by_language[job.language]
            size = sum(len(_samples(draws, asking)) for _, drawn in swap.asked for _, draws in drawn)
            label = f"{job.model} {job.language} {job.topic.partition('-')[2]}"
            items, loads = partial(asks_of, swap, asking), partial(_loads, swap, asking)
            yield Work(job, {MODEL: job.model}, items, size, label, loads)

    def keys(self, item: Ask) -> tuple[str, ...]:
        return (item.answer_id,)

    def adopt(self, run: RunFolder, work: Work[Ask], missing: Sequence[Ask]) -> Mapping[str, pa.Table]:
        """The answers to the same requests that runs beside this one hold, and this one about another text alike."""
        return adopted_answers(run, work.job, SWAP_RESPONSES, missing, _OF_NOW)

    def ask(self, work: Work[Ask], items: Iterator[Ask], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per text, as the answers come."""
        waiting: dict[str, Ask] = {}
        asking = self._by_language[work.job.language]
        for said in asking.completions(_held(items, waiting), models):
            yield Done((_response(self._jobs[work.job], waiting.pop(said.request_id), said),))

    def load(self, item: Ask) -> Load | None:
        return self._by_language[item.filled.context.language].load(item.filled)


def asks_of(swap: SwapJob, asking: Asking) -> Iterator[Ask]:
    """Every text of a job once, or once for each draw that has it."""
    for context, drawn in swap.asked:
        for entity, draws in drawn:
            filled = Filled(context, entity)
            request = asking.request_id(swap.job.model, swap.setup, filled)
            for sample in _samples(draws, asking):
                key = content_id(request, context.context_id, entity.entity_id, sample)
                yield Ask(key, request, filled, sample, swap.seed + sample)


def _samples(draws: Mapping[int, int], asking: Asking) -> Collection[int]:
    """The samples of a text that these draws have."""
    return (0,) if asking.repeatable else draws


def _loads(swap: SwapJob, asking: Asking) -> Iterator[Load]:
    """What all of a job costs at most: a context's question is read once for each of its texts."""
    for context, drawn in swap.asked:
        texts = [entity for entity, draws in drawn for _ in _samples(draws, asking)]
        if load := asking.load(Filled(context, texts[0])):
            yield replace(load, times=len(texts), apart=" ".join(entity.surface for entity in texts))


def wanted_tables(
    run: RunFolder, task: str, jobs: Sequence[SwapJob], by_language: Mapping[str, Asking]
) -> dict[Table[Any], pa.Table]:
    """The tables to write so that the answers of these jobs count; none that say so already.

    What was wanted before is still, e.g. after a command that asks fewer texts.
    """
    questions = {row.asked_id: row for row in (asking.question for asking in by_language.values())}
    wanted = [row for swap in jobs for row in _wanted(swap, by_language)]
    context = ("asked_id", "model", "context_id")
    contexts = pa.array({f"{row.asked_id}\n{row.model}\n{row.context_id}" for row in wanted}, pa.string())

    def once(others: pa.Table) -> pa.Table:
        """A text that is not drawn now of a context that is asked now counts once."""
        asked = pc.is_in(joined(others, context), value_set=contexts)
        times = pc.if_else(asked, pa.scalar(1, pa.int64()), others["times"])
        return others.set_column(others.schema.get_field_index("times"), others.schema.field("times"), times)

    return {
        **present_rows(run, SWAP_QUESTIONS.of_measure(task), list(questions.values()), ("asked_id",)),
        **present_rows(run, WANTED_SWAPS.of_measure(task), wanted, (*context, "entity_id", "draw"), once),
    }


def _wanted(swap: SwapJob, by_language: Mapping[str, Asking]) -> Iterator[WantedSwap]:
    asking, setup = by_language[swap.job.language], setup_id(swap.setup)
    model, asked_id = swap.job.model, asking.question.asked_id
    for context, drawn in swap.asked:
        for entity, draws in drawn:
            request = asking.request_id(model, swap.setup, Filled(context, entity))
            for draw, times in draws.items():
                sample = 0 if asking.repeatable else draw
                yield WantedSwap(
                    request, context.context_id, entity.entity_id, sample, draw, times, model, setup, asked_id
                )


def _held(items: Iterator[Ask], waiting: dict[str, Ask]) -> Iterator[Ask]:
    for ask in items:
        waiting[ask.answer_id] = ask
        yield ask


def _response(swap: SwapJob, ask: Ask, said: Completion) -> SwapResponse:
    return SwapResponse(
        ask.answer_id, ask.request_id, ask.context_id, ask.entity_id, ask.sample, swap.job.model, swap.job.language,
        swap.job.topic, **completion_columns(said),
    )  # fmt: skip


_DECIDE = ("answer_id", "request_id", "context_id", "entity_id", "status")  # which answers are read


class ReadingStep(RowStep):
    """Reads all stored answers to the present questions of a task, whatever part of a data set is asked now.

    An answer that cannot be read is a row with the reason.
    """

    name = "read"
    tables = (SWAP_READINGS,)

    def __init__(self, run: RunFolder, task: str, dataset: DataSet, by_language: Mapping[str, Asking]) -> None:
        self._run, self._task, self._by_language = run, task, by_language
        self._contexts = {context.context_id: context for context in dataset.contexts}
        self._entities = {entity.entity_id: entity for entity in dataset.entities}

    def jobs(self) -> Iterator[Job]:
        for job in self._run.jobs(SWAP_RESPONSES.name):
            if job.language in self._by_language and job.topic.startswith(f"{self._task}-"):
                yield job

    def size(self, job: Job) -> int:
        return self._answers(job, _DECIDE).num_rows

    def label(self, job: Job) -> str:
        return f"{job.model} {job.language} {job.topic.replace('-', ' ', 1)}"

    def rows(self, job: Job) -> Iterator[MadeRow]:
        """A row per answer that came to a present request about what the data set holds."""
        reader = self._by_language[job.language].reader
        for row in self._answers(job, (*_DECIDE, "raw", "finish_reason")).to_pylist():
            key = content_id(row["answer_id"], reader.reader_id)
            yield MadeRow(key, partial(self._read, reader, key, row))

    def _read(self, reader: Reader, key: str, row: Mapping[str, Any]) -> SwapReading:
        filled = Filled(self._contexts[row["context_id"]], self._entities[row["entity_id"]])
        read = reader.read(row["raw"], filled, cut=ending_of(row["finish_reason"]) == "cut")
        return SwapReading(key, row["answer_id"], reader.reader_id, **read.columns)

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
