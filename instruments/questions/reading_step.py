"""The step that reads stored answers. It asks no model, and is free: a changed reader reads all answers again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Protocol

import pyarrow.compute as pc

from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.cache.parquet import objects_to_table
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.shards import JobShards
from polyculture.cache.worker import Done, Kept, Span, Work
from polyculture.generate.engines.answer import text_in
from polyculture.generate.engines.models import Models
from polyculture.instruments.questions.asking import GENERATED, question_id
from polyculture.instruments.questions.likelihoods import LIKELIEST, RULES, TIE, LikelihoodReader
from polyculture.instruments.questions.model import UNKNOWN, Question, QuestionSet
from polyculture.instruments.questions.rows import ANSWERS, READINGS, AnswerRow, ReadingRow

AT_ONCE = 10_000  # rows that are written together


class Reader(Protocol):
    """Reads texts as one of the options that were shown."""

    @property
    def name(self) -> str: ...

    @property
    def reader_id(self) -> str: ...

    def read(
        self, text: str, shown: Sequence[str], labels: Sequence[str], unknown: int | None, language: str
    ) -> Reading: ...


class Reading(Protocol):
    """What a reader makes of a text: the place of an option, and why."""

    @property
    def place(self) -> int | None: ...

    @property
    def ground(self) -> str: ...


# What an open answer comes to beside the accepted answers and their weights: exact match, and the best token F1.
Match = Callable[[str, Sequence[str], Sequence[float], str], tuple[float, float]]


@dataclass(frozen=True)
class Reads:
    """How the answers to a set are read."""

    texts: Sequence[Reader]
    match: Match
    match_id: str  # hash of the rules of `match`

    def readers(self, answer: AnswerRow, question: Question) -> Iterator[tuple[str, str, Callable[[], ReadingRow]]]:
        """Of an answer each reader's name and rules, and the reading, to be made where it is not there."""
        if answer.method != GENERATED:
            for rule in RULES:
                if rule.reads(answer.unconditional):
                    yield self._of(answer, rule.name, rule.reader_id, question, partial(_likeliest, answer, rule))
        elif question.kind == "open":
            yield self._of(answer, "exact", self.match_id, question, partial(self._matched, answer, question))
        else:
            for reader in self.texts:
                yield self._of(
                    answer, reader.name, reader.reader_id, question, partial(_read, answer, question, reader)
                )

    def ids(self, kind: str) -> dict[str, str]:
        """Reader -> its rules, of all that may read a kind of question."""
        texts = {"exact": self.match_id} if kind == "open" else {one.name: one.reader_id for one in self.texts}
        return texts | {rule.name: rule.reader_id for rule in RULES}

    def _matched(self, answer: AnswerRow, question: Question) -> dict[str, Any]:
        exact, f1 = self.match(text_in(answer.raw or "") or "", question.answers, question.weights, question.language)
        return {"picked": None, "ground": "exact" if exact else "no match", "matched": exact, "f1": f1}

    def _of(
        self, answer: AnswerRow, name: str, rules: str, question: Question, made: Callable[[], dict[str, Any]]
    ) -> tuple[str, str, Callable[[], ReadingRow]]:
        of_set = reader_of_set(question.set, name, rules)
        key = content_id(answer.answer_id, of_set)
        return name, of_set, lambda: ReadingRow(key, answer.answer_id, name, of_set, **made())


def reader_of_set(name: str, reader: str, rules: str) -> str:
    """The id of a reader of a set: sets may be read at different times, by other versions of a reader."""
    return content_id("reader", name, reader, rules)


def _likeliest(answer: AnswerRow, rule: LikelihoodReader) -> dict[str, Any]:
    place = rule.pick(answer.scores or (), answer.tokens or (), answer.unconditional)
    return _picked(answer, place, TIE if place is None else LIKELIEST)


def _read(answer: AnswerRow, question: Question, reader: Reader) -> dict[str, Any]:
    roles = [question.roles[index] for index in answer.order]
    unknown = roles.index(UNKNOWN) if UNKNOWN in roles else None
    text = text_in(answer.raw or "") or ""
    found = reader.read(text, answer.shown, answer.labels, unknown, answer.language)
    return _picked(answer, found.place, str(found.ground))


def _picked(answer: AnswerRow, place: int | None, ground: str) -> dict[str, Any]:
    return {"picked": None if place is None else answer.order[place], "ground": ground, "matched": None, "f1": None}


@dataclass(frozen=True, slots=True)
class Unread:
    """An answer that a reader has not read."""

    reading_id: str
    read: Callable[[], ReadingRow]


class ReadingStep:
    """Reads all stored answers to the questions of some sets, whatever part of them is asked now."""

    name = "read"
    span: Span = "job"
    tables: tuple[Table[Any], ...] = (READINGS,)

    def __init__(self, run: RunFolder, sets: Sequence[tuple[QuestionSet, Reads]]) -> None:
        self._run = run
        self._questions: Mapping[str, tuple[Question, Reads]] = {
            question_id(question): (question, reads) for one, reads in sets for question in one.questions
        }

    def works(self) -> Iterator[Work[Unread]]:
        """A work per job that has something to read."""
        for job in self._run.jobs(ANSWERS.name):
            unread = sum(1 for _ in self._unread(job))
            if unread:
                yield Work(job, {}, partial(self._unread, job), unread, f"{job.model} {job.language} {job.topic}")

    def keys(self, item: Unread) -> tuple[str, ...]:
        return (item.reading_id,)

    def adopt(self, run: RunFolder, work: Work[Unread], missing: Sequence[Unread]) -> None:
        """None: readings are free."""

    def ask(self, work: Work[Unread], items: Iterator[Unread], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per answer and reader, many at a time: what a kill loses is read again."""
        while some := list(islice(items, AT_ONCE)):
            yield Done({READINGS.name: objects_to_table(READINGS, [item.read() for item in some])})

    def load(self, item: Unread) -> None:
        """No model is asked."""

    def _unread(self, job: Job) -> Iterator[Unread]:
        known = JobShards(self._run, job, [READINGS]).read(READINGS.name, ["answer_id", "reader_id"])
        there = {(row["answer_id"], row["reader_id"]) for row in known.to_pylist()}
        rows = JobShards(self._run, job, [ANSWERS]).read(ANSWERS.name)
        for row in rows.filter(pc.field("status") == "ok").to_pylist():
            if row["question_id"] not in self._questions:
                continue
            answer = AnswerRow(**row)
            question, reads = self._questions[answer.question_id]
            for _, reader_id, read in reads.readers(answer, question):
                if (answer.answer_id, reader_id) not in there:
                    yield Unread(content_id(answer.answer_id, reader_id), read)
