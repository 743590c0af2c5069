"""The steps that ask no model: one stores answers from files, one reads stored answers.

Reading is free: a changed reader reads all answers again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow.compute as pc

from polyculture.cache.identity import content_id
from polyculture.cache.store.layout import Table
from polyculture.cache.store.manifest import CurrentId
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.shards import JobShards
from polyculture.instruments.questions.layout import ANSWERS, ATTENTION, READINGS, AnswerRow, ReadingRow
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.instruments.questions.reading.readers import Reader, readers_of
from polyculture.instruments.row_step import MadeRow, RowStep


def reading_row(key: str, of_set: str, answer: AnswerRow, question: Question, reader: Reader) -> ReadingRow:
    """What a reader makes of an answer to a question; `key` and `of_set` are the ids of the reading and the reader."""
    found = reader.read(answer, question)
    picked = None if found.place is None else answer.order[found.place]
    also = [answer.order[place] for place in found.also] or None
    return ReadingRow(key, answer.answer_id, reader.name, of_set, picked, str(found.ground), found.matched, also)


class ReadingStep(RowStep):
    """Reads all stored answers to the questions of some sets, whatever part of them is asked now."""

    name = "read"
    tables = (READINGS,)
    reads = (ANSWERS,)

    def __init__(self, run: RunFolder, sets: Sequence[QuestionSet]) -> None:
        self._run = run
        # A reader's id holds the set: sets may be read at different times, by other versions of a reader.
        self._readers = {
            one.name: [(content_id("reader", one.name, each.name, each.reader_id), each) for each in readers_of(one)]
            for one in sets
        }
        self.ids = [
            CurrentId(what=f"{name} {each.name}", id=made, reads=True)
            for name, some in self._readers.items()
            for made, each in some
        ]
        self._questions = {question.question_id: question for one in sets for question in one.questions}

    def jobs(self) -> Sequence[Job]:
        return self._run.jobs(ANSWERS.name)

    def rows(self, job: Job) -> Iterator[MadeRow]:
        """A row per answer and reader that has not read it."""
        known = JobShards(self._run, job, [READINGS]).read(READINGS.name, ["answer_id", "reader_id"])
        there = {(row["answer_id"], row["reader_id"]) for row in known.to_pylist()}
        rows = JobShards(self._run, job, [ANSWERS]).read(ANSWERS.name)
        read = (pc.field("status") == "ok") & (pc.field("method") != ATTENTION)
        for row in rows.filter(read).to_pylist():
            question = self._questions.get(row["question_id"])
            if question is None:
                continue
            for of_set, reader in self._readers[question.set]:
                if (row["answer_id"], of_set) not in there and all(row[name] is not None for name in reader.needs):
                    key = content_id(row["answer_id"], of_set)
                    yield MadeRow(key, partial(reading_row, key, of_set, AnswerRow(**row), question, reader))


class ImportStep(RowStep):
    """Stores rows of a table that are ready: answers of a file, or what is read in them."""

    def __init__(
        self,
        table: Table[Any],
        rows: Iterable[AnswerRow] | Mapping[Job, Sequence[Any]],
        ids: Sequence[CurrentId] = (),
    ) -> None:
        self.tables, self.name, self.ids = (table,), f"import {table.unit}", ids
        self._jobs = rows if isinstance(rows, Mapping) else _by_job(rows)

    def jobs(self) -> Sequence[Job]:
        return sorted(self._jobs)

    def rows(self, job: Job) -> Iterator[MadeRow]:
        [table] = self.tables
        return (MadeRow(getattr(row, table.key or ""), partial(replace, row)) for row in self._jobs[job])


def _by_job(answers: Iterable[AnswerRow]) -> Mapping[Job, Sequence[AnswerRow]]:
    jobs: defaultdict[Job, list[AnswerRow]] = defaultdict(list)
    for answer in answers:
        jobs[Job(answer.model, answer.language, answer.topic)].append(answer)
    return jobs
