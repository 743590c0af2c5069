"""The step that reads stored answers. It asks no model, and is free: a changed reader reads all answers again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.identity import content_id
from polyculture.cache.parquet import objects_to_table, read_rows
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.shards import JobShards
from polyculture.cache.worker import Done, Kept, Step, Work
from polyculture.generate.engines.answer import ending_of
from polyculture.generate.engines.models import Models
from polyculture.instruments.datasets.model import DataSet
from polyculture.instruments.swaps.asking import Asking
from polyculture.instruments.swaps.rows import SWAP_READINGS, SWAP_RESPONSES, WANTED_SWAPS, SwapReading
from polyculture.instruments.swaps.text import Filled

AT_ONCE = 10_000  # rows that are written together
_READ = ["answer_id", "request_id", "context_id", "entity_id", "status"]


@dataclass(frozen=True, slots=True)
class Unread:
    """An answer, and the reading of it."""

    reading_id: str
    answer_id: str
    raw: str
    cut: bool
    filled: Filled


class ReadingStep(Step[Unread, Models]):
    """Reads all stored answers to the present questions of a task, whatever part of a data set is asked now.

    An answer that cannot be read is a row with the reason.
    """

    name = "read"
    tables = (SWAP_READINGS,)

    def __init__(self, run: RunFolder, task: str, dataset: DataSet, by_language: Mapping[str, Asking]) -> None:
        self._run, self._task, self._by_language = run, task, by_language
        self._contexts = {context.context_id: context for context in dataset.contexts}
        self._entities = {entity.entity_id: entity for entity in dataset.entities}

    def works(self) -> Iterator[Work[Unread]]:
        """A work per job that has answers to present questions."""
        path = self._run.table(WANTED_SWAPS.name)
        if not path.exists():
            return
        wanted = read_rows(path, WANTED_SWAPS).select(["request_id", "asked_id"])
        for job in self._run.jobs(SWAP_RESPONSES.name):
            asking = self._by_language.get(job.language)
            if asking is None or not job.topic.startswith(f"{self._task}-"):
                continue
            present = wanted.filter(pc.field("asked_id") == asking.question.asked_id)["request_id"].combine_chunks()
            size = self._rows(job, present, _READ).num_rows
            if size:
                label = f"{job.model} {job.language} {job.topic.replace('-', ' ', 1)}"
                yield Work(job, {}, partial(self._answers, job, present), size, label)

    def keys(self, item: Unread) -> tuple[str, ...]:
        return (item.reading_id,)

    def ask(self, work: Work[Unread], items: Iterator[Unread], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per answer, many at a time: what a kill loses is read again."""
        reader = self._by_language[work.job.language].reader
        while some := list(islice(items, AT_ONCE)):
            rows = [
                SwapReading(
                    one.reading_id, one.answer_id, reader.reader_id,
                    **reader.read(one.raw, one.filled, cut=one.cut).columns,
                )
                for one in some
            ]  # fmt: skip
            yield Done({SWAP_READINGS.name: objects_to_table(SWAP_READINGS, rows)})

    def _rows(self, job: Job, present: pa.Array[Any], columns: Sequence[str]) -> pa.Table:
        """The answers that came to present requests about what the data set holds."""
        rows = JobShards(self._run, job, [SWAP_RESPONSES]).read(SWAP_RESPONSES.name, list(columns))
        known = pc.is_in(rows["request_id"], value_set=present)
        for name, ids in (("context_id", self._contexts), ("entity_id", self._entities)):
            known = pc.and_(known, pc.is_in(rows[name], value_set=pa.array(list(ids), pa.string())))
        return rows.filter(pc.and_(known, pc.equal(rows["status"], pa.scalar("ok"))))

    def _answers(self, job: Job, present: pa.Array[Any]) -> Iterator[Unread]:
        reader_id = self._by_language[job.language].reader.reader_id
        for row in self._rows(job, present, [*_READ, "raw", "finish_reason"]).to_pylist():
            filled = Filled(self._contexts[row["context_id"]], self._entities[row["entity_id"]])
            cut, key = ending_of(row["finish_reason"]) == "cut", content_id(row["answer_id"], reader_id)
            yield Unread(key, row["answer_id"], row["raw"], cut, filled)
