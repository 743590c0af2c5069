"""The steps that ask no model: one stores answers from files, one reads stored answers.

Reading is free: a changed reader reads all answers again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import pyarrow.compute as pc

from polyculture.cache.identity import content_id
from polyculture.cache.layout import compose
from polyculture.cache.parquet import objects_to_table
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.shards import JobShards
from polyculture.cache.store import open_store
from polyculture.cache.worker import Done, Kept, Step, Work
from polyculture.generate.engines.models import Models
from polyculture.imports.record import shown
from polyculture.instruments.questions.layout import ANSWERS, READINGS, AnswerRow, ReadingRow
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.instruments.questions.reading.readers import Reader, readers_of

UNREAD = Path(__file__).with_name("question_unread.sql")
AT_ONCE = 10_000  # rows that are written together


def reading_row(key: str, of_set: str, answer: AnswerRow, question: Question, reader: Reader) -> ReadingRow:
    """What a reader makes of an answer to a question; `key` and `of_set` are the ids of the reading and the reader."""
    found = reader.read(answer, question)
    picked = None if found.place is None else answer.order[found.place]
    also = [answer.order[place] for place in found.also] or None
    return ReadingRow(key, answer.answer_id, reader.name, of_set, picked, str(found.ground), found.matched, also)


@dataclass(frozen=True, slots=True)
class Unread:
    """An answer that a reader has not read."""

    reading_id: str
    read: Callable[[], ReadingRow]


class ReadingStep(Step[Unread, Models]):
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

    def works(self) -> Iterator[Work[Unread]]:
        """A work per job that has something to read."""
        for job in self._run.jobs(ANSWERS.name):
            unread = sum(1 for _ in self._unread(job))
            if unread:
                yield Work(job, {}, partial(self._unread, job), unread, f"{job.model} {job.language} {job.topic}")

    def keys(self, item: Unread) -> tuple[str, ...]:
        return (item.reading_id,)

    def ask(self, work: Work[Unread], items: Iterator[Unread], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per answer and reader, many at a time: what a kill loses is read again."""
        while some := list(islice(items, AT_ONCE)):
            yield Done({READINGS.name: objects_to_table(READINGS, [item.read() for item in some])})

    def _unread(self, job: Job) -> Iterator[Unread]:
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
                    yield Unread(key, partial(reading_row, key, of_set, AnswerRow(**row), question, reader))


def unread_lines(run: RunFolder, sets: Sequence[str]) -> list[str]:
    """A warning per model, set, prompt and reader where half of the answers pick no option, with three of them."""
    from polyculture.instruments.questions.layout import LAYOUT

    query = UNREAD.read_text(encoding="utf-8")
    with open_store(run, compose(CORE, LAYOUT), asked=query) as store:
        rows = store.sql(query).fetchall()
    return [
        f"{lost:,} of {answered:,} answers of {model} to {of_set}, prompt {prompt}, pick no option as {reader!r} reads "
        f"them, for example {', '.join(repr(shown(text)) if text else '(empty)' for text in texts)}"
        for of_set, _, model, _, reader, prompt, lost, answered, texts in rows
        if of_set in sets and 2 * lost >= answered
    ]


class ImportStep(Step[AnswerRow, Models]):
    """Stores answers, each as a row that is ready."""

    name = "import"
    tables = (ANSWERS,)

    def __init__(self, answers: Sequence[AnswerRow]) -> None:
        self._jobs: defaultdict[Job, list[AnswerRow]] = defaultdict(list)
        for answer in answers:
            self._jobs[Job(answer.model, answer.language, answer.topic)].append(answer)

    def works(self) -> Iterator[Work[AnswerRow]]:
        """A work per model, language and topic."""
        for job, some in sorted(self._jobs.items()):
            yield Work(job, {}, partial(iter, some), len(some), f"{job.model} {job.language} {job.topic}")

    def keys(self, item: AnswerRow) -> tuple[str, ...]:
        return (item.answer_id,)

    def ask(self, work: Work[AnswerRow], items: Iterator[AnswerRow], models: Models, kept: Kept) -> Iterator[Done]:
        """Many rows at a time: what a kill loses is in the file."""
        while some := list(islice(items, AT_ONCE)):
            yield Done({ANSWERS.name: objects_to_table(ANSWERS, some)})
