"""Stops a stage by evidence: one fault meets eight different prompts in a row, whatever its words are.

    rule = StopRule("generate openai:one", StopLimits(answers=8, minutes=5))
    rule.fail(Failure(job, "response-id", "prompt-id", "HTTP 400: Budget has been exceeded!"))     # eight times
    rule.stopped                                                                      # the error that ends the stage

A prompt may be at fault itself, so that all its failures are one piece of evidence; unless it was answered before, or
nothing was ever answered: then each failure is one. "In a row" means without an answer of use in between, in the order
in which answers come: of many requests in flight, those that were sent before the fault began end a row at most once
each. All faults count alike: what may pass was waited for (`outage`) before it became a failure. A batch has no order
in time: its engine spreads the failures evenly between the answers. A fault that comes and goes, as a model that fails
every other time, ends rows by itself: a row must be twice as long as the longest of that fault that an answer ended.

Until the first answer of use, the rule admits as many requests at a time as would stop the stage (`rounds`): what all
of them would meet, these few show.

Where a stage stopped because of its model's service (a fault that is not `final`), the row goes on in the next stage
of this model: one request is sent, and if it meets the same fault, that stage stops, too. An answer of use ends the
row, so that another capability of the model, or a service that works again, is asked as ever.

Why eight: a fault that meets one answer in five by chance meets eight in a row once in 390,000 answers, and what a
wrong stop costs is to give the command again. A stage is a step with its models; its rule lives as long as the command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, takewhile
from threading import Lock
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from polyculture.cache.errors import SystematicFaultError
from polyculture.cache.store.layout import Table
from polyculture.cache.store.run_folder import Job
from polyculture.cache.work.faults import (
    CONNECTION,
    FaultKind,
    StopLimits,
    fault_table,
    kind_of_error,
)

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R")  # a request to an engine
# Takes the requests of at most so many answers from an iterator, and returns what is left of these requests.
First = Callable[[Iterator[R], int], tuple[list[R], list[R]]]
Places = Mapping[str, str]  # what the table's remedies leave open: 'url', 'key'
JobKeys = dict[Job, set[str]]  # of rows, by job
_REMEMBERED = 1000  # prompts with an answer of use, the last ones


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed answer as the rule sees it."""

    job: Job
    key: str  # of its row
    subject: str  # what was asked: several samples of a prompt have one
    error: str | None
    first_try: bool = True  # not a second attempt because of a first answer that was of no use


@dataclass(frozen=True, slots=True)
class StoppedStage:
    """A stage that stopped itself."""

    name: str  # of its step and its models
    line: str  # the error that says why
    models: tuple[str, ...] = ()  # each as it is loaded: equal of variants that one service answers
    fault: str | None = None  # the kind, where the service is at fault, and not what was asked of it
    after: str | None = None  # the stage that this fault had stopped before


@dataclass(slots=True)
class _FailureStreak:
    """Failures of one kind since the last answer of use."""

    error: str | None = None  # of the last of them
    evidence: set[str] = field(default_factory=set)
    subjects: set[str] = field(default_factory=set)
    keys: JobKeys = field(default_factory=dict)


@dataclass
class StopRule:
    """What the answers of a stage tell of it. Threads that work on jobs side by side share it."""

    name: str = ""  # of the stage and its models, for the line
    limits: StopLimits = field(default_factory=lambda: fault_table().stop)
    places: Callable[[], Places] = dict
    answered: bool = False  # has any answer been of use?
    has_rows: bool = False  # were there answers of use before this command?
    few_first: bool = False  # each answer may cost: a few are asked for until one is of use
    drains: bool = False  # what was asked is paid and comes: it is kept before the stage ends
    before: StoppedStage | None = None  # another stage of its models, which stopped because of their service
    stopped: SystematicFaultError | None = None
    advice: Callable[[str], str | None] = lambda _error: None  # the remedy of one error, where its words say it
    _rows: dict[str, _FailureStreak] = field(default_factory=dict)  # by kind of fault
    _ended: dict[str, int] = field(default_factory=dict)  # the longest row of a kind that an answer ended
    _failed: dict[str, JobKeys] = field(default_factory=dict)  # by kind, all of this command
    _of_use: dict[str, None] = field(default_factory=dict)  # prompts with an answer of use, the last ones
    _fault: str | None = None  # the kind that stopped it
    _lock: Lock = field(default_factory=Lock)

    def rounds(self, requests: Iterable[R], first: First[R]) -> Iterator[Iterator[R]]:
        """The requests as they may be asked, a round after the other; none once the stage has stopped.

        Where another stage of the models stopped before, the first round has one request. With `few_first` a round has
        the requests of `limits.answers` answers, until one was of use. The last round has all others. A round is over
        when all its answers have come. (A caller that waited for the next request while answers are in flight would
        wait for ever, if it is the thread that reports these answers to the rule.)
        """
        left = iter(requests)
        if self.before is not None and not (self.drains or self.answered or self.stopped):
            now, later = first(left, 1)
            if not now:
                return
            left = chain(later, left)
            yield iter(now)
        while self.few_first and self.limits.answers and not self.answered and self.stopped is None:
            now, later = first(left, self.limits.answers)
            if not now:
                return
            left = chain(later, left)
            yield iter(now)
        yield takewhile(lambda _: self.stopped is None, left)

    def succeed(self, subject: str = "") -> None:
        """An answer was of use."""
        with self._lock:
            self.answered = True
            if subject:
                self._of_use.pop(subject, None)
                self._of_use[subject] = None
            if len(self._of_use) > _REMEMBERED:
                del self._of_use[next(iter(self._of_use))]
            if self.stopped is None:
                for kind, row in self._rows.items():
                    self._ended[kind] = max(self._ended.get(kind, 0), len(row.evidence))
                self._rows.clear()

    def fail(self, failure: Failure) -> None:
        """An answer failed. Sets `stopped` where that makes it systematic."""
        kind = kind_of_error(failure.error)
        with self._lock:
            row = self._rows.setdefault(kind.name, _FailureStreak())
            row.error = failure.error
            for keys in (row.keys, self._failed.setdefault(kind.name, {})):
                keys.setdefault(failure.job, set()).add(failure.key)
            if failure.first_try:
                blameless = not self.answered or failure.subject in self._of_use
                row.evidence.add(failure.key if blameless else failure.subject)
                row.subjects.add(failure.subject)
            if self.stopped is not None:
                return
            if (before := self._met_before(kind.name)) is not None:
                self._stop(kind, row, f"another answer failed for the reason that stopped {before}")
            elif self._is_enough(kind, row):
                words = "prompts" if len(row.subjects) == len(row.evidence) else "answers"
                self._stop(kind, row, f"{len(row.evidence)} {words} in a row failed for this reason")

    def end(self, *, is_part: bool = False) -> None:
        """The stage has nothing more to ask. A fault that met all its answers is at fault, however few they were.

        `is_part`: others ask the same service beside this process, and may know better.
        """
        with self._lock:
            if self.stopped is not None or self.answered or self.has_rows or is_part or len(self._rows) != 1:
                return
            [row] = self._rows.values()
            kind = kind_of_error(row.error)
            several = kind.doubtful and len(row.subjects) > 1 and self.limits.answers > 0
            if not kind.final or several or self._is_long(row):
                self._stop(kind, row, f"all {len(row.evidence)} answers failed for this reason")

    @property
    def is_one_prompt(self) -> bool:
        """Whether as many answers as may fail have failed for one fault, all of one prompt: its job ends."""
        with self._lock:
            if self.answered:
                return False
            return any(self._is_long(row) and len(row.subjects) == 1 for row in self._rows.values())

    @property
    def unsettled(self) -> Mapping[Job, set[str]]:
        """By job, the keys of rows that do not count as settled: what failed for the fault that stopped the stage.

        And doubtful ones of several prompts, where nothing was answered after them: no evidence says that the prompts
        are to blame. It is a copy: jobs beside the one that stopped go on to fail.
        """
        with self._lock:
            several = [row for row in self._rows.values() if len(row.subjects) > 1 and self.limits.answers > 0]
            doubtful = [row.keys for row in several if kind_of_error(row.error).doubtful]
            found: JobKeys = {}
            for keys_by_job in doubtful if self._fault is None else [self._failed[self._fault]]:
                for job, keys in keys_by_job.items():
                    found.setdefault(job, set()).update(keys)
            return found

    def as_stopped(self, models: tuple[str, ...], error: SystematicFaultError) -> StoppedStage:
        """The stage of some models, which an error ended: its own, or one of the engine, that no service listens."""
        fault = CONNECTION if self._fault is None else self._fault
        is_service = not next(kind for kind in fault_table().kinds if kind.name == fault).final
        fault_of_service = fault if is_service else None
        return StoppedStage(self.name, str(error).rstrip("."), models, fault_of_service, self._met_before(fault))

    def _met_before(self, fault: str) -> str | None:
        """The stage that this kind of fault stopped before, unless an answer has been of use since."""
        if self.before is None or self.answered or fault != self.before.fault:
            return None
        return self.before.name

    def _is_enough(self, kind: FaultKind, row: _FailureStreak) -> bool:
        """Whether a row of failures stops the stage."""
        several = self.answered or len(row.subjects) > 1
        return several and self._is_long(row, 2 * self._ended.get(kind.name, 0))

    def _is_long(self, row: _FailureStreak, least: int = 0) -> bool:
        return self.limits.answers > 0 and len(row.evidence) >= max(self.limits.answers, least)

    def _stop(self, kind: FaultKind, row: _FailureStreak, words: str) -> None:
        own = self.places()
        told = kind.remedy.format(**{"url": "the server", "key": "Check the API key.", **own})
        remedy = self.advice(row.error or "") or told
        what = f"{self.name}: {kind.says} ({row.error}): {words}, and nothing of it is settled"
        self._fault = kind.name
        self.stopped = SystematicFaultError(what, where=own.get("url"), remedy=remedy)


class StopRules:
    """The rules of the stages of a command, and which of these stopped. Threads share it."""

    def __init__(self) -> None:
        self._rules: dict[str, StopRule] = {}
        self._stopped: dict[str, StoppedStage] = {}  # by model, where its service is at fault

    def of(self, models: Iterable[str], new: StopRule) -> StopRule:
        """The rule of the stage that `new` names; `new` where there is none yet, or where the stage has stopped."""
        rule = self._rules.setdefault(new.name, new)
        if rule.stopped is not None:  # it is asked anew
            rule = self._rules[new.name] = new
        rule.before = self.before(models) if rule.limits.answers else None
        return rule

    def before(self, models: Iterable[str]) -> StoppedStage | None:
        """A stage that stopped because of the service of one of these models."""
        return next((self._stopped[model] for model in models if model in self._stopped), None)

    def note(self, stopped: Iterable[StoppedStage]) -> None:
        """Some stages stopped, here or in another process."""
        first = [one for one in stopped if one.fault is not None and one.after is None]
        self._stopped.update((model, one) for one in first for model in one.models)


def whole(requests: Iterator[R], most: int) -> tuple[list[R], list[R]]:
    """The next `most` requests, none of them split."""
    return list(islice(requests, most)), []


def see_rows(rule: StopRule, job: Job, rows: Sequence[Any], table: Table[Any]) -> None:
    """Tells a rule of the rows of one answer: of use if any of them is; otherwise the first says why not.

    A refusal in words is an answer, though of no use. What fails before anybody is asked, as an entity that no token
    stands for, says nothing of the others; nor does a batch that is lost, whose rows must not be bought again unasked,
    or an answer that the token limit cut and that is asked for again with more room.
    """
    key = table.key or ""
    subject = str(getattr(rows[0], table.subject or key)) if rows else ""
    if not rows or any(row.status == "ok" for row in rows):
        rule.succeed(subject)
        return
    row = rows[0]
    refused = getattr(row, "ending", None) == "withheld" and not (row.error or "").startswith("HTTP ")
    counts = kind_of_error(row.error).counts
    grows = row.status == "unusable" and getattr(row, "ending", None) == "cut"
    says_nothing = counts == "never" or (counts == "if asked" and getattr(row, "purchase", None) is None)
    if not (refused or says_nothing or grows):
        first_try = (getattr(row, "attempts", None) or 1) <= 1
        rule.fail(Failure(job, getattr(row, key), subject, row.error, first_try))


def see_table(rule: StopRule, job: Job, rows: pa.Table, table: Table[Any]) -> None:
    """Tells the rule of a table of answers: a success where one succeeded, else each failure."""
    if rows.num_rows == 0 or "ok" in rows["status"].unique().to_pylist():
        rule.succeed()
        return
    for row in rows.to_pylist():
        see_rows(rule, job, [SimpleNamespace(**row)], table)
