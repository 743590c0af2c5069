"""What steps of instruments have in common: asking for answers, and rows without a model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

import pyarrow as pa

from polyculture.cache.store.answers import find_answers, sibling_parts
from polyculture.cache.store.parquet import objects_to_table
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.work.worker import Done, Step, StoredRows, Work
from polyculture.generate.engines.answer import Answer, completed
from polyculture.generate.engines.base import Completion, Scored
from polyculture.generate.engines.kept_answers import rows_of_kept
from polyculture.generate.engines.models import MODEL, Models
from polyculture.instruments.model_job import A, ModelJob, values_of

AT_ONCE = 10_000  # rows that are written together


def completion_columns(said: Completion) -> dict[str, Any]:
    """The columns of an answer's row that say what came, or why nothing did."""
    failed = said.text is None
    return {
        "status": "failed" if failed else "ok",
        "error": (said.error or "no answer") if failed else None,
        "retryable": said.retryable if failed else None,
        "raw": said.as_it_came,
        "finish_reason": said.finish_reason,
        "prompt_tokens": said.prompt_tokens,
        "completion_tokens": said.completion_tokens,
        "model_version": said.model_version,
        "purchase": said.purchase,
        "note": said.note,
        "named_cost": said.named_cost,
        "body": said.body,
    }


def score_columns(every: Sequence[Scored]) -> dict[str, Any]:
    """The columns of a row of one or several scores that say what came, or the first reason why something did not."""
    failed = next((scored for scored in every if scored.total is None), None)
    return {
        "status": "ok" if failed is None else "failed",
        "error": None if failed is None else failed.error or "no score",
        "retryable": None if failed is None else failed.retryable,
        "prompt_tokens": _sum([scored.prompt_tokens for scored in every]),
        "completion_tokens": _sum([scored.completion_tokens for scored in every]),
        "named_cost": _sum([scored.named_cost for scored in every]),
        "model_version": every[0].model_version,
        "purchase": every[0].purchase,
        "note": "; ".join(dict.fromkeys(scored.note for scored in every if scored.note)) or None,
    }


def _sum(amounts: Sequence[N | None]) -> N | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known[1:], start=known[0]) if known else None


J = TypeVar("J", bound=ModelJob[Any])
N = TypeVar("N", int, float)


class AnswerStep(Step[A, Models], Generic[A, J]):
    """Asks for answers, which are rows of one table. What a run beside this one holds is not asked again."""

    def __init__(self, jobs: Sequence[J]) -> None:
        self.jobs = jobs
        self.asked = {one.job: one for one in jobs}
        self.ids = [each for one in jobs for each in one.ids()]

    def works(self) -> Iterator[Work[A]]:
        """A work per job."""
        for one in self.jobs:
            yield Work(one.job, {MODEL: one.job.model}, one.asks, one.size, "", one.loads, one.prompt_count)

    def keys(self, item: A) -> tuple[str, ...]:
        return item.keys

    def row(self, job: Job, item: A, **came: Any) -> Any:
        """A row of the table of answers: what came, and of the item and its job the rest."""
        table = self.tables[-1]
        return table.row(**values_of(table.columns, *self.asked[job].places(item)) | came)

    def adopt(self, run: RunFolder, work: Work[A], missing: Sequence[A]) -> Mapping[str, pa.Table] | None:
        """The answers to the same requests that runs beside this one hold, and this one about something else.

        Columns that an item has, which is a sample of a request, follow from what is asked about now. The others are
        the request's answer, whatever it was asked about. Of other items the key says which answer is the same.
        """
        *committed, table = self.tables
        if not hasattr(missing[0], "sample"):
            if not sibling_parts(run, work.job, table):
                return None
            keys = pa.array([key for item in missing for key in self.keys(item)], pa.string())
            return find_answers(run, work.job, table, pa.table({table.key or "": keys}), committed=committed)
        of_now = [name for name in table.columns if hasattr(missing[0], name)]
        columns = {name: [getattr(item, name) for item in missing] for name in of_now}
        wanted = pa.table(columns, schema=pa.schema([table.schema.field(name) for name in of_now]))
        return find_answers(run, work.job, table, wanted, by=("request_id", "sample"))


class TextStep(AnswerStep[A, J]):
    """Asks for texts. A failure is a row with its reason. Of an answer in an unknown form the row keeps the body."""

    @abstractmethod
    def completions(self, job: Job, asks: Iterator[A], models: Models) -> Iterator[Completion]:
        """The answers by the key of their item, as they arrive."""

    def came(self, said: Completion) -> dict[str, Any]:
        """The columns that follow from what came, or from the reason why nothing did."""
        return completion_columns(said)

    def ask(self, work: Work[A], items: Iterator[A], models: Models, kept: StoredRows) -> Iterator[Done]:
        """A row per answer, as they come."""
        waiting: dict[str, A] = {}
        for said in self.completions(work.job, held(items, waiting), models):
            yield Done((self.row(work.job, waiting.pop(said.request_id), **self.came(said)),))

    def read_again(self, work: Work[A], missing: Sequence[A], failed: pa.Table) -> dict[str, pa.Table] | None:
        """The rows of answers that nobody could read when they came, and which can be read now."""

        def row(ask: A, answer: Answer) -> Any:
            return self.row(work.job, ask, **self.came(completed(ask.keys[0], 0, answer)))

        return rows_of_kept(self.tables[-1], {ask.keys[0]: ask for ask in missing}, failed, row)


def held(items: Iterator[A], waiting: dict[str, A]) -> Iterator[A]:
    """The items, each kept in `waiting` by its key until its answer comes."""
    for ask in items:
        waiting[ask.keys[0]] = ask
        yield ask


class MadeRow(NamedTuple):
    """A row that no model is asked for."""

    key: str
    make: Callable[[], Any]


class RowStep(Step[MadeRow, Models]):
    """Makes rows of what is there: answers of a file, or what a reader says of stored answers. It is free.

    Rows are written many at a time: what a kill loses is made again.
    """

    @abstractmethod
    def jobs(self) -> Iterable[Job]:
        """All jobs that may have rows."""

    @abstractmethod
    def rows(self, job: Job) -> Iterator[MadeRow]:
        """The rows of a job."""

    def size(self, job: Job) -> int:
        """How many they are; a step that knows it without making them says so."""
        return sum(1 for _ in self.rows(job))

    def works(self) -> Iterator[Work[MadeRow]]:
        """A work per job that has rows."""
        for job in self.jobs():
            if size := self.size(job):
                yield Work(job, {}, partial(self.rows, job), size)

    def keys(self, item: MadeRow) -> tuple[str, ...]:
        return (item.key,)

    def ask(self, work: Work[MadeRow], items: Iterator[MadeRow], models: Models, kept: StoredRows) -> Iterator[Done]:
        """The rows, many at a time."""
        table = self.tables[-1]
        while some := list(islice(items, AT_ONCE)):
            yield Done({table.name: objects_to_table(table, [item.make() for item in some])})
