"""The step that re-reads stored answers with a newer reader. It queries no model.

All jobs of a task on disk are read, whatever part of a data set is asked now: their answers count beside one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.shards import JobShards
from polyculture.cache.worker import Done, Kept, Span, Work
from polyculture.generate.engines.answer import NO_ANSWER
from polyculture.generate.engines.models import Models
from polyculture.instruments.datasets.model import CulturalEntity, MaskedContext, SourceLocation
from polyculture.instruments.swaps.reading import AT_LIMIT, Reader
from polyculture.instruments.swaps.rows import SWAP_ANSWERS, SWAP_READINGS, SwapAnswer, SwapReading
from polyculture.instruments.swaps.selection import FORM
from polyculture.instruments.swaps.text import Filled, Reading


@dataclass(frozen=True)
class Reads:
    """The answers to a question in one language, and their reader."""

    prompt_id: str
    reader: Reader

    @property
    def reader_id(self) -> str:
        """The reader's id."""
        return self.reader.reader_id


class ReadingStep:
    """Reads answers that the present readers have not read. An unreadable answer is a row with the reason."""

    name = "read"
    tables: tuple[Table[Any], ...] = (SWAP_READINGS,)
    span: Span = "job"

    def __init__(self, run: RunFolder, task: str, by_language: Mapping[str, Reads]) -> None:
        self._run, self._task, self._by_language = run, task, by_language

    def works(self) -> Iterator[Work[SwapAnswer]]:
        """A work per job that has something to read."""
        for job in self._run.jobs(SWAP_ANSWERS.name):
            reads = self._by_language.get(job.language)
            if reads is None or not job.topic.startswith(f"{self._task}-"):
                continue
            unread = _unread(self._run, job, reads)
            if unread:
                label = f"{job.model} {job.language} {job.topic.replace('-', ' ', 1)}"
                yield Work(job, {}, partial(_answers, self._run, job, unread), len(unread), label)

    def keys(self, item: SwapAnswer) -> tuple[str, ...]:
        return (content_id(item.answer_id, self._by_language[item.language].reader_id),)

    def adopt(self, run: RunFolder, work: Work[SwapAnswer], missing: Sequence[SwapAnswer]) -> None:
        """None: readings are free."""

    def ask(
        self,
        work: Work[SwapAnswer],
        items: Iterator[SwapAnswer],
        models: Models,
        kept: Kept,
    ) -> Iterator[Done]:
        """A row per answer."""
        for answer in items:
            reader = self._by_language[answer.language].reader
            [key] = self.keys(answer)
            reading = read_stored(reader, answer)
            yield Done((SwapReading(key, answer.answer_id, reader.reader_id, **reading.columns),))

    def load(self, item: SwapAnswer) -> None:
        """No queries."""


def read_stored(reader: Reader, answer: SwapAnswer) -> Reading:
    """A reader's result for a stored answer that has a text."""
    if answer.raw is None or _is_cut(answer):
        return Reading(None, answer.error)
    cut = (answer.error or "").endswith(AT_LIMIT)
    return reader.read_raw(answer.raw, _filled(answer), cut=cut)


def verdicts(run: RunFolder, by_language: Mapping[str, Reads], job: Job) -> dict[str, str]:
    """'ok' or 'failed' by answer, where the present reader has read what came before it did."""
    present = by_language[job.language].reader_id
    rows = _readings(run, job, present).to_pylist()
    if not rows:
        return {}
    answers = JobShards(run, job, [SWAP_ANSWERS]).read(SWAP_ANSWERS.name, ["answer_id", "reader_id"])
    asked_since = set(answers.filter(pc.field("reader_id") == present)["answer_id"].to_pylist())
    return {row["answer_id"]: row["status"] for row in rows if row["answer_id"] not in asked_since}


def _unread(run: RunFolder, job: Job, reads: Reads) -> frozenset[str]:
    """The answers to the present question that have a text, and no reading by the present reader."""
    shards = JobShards(run, job, [SWAP_ANSWERS])
    rows = shards.read(SWAP_ANSWERS.name, ["answer_id", "prompt_id", "reader_id"])
    mine = rows.filter(pc.field("prompt_id") == reads.prompt_id).to_pylist()
    by_others = {row["answer_id"] for row in mine if row["reader_id"] != reads.reader_id}
    if not by_others:
        return frozenset()
    texts = shards.read(SWAP_ANSWERS.name, ["answer_id", "raw", "error"]).to_pylist()
    there = {
        row["answer_id"] for row in texts if row["raw"] is not None and not (row["error"] or "").startswith(NO_ANSWER)
    }
    known = _readings(run, job, reads.reader_id)["answer_id"].to_pylist()
    return frozenset(there & by_others - {*known})


def _readings(run: RunFolder, job: Job, reader_id: str) -> pa.Table:
    rows = JobShards(run, job, [SWAP_READINGS]).read(SWAP_READINGS.name, ["answer_id", "reader_id", "status"])
    return rows.filter(pc.field("reader_id") == reader_id)


def _answers(run: RunFolder, job: Job, chosen: frozenset[str]) -> Iterator[SwapAnswer]:
    for row in JobShards(run, job, [SWAP_ANSWERS]).read(SWAP_ANSWERS.name).to_pylist():
        if row["answer_id"] in chosen:
            yield SwapAnswer(**row)


def _is_cut(answer: SwapAnswer) -> bool:
    """Whether there is nothing but reasoning in an answer; what opened it may stand in the prompt alone."""
    return (answer.error or "").startswith(NO_ANSWER)


def _filled(answer: SwapAnswer) -> Filled:
    """The text that an answer is about."""
    place = SourceLocation(SWAP_ANSWERS.name)
    context = MaskedContext(
        dataset=answer.dataset,
        language=answer.language,
        culture=answer.culture,
        entity_type=answer.entity_type,
        gender=None,
        setting=answer.setting,
        form=FORM,
        text=answer.context,
        english=None,
        sentiment=answer.gold,  # of the other tasks the entity, which no label is
        place=place,
    )
    entity = CulturalEntity(
        dataset=answer.dataset,
        language=answer.language,
        culture=answer.entity_culture,
        entity_type=answer.entity_type,
        surface=answer.entity,
        english=None,
        gender=None,
        country=None,
        qid=None,
        place=place,
    )
    return Filled(context, entity)
