"""The worker: asks for answers and keeps them, resumable at any moment.

A `Step` declares its works. Each is a job with its items, and each item has the keys of its rows. The worker reads
what is on disk, retries transient failures, reuses answers of sibling runs, and hands the rest to the step. It writes
every answer before it takes the next. It knows neither models nor instruments: generation, extraction and every
instrument are steps.

    class Echo(Step[str, None]):
        name, tables = "echo", (ECHOES,)

        def works(self): yield Work(Job("m", "en", "food"), {"model": "m"}, lambda: iter(["a", "b"]), size=2)
        def keys(self, item): return (content_id(item),)
        def ask(self, work, items, models, kept):
            for item in items:
                yield Done((EchoRow(content_id(item), item),))

    outcome = do_works(run, Echo(), list(Echo().works()), models)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Generic, Literal, Protocol, TypeVar

import pyarrow as pa

from polyculture.cache.errors import JobHeldError
from polyculture.cache.store.answers import sibling_parts
from polyculture.cache.store.layout import Table
from polyculture.cache.store.manifest import CurrentId
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.shards import JobShards, value_of
from polyculture.cache.work.faults import RetryFailed
from polyculture.cache.work.outcome import Outcome, Progress, silent, throttled
from polyculture.cache.work.stop_rule import StopRule, see_rows, see_table

I = TypeVar("I")  # noqa: E741, an item
M = TypeVar("M", contravariant=True)  # what a step opens its models from

StepSpan = Literal["job", "all"]
_STATUS = ("status", "retryable", "error", "ending")
_ODD_USAGE = "usage: "  # how the note begins of an answer whose tokens do not add up
_BODY = "body"  # the column that has the answer of a failure, where it came in a form that nobody could read
A = TypeVar("A")


class StoredRows(Protocol):
    """The rows of a job that are on disk already."""

    def read(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """All committed rows of a table of the job."""
        ...


@dataclass(frozen=True)
class Work(Generic[I]):
    """One job of a step: what is asked, and of whom."""

    job: Job
    models: Mapping[str, str]  # by role; empty where no model is asked
    items: Callable[[], Iterator[I]]  # may be called several times
    size: int  # keys of all items together
    name: str = ""  # in messages; the job's own name where it is empty
    # What all of it takes, where that is said faster than item by item: a million of them take `plan` seconds.
    loads: Callable[[], Iterator[Load] | None] = lambda: None
    prompts: int | None = None  # that are asked, where their number is another than `size`

    def __str__(self) -> str:
        return self.name or str(self.job)


def models_of(work: Work[Any]) -> tuple[str, ...]:
    """The models of a work by their roles; works of the same ones are done together."""
    return tuple(work.models.values())


def works_by_model(step: Step[I, M]) -> dict[str, list[Work[I]]]:
    """The works of a step by the model that is asked, in the order of the step; without those that ask no model."""
    found: dict[str, list[Work[I]]] = {}
    for work in step.works():
        if work.models:
            found.setdefault(models_of(work)[0], []).append(work)
    return found


@dataclass(frozen=True)
class Done:
    """The rows that a step made of an item, written whole or not at all.

    Rows are objects of the row types of the step's tables, or Arrow tables by name for bulk work; these bypass the
    journal. The column `status` is 'ok', 'failed' (with `retryable`), or 'unusable': an answer that was paid for and
    does not complete its item.
    """

    rows: tuple[Any, ...] | Mapping[str, pa.Table]
    job: Job | None = None  # where the step works on several jobs at once


@dataclass(frozen=True, slots=True)
class AnswerText:
    """An answer of another step, which a model reads: it is not there yet, or nobody has counted its tokens."""

    stage: str | None  # of the table that keeps it; None where nobody counts what it costs
    model: str  # that writes it
    most_tokens: int


@dataclass(frozen=True, slots=True)
class Load:
    """What a model reads and writes for an item, or for several that are alike. `plan` counts the tokens."""

    text: str  # what the model reads, each time
    most_tokens: int  # that it writes each time, at most
    times: int = 1
    varying: str = ""  # what it reads beside `text`, of all times together: a text that recurs is counted once
    answer: AnswerText | None = None  # what it reads behind `text`, each time
    # Tokens that it is expected to write for each token of `answer`, or of `text` where there is no answer. None: it is
    # expected to write the most.
    length: float | None = None
    distinct: float = 1.0  # the expected share of the times that is asked: equal texts are asked about once
    chat: bool = True  # whether it is sent as a turn of a chat, which takes some tokens more than the text
    assumed: str = ""  # a sentence: what had to be taken for granted to say this


@dataclass(frozen=True)
class Remaining:
    """What is left of a work: how many of its keys are settled, and the loads of the others."""

    settled: int
    loads: Iterable[Load]


@dataclass(frozen=True, slots=True)
class WorkCount:
    """How far a work is, in keys of its items. Done, failed and what is left add up to `total`."""

    total: int
    done: int
    failed: int
    retryable: int  # of those failed: the next run asks them again

    @property
    def left(self) -> int:
        """What nobody has asked."""
        return max(self.total - self.done - self.failed, 0)

    @property
    def is_open(self) -> bool:
        """Whether another run would have something to do."""
        return self.left + self.retryable > 0


class Step(ABC, Generic[I, M]):
    """A stage of work that asks for answers. The last of its tables commits, and has the key."""

    name: str  # in messages: 'generate', 'extract', 'score'
    tables: tuple[Table[Any], ...]
    reads: tuple[Table[Any], ...] = ()  # of the same run: it is asked when all steps that make their rows have ended
    span: StepSpan = "job"  # whether `ask` takes one job at a time, or all of them in one pass
    # Columns of rows that with the job name a slot: where what is asked changes, the new rows of a slot replace its
    # former ones. Items have them as attributes, and `request_id` if that alone says which rows are current
    # (`Wanted.alike`). Without any, a job is one slot.
    slot: tuple[str, ...] = ()
    ids: Sequence[CurrentId] = ()  # under which its rows are made, where others of the same requests may be there
    use: str | None = None  # of the models that it asks, as setups name it: rows are made under these setups
    in_batches: bool = False  # whether a provider's batches may bring the answers; else it asks directly

    @abstractmethod
    def works(self) -> Iterator[Work[I]]:
        """All jobs, those that are done included."""

    @abstractmethod
    def keys(self, item: I) -> tuple[str, ...]:
        """The keys of the rows that complete an item."""

    @abstractmethod
    def ask(self, work: Work[I], items: Iterator[I], models: M, kept: StoredRows) -> Iterator[Done]:
        """Asks for the missing items. Models are opened here, with the first item."""

    def adopt(self, run: RunFolder, work: Work[I], missing: Sequence[I]) -> Mapping[str, pa.Table] | None:
        """Rows of all tables, by name, that sibling runs hold for missing items; None where nothing is shared."""

    def read_again(self, work: Work[I], missing: Sequence[I], failed: pa.Table) -> Mapping[str, pa.Table] | None:
        """Rows of all tables, by name, that complete missing items from the kept bodies of their answers, which nobody
        could read when they came. `failed` has the rows with a body. None where still nobody can read any."""

    def loads(self, work: Work[I], items: Iterable[I]) -> Iterable[Load]:  # noqa: ARG002, it asks no model
        """What the models of a work read and write for some of its items: nothing where no model is asked."""
        return ()

    def count(self, run: RunFolder, work: Work[I]) -> WorkCount:
        """How far a work is, also while a process works on it. Opens no model and changes nothing.

        A step of millions of items counts its rows in place of its items.
        """
        state = work_state(run, self, work)
        failed = state.outcome.failed, len(state.retry_transient)
        return WorkCount(work.size, state.outcome.done, sum(failed), failed[1])

    def remaining(self, run: RunFolder, work: Work[I], retry: RetryFailed | None = None) -> Remaining:
        """What would be asked now of a work, for `plan`. Opens no model and changes nothing.

        Answers of sibling runs count as settled, and final failures that `retry` names as left.
        """
        loads = work.loads()
        if loads is not None and _is_untouched(run, self, work):
            return Remaining(0, loads)
        settled, items = unanswered(run, self, work, retry)
        return Remaining(settled, self.loads(work, items))


@dataclass(frozen=True)
class WorkState(Generic[I]):
    """The state of a work's items."""

    outcome: Outcome
    missing: list[I]
    settled: set[str] = field(default_factory=set)  # keys of missing items whose row is kept
    # Keys of failures that are asked again; their items are among the missing ones.
    retry_transient: set[str] = field(default_factory=set)
    retry_permanent: set[str] = field(default_factory=set)  # permanent ones that `RetryFailed` names


def read_state(step: Step[I, M], work: Work[I], shards: JobShards, retry: RetryFailed | None = None) -> WorkState[I]:
    """The state of a work on disk: its parts, and the journal of a running or killed process.

    Final failures that `retry` names are missing like transient ones.
    """
    states = _states(shards, retry)
    if not states:  # nothing to compare keys with, which are hashes
        return WorkState(Outcome(0, 0, reused=0), list(work.items()))
    done = failed = 0
    missing: list[I] = []
    settled: set[str] = set()
    retry_transient: set[str] = set()
    retry_permanent: set[str] = set()
    for item in work.items():
        keys = step.keys(item)
        found = [states.get(key) for key in keys]
        if "retry_permanent" in found:
            retry_permanent |= {key for key, state in zip(keys, found, strict=True) if state == "retry_permanent"}
            found = ["retry_transient" if state == "retry_permanent" else state for state in found]
        done += found.count("ok")
        failed += found.count("failed")
        if "retry_transient" in found or None in found:
            missing.append(item)
            retry_transient |= {key for key, state in zip(keys, found, strict=True) if state == "retry_transient"}
            settled.update(key for key, state in zip(keys, found, strict=True) if state in ("ok", "failed"))
    return WorkState(Outcome(done, failed, reused=done), missing, settled, retry_transient, retry_permanent)


def _is_untouched(run: RunFolder, step: Step[I, M], work: Work[I]) -> bool:
    """Whether nothing of a work is on disk, in this run or beside it."""
    commit = step.tables[-1]
    return not _states(JobShards(run, work.job, step.tables), None) and not sibling_parts(run, work.job, commit)


def work_state(run: RunFolder, step: Step[I, M], work: Work[I], retry: RetryFailed | None = None) -> WorkState[I]:
    """The state of a work, also while another process works on it: takes no lock and changes nothing."""
    return read_state(step, work, JobShards(run, work.job, step.tables), retry)


def unanswered(
    run: RunFolder, step: Step[I, M], work: Work[I], retry: RetryFailed | None = None
) -> tuple[int, list[I]]:
    """How many keys of a work are settled, in this run or by sibling runs, and the items that would be asked now."""
    shards, commit = JobShards(run, work.job, step.tables), step.tables[-1]
    state = read_state(step, work, shards, retry)
    settled, missing = state.outcome.done + state.outcome.failed, state.missing
    for free in (_read_again(step, work, shards, state), step.adopt(run, work, missing) if missing else None):
        if free is not None:
            keys = set(free[commit.name][commit.key or ""].to_pylist())
            here = [item for item in missing if keys.issuperset(step.keys(item))]
            settled += sum(len(step.keys(item)) for item in here)
            missing = [item for item in missing if not keys.issuperset(step.keys(item))]
    return settled, missing


def left(run: RunFolder, step: Step[I, M], work: Work[I], retry: RetryFailed | None = None) -> int:
    """How many items of a work would be asked now: neither complete nor held by a sibling run."""
    return len(unanswered(run, step, work, retry)[1])


def _read_again(
    step: Step[I, M], work: Work[I], shards: JobShards, state: WorkState[I]
) -> Mapping[str, pa.Table] | None:
    """What a step reads in the bodies that are kept of failures which would be asked again."""
    commit = step.tables[-1]
    keys = state.retry_transient | state.retry_permanent
    if not keys or _BODY not in commit.columns:
        return None
    import pyarrow.compute as pc  # here: it takes as long to load as a whole store

    bodies = shards.read(commit.name, [_BODY])[_BODY]
    if bodies.null_count == len(bodies):  # as in nearly every job: its other columns are not read
        return None
    failed = pc.field(commit.key or "").isin(pa.array(sorted(keys), pa.string()))
    rows = shards.read(commit.name).filter(failed & pc.field(_BODY).is_valid())
    return step.read_again(work, state.missing, rows) if rows.num_rows else None


def do_works(
    run: RunFolder,
    step: Step[I, M],
    works: Sequence[Work[I]],
    models: M,
    progress: Progress = silent,
    *,
    rule: StopRule | None = None,
    retry: RetryFailed | None = None,
    going_on: Callable[[], bool] = lambda: True,
) -> Outcome:
    """Does the missing items of several works together, and returns the outcome of all their items.

    An item is handed to the step only while `going_on()` is true; the others stay missing.

    Where `rule` finds a fault systematic, nothing more is asked, and what failed for it stays to be asked. Raises
    `SystematicFaultError` then, `JobHeldError` where another process holds one of the jobs, and whatever step, models
    and store raise.
    """
    with ExitStack() as stack:
        opened = [_OpenWork(stack.enter_context(JobShards(run, work.job, step.tables)), step, work) for work in works]
        for one in opened:
            stack.callback(one.restore)
        outcome = sum((one.begin(run, retry) for one in opened), Outcome(0, 0))
        if rule is not None:
            rule.has_rows |= outcome.done > 0
        report = throttled(progress)
        report(outcome)
        busy = [one for one in opened if one.missing]
        if busy:
            by_job = {one.work.job: one for one in busy}
            missing = (item for one in busy for item in one.missing)
            items = takewhile(lambda _: going_on(), missing)
            with cancelling(step.ask(busy[0].work, items, models, busy[0].shards)) as answers:
                for done in answers:
                    one = by_job[done.job or busy[0].work.job]
                    outcome += one.keep(done)
                    report(outcome)
                    if rule is not None and _ends(rule, one, done):
                        break
    progress(outcome)
    if rule is not None and rule.stopped is not None:
        end_stage(run, step, rule)
    return outcome


def end_stage(run: RunFolder, step: Step[Any, Any], rule: StopRule) -> None:
    """Makes what a stage left unsettled such that the next run asks it; raises the fault that stopped it, if any did.

    A job that another process has taken meanwhile is left to it.
    """
    for job, keys in rule.unsettled.items():
        with suppress(JobHeldError), JobShards(run, job, step.tables) as shards:
            shards.reopen(keys)
    if rule.stopped is not None:
        raise rule.stopped


def _ends(rule: StopRule, one: _OpenWork[Any], done: Done) -> bool:
    """Whether nothing more is asked for a work after an answer."""
    commit, job = one.shards.commit, one.work.job
    if isinstance(done.rows, Mapping):
        see_table(rule, job, done.rows[commit.name], commit)
    else:
        see_rows(rule, job, [row for row in done.rows if type(row) is commit.row], commit)
    return not rule.drains and (rule.stopped is not None or rule.is_one_prompt)


class _OpenWork(Generic[I]):
    """One work with its shards, held by this process."""

    def __init__(self, shards: JobShards, step: Step[I, Any], work: Work[I]) -> None:
        self.shards, self.step, self.work = shards, step, work
        self.missing: list[I] = []
        self._settled: set[str] = set()
        self._retired: pa.Table | None = None  # failures that are asked again
        self._written: set[str] = set()  # keys of rows that came since
        self._names = {table.row: table.name for table in step.tables}

    def begin(self, run: RunFolder, retry: RetryFailed | None = None) -> Outcome:
        """Reads the state, retires failures that are retried, and reuses answers of sibling runs."""
        state = read_state(self.step, self.work, self.shards, retry)
        again = _read_again(self.step, self.work, self.shards, state)
        retired = self.shards.retire(state.retry_transient | state.retry_permanent, state.retry_permanent)
        self._retired = retired if retired.num_rows else None
        # What failed before comes last: it may fail once more, and says little of the others.
        self.missing = sorted(
            state.missing, key=lambda item: not state.retry_transient.isdisjoint(self.step.keys(item))
        )
        self._settled = state.settled
        outcome = state.outcome + self._take(again)
        return outcome + self._take(self.step.adopt(run, self.work, self.missing) if self.missing else None)

    def restore(self) -> None:
        """Keeps why answers failed that were to be asked again and were not, as where the money ends before them."""
        if self._retired is not None:
            self.shards.restore(self._retired, self._written)

    def keep(self, done: Done) -> Outcome:
        """Writes the rows of an item and counts them. A row that exists already is not written twice."""
        commit = self.shards.commit
        if isinstance(done.rows, Mapping):
            rows = self._unsettled(done.rows[commit.name])
            self._write(rows[commit.key or ""].to_pylist())
            self.shards.append_part({**done.rows, commit.name: rows})
            return _count(rows["status"].to_pylist())
        record: dict[str, list[Any]] = {name: [] for name in self._names.values()}
        for row in done.rows:
            record[self._names[type(row)]].append(row)
        if self._settled:
            new = [row for row in record[commit.name] if value_of(row, commit.key or "") not in self._settled]
            record[commit.name] = new
        if record[commit.name]:
            self._write([value_of(row, commit.key or "") for row in record[commit.name]])
            self.shards.append(record)
        notes = [getattr(row, "note", None) or "" for row in record[commit.name]]
        return _count(
            [row.status for row in record[commit.name]], odd_usage=int(any(_ODD_USAGE in note for note in notes))
        )

    def _write(self, keys: Sequence[Any]) -> None:
        if self._retired is not None:
            self._written.update(map(str, keys))

    def _unsettled(self, rows: pa.Table) -> pa.Table:
        import pyarrow.compute as pc  # here: it takes as long to load as a whole store

        if not self._settled:
            return rows
        there = pa.array(sorted(self._settled), pa.string())
        return rows.filter(~pc.field(self.shards.commit.key or "").isin(there))

    def _take(self, adopted: Mapping[str, pa.Table] | None) -> Outcome:
        """Writes rows that need no request, and counts them."""
        commit = self.shards.commit
        if adopted is None or not adopted[commit.name].num_rows:
            return Outcome(0, 0)
        self.shards.append_part(adopted)
        taken = set(adopted[commit.name][commit.key or ""].to_pylist())
        self._write(list(taken))
        self.missing = [item for item in self.missing if not taken.issuperset(self.step.keys(item))]
        found = _count(adopted[commit.name]["status"].to_pylist())
        return Outcome(found.done, found.failed, reused=found.done)


def _count(status: Sequence[Any], odd_usage: int = 0) -> Outcome:
    return Outcome(status.count("ok"), status.count("failed"), odd_usage=odd_usage)


def _states(shards: JobShards, retry: RetryFailed | None) -> dict[str, str]:
    """By key the state of its row, as `row_states` says it. Unusable answers complete nothing."""
    return {key: state for (key,), state in row_states(shards, retry, (shards.commit.key or "",)) if state is not None}


def row_states(
    shards: JobShards, retry: RetryFailed | None, columns: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], str | None]]:
    """The values of `columns` in each row of a job's commit table, its journal included, and the row's state.

    That is 'ok', 'failed' (permanently), 'retry_transient', 'retry_permanent' (one that `retry` names), or None of an
    unusable answer.
    """
    table, known = shards.commit, status_columns(shards.commit, retry)
    rows = shards.read(table.name, list(dict.fromkeys((*columns, *known))))
    yield from zip(zip(*(rows[name].to_pylist() for name in columns), strict=True), states_of(rows, retry), strict=True)
    for record in shards.read_journal():
        for row in record.get(table.name, ()):
            state = _state(retry, **{name: value_of(row, name) for name in known})
            yield tuple(value_of(row, name) for name in columns), state


def count_rows(
    shards: JobShards, columns: Sequence[str], current: Callable[[pa.Table], pa.Table], total: int
) -> WorkCount:
    """How far a work of `total` keys is, by those rows of its job's commit table that are `current`.

    Rows of the journal are counted, too; `columns` are those that `current` looks at.
    """
    table, known = shards.commit, status_columns(shards.commit, None)
    key, read = table.key or "", list(dict.fromkeys((*columns, *known)))
    journal = [row for record in shards.read_journal() for row in record.get(table.name, ())]
    rows = shards.read(table.name, [key, *read] if journal else read)
    if journal:
        there = set(rows[key].to_pylist())  # a process may be killed between a part and the end of its journal
        new = [row for row in journal if value_of(row, key) not in there]
        written = {name: [value_of(row, name) for row in new] for name in (key, *read)}
        rows = pa.concat_tables([rows, pa.table(written, rows.schema)])
    states: Counter[str | None] = Counter()
    for *values, number in _grouped(current(rows), known):
        states[_state(None, **dict(zip(known, values, strict=True)))] += number
    retryable = states["retry_transient"]
    return WorkCount(total, states["ok"], states["failed"] + retryable, retryable)


def _grouped(rows: pa.Table, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The values of some columns, and how many rows have them."""
    grouped = rows.select(columns).group_by(list(columns)).aggregate([([], "count_all")])
    return zip(*(grouped[name].to_pylist() for name in (*columns, "count_all")), strict=True)


def status_columns(table: Table[Any], retry: RetryFailed | None) -> list[str]:
    """The columns of a table that `states_of` reads."""
    return [name for name in _STATUS[: None if retry is not None else 2] if name in table.columns]


def states_of(rows: pa.Table | pa.RecordBatch, retry: RetryFailed | None) -> Iterator[str | None]:
    """The state of each row, by those of the columns status, retryable, error and ending that are there."""
    known = [name for name in _STATUS if name in rows.schema.names]
    states: dict[tuple[Any, ...], str | None] = {}  # millions of rows have a few
    for values in zip(*(rows[name].to_pylist() for name in known), strict=True):
        if values not in states:
            states[values] = _state(retry, **dict(zip(known, values, strict=True)))
        yield states[values]


def _state(
    retry: RetryFailed | None,
    status: str,
    error: str | None = None,
    ending: str | None = None,
    **retryable: bool | None,  # of tables that have the column; what asks nothing, as a reading, fails the same again
) -> str | None:
    if status != "failed" or not retryable:
        return None if status == "unusable" else status
    if retryable["retryable"] is not False:
        return "retry_transient"
    return "retry_permanent" if retry is not None and retry.names(error, ending) else status


@contextmanager
def cancelling(answers: Iterator[A]) -> Iterator[Iterator[A]]:
    """The answers, which end with the block: requests in flight behind a generator are cancelled."""
    try:
        yield answers
    finally:
        close = getattr(answers, "close", None)
        if close is not None:
            close()
