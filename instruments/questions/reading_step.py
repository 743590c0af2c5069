"""The steps that ask no model: one stores answers from files, one reads stored answers.

Reading is free: a changed reader reads all answers again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from polyculture.cache.identity import content_id
from polyculture.cache.store.layout import Table, compose
from polyculture.cache.store.manifest import CurrentId
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.store import open_store
from polyculture.instruments.questions.layout import ANSWERS, ATTENTION, LAYOUT, READINGS, AnswerRow, ReadingRow
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


def unread_lines(run: RunFolder, sets: Sequence[str]) -> list[str]:
    """A warning per model, set, prompt and reader where half of the answers pick no option, with three of them; and one
    per model, set and reader where languages differ in how many answers are unread."""
    query = UNREAD.read_text(encoding="utf-8")
    with open_store(run, compose(CORE, LAYOUT)) as store:
        found = store.sql(query)
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
    rows = [row for row in rows if row["dataset"] in sets]
    half = [
        f"{row['lost']:,} of {row['answered']:,} answers of {row['model']} to {row['dataset']}, prompt "
        f"{row['prompt']}, pick no option as {row['reader']!r} reads them ({_counted(row['reasons'])}), for example "
        f"{', '.join(repr(shown(text)) if text else '(empty)' for text in row['texts'])}"
        for row in rows
        if 2 * row["lost"] >= row["answered"]
    ]
    return [*half, *(f"{one.title}: {one.shares}. {UNEQUAL}" for one in unread_by_language(rows))]


UNEQUAL = "Differences between these languages may be differences in reading, not in what the model answers"
_APART = 0.05  # between the shares of two languages: from here on they are said to differ
_CERTAIN = 0.01  # the p-value of equal shares, under which they are said to differ


@dataclass(frozen=True, slots=True)
class UnreadLanguages:
    """The shares of a model's answers to a set that a reader cannot read, where languages differ."""

    model: str
    dataset: str
    reader: str
    by_language: Mapping[str, float]  # language -> share, the highest first

    @property
    def title(self) -> str:
        return f"answers of {self.model} to {self.dataset} that {self.reader!r} cannot read, by language"

    @property
    def shares(self) -> str:
        """'es 100 %, en 0 %'"""
        return ", ".join(f"{language} {round(100 * share)} %" for language, share in self.by_language.items())


def unread_by_language(rows: Iterable[Mapping[str, Any]]) -> list[UnreadLanguages]:
    """Where languages differ in how many answers are unread, from the rows of `question_unread.sql`.

    They differ by five points or more, and by more than chance allows (chi-squared).
    """
    counts: defaultdict[tuple[str, str, str, str], dict[str, list[int]]] = defaultdict(dict)
    for row in rows:
        key = (row["model"], row["dataset"], row["method"], row["reader"])
        of_language = counts[key].setdefault(row["language"], [0, 0])
        of_language[0] += row["unread"]
        of_language[1] += row["answered"] - row["unread"]
    found = []
    for (model, dataset, _, reader), languages in counts.items():
        shares = {language: unread / (unread + read) for language, (unread, read) in languages.items()}
        if len(shares) > 1 and max(shares.values()) - min(shares.values()) >= _APART and _differ(languages.values()):
            ordered = dict(sorted(shares.items(), key=lambda one: (-one[1], one[0])))
            found.append(UnreadLanguages(model, dataset, reader, ordered))
    return found


def _differ(counts: Iterable[Sequence[int]]) -> bool:
    from scipy import stats  # here: reading answers needs it nowhere else

    return float(stats.chi2_contingency(list(counts)).pvalue) < _CERTAIN


def _counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in Counter(reasons).most_common())


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
