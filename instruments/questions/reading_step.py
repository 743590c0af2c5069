"""The steps that ask no model: one stores answers from files, one reads stored answers.

Reading is free: a changed reader reads all answers again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow.compute as pc

from polyculture.cache.identity import content_id
from polyculture.cache.layout import compose
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.shards import JobShards
from polyculture.cache.store import asked_store
from polyculture.instruments.questions.layout import ANSWERS, READINGS, AnswerRow, ReadingRow
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.instruments.questions.reading.readers import Reader, readers_of
from polyculture.instruments.row_step import MadeRow, RowStep
from polyculture.sources.record import shown

UNREAD = Path(__file__).with_name("question_unread.sql")


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

    def __init__(self, run: RunFolder, sets: Sequence[QuestionSet]) -> None:
        self._run = run
        # A reader's id holds the set: sets may be read at different times, by other versions of a reader.
        self._readers = {
            one.name: [(content_id("reader", one.name, each.name, each.reader_id), each) for each in readers_of(one)]
            for one in sets
        }
        self.readers = {f"{name} {each.name}": made for name, some in self._readers.items() for made, each in some}
        self._questions = {question.question_id: question for one in sets for question in one.questions}

    def jobs(self) -> Sequence[Job]:
        return self._run.jobs(ANSWERS.name)

    def rows(self, job: Job) -> Iterator[MadeRow]:
        """A row per answer and reader that has not read it."""
        known = JobShards(self._run, job, [READINGS]).read(READINGS.name, ["answer_id", "reader_id"])
        there = {(row["answer_id"], row["reader_id"]) for row in known.to_pylist()}
        rows = JobShards(self._run, job, [ANSWERS]).read(ANSWERS.name)
        for row in rows.filter(pc.field("status") == "ok").to_pylist():
            question = self._questions.get(row["question_id"])
            if question is None:
                continue
            for of_set, reader in self._readers[question.set]:
                if (row["answer_id"], of_set) not in there and all(row[name] is not None for name in reader.needs):
                    key = content_id(row["answer_id"], of_set)
                    yield MadeRow(key, partial(reading_row, key, of_set, AnswerRow(**row), question, reader))


def unread_lines(run: RunFolder, sets: Sequence[str]) -> list[str]:
    """A warning per model, set, prompt and reader where half of the answers pick no option, with three of them."""
    from polyculture.instruments.questions.layout import LAYOUT

    query = UNREAD.read_text(encoding="utf-8")
    with asked_store(run, query, compose(CORE, LAYOUT)) as store:
        rows = store.sql(query).fetchall()
    return [
        f"{lost:,} of {answered:,} answers of {model} to {of_set}, prompt {prompt}, pick no option as {reader!r} reads "
        f"them ({_counted(reasons)}), for example "
        f"{', '.join(repr(shown(text)) if text else '(empty)' for text in texts)}"
        for of_set, _, model, _, reader, prompt, lost, reasons, answered, texts in rows
        if of_set in sets and 2 * lost >= answered
    ]


def _counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in Counter(reasons).most_common())


class ImportStep(RowStep):
    """Stores answers, each as a row that is ready."""

    name = "import"
    tables = (ANSWERS,)

    def __init__(self, answers: Sequence[AnswerRow]) -> None:
        self._jobs: defaultdict[Job, list[AnswerRow]] = defaultdict(list)
        for answer in answers:
            self._jobs[Job(answer.model, answer.language, answer.topic)].append(answer)

    def jobs(self) -> Sequence[Job]:
        return sorted(self._jobs)

    def rows(self, job: Job) -> Iterator[MadeRow]:
        return (MadeRow(answer.answer_id, partial(replace, answer)) for answer in self._jobs[job])
