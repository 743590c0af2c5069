"""Stops a stage whose answers all fail for one reason, or fail for minutes, before all of them are paid for.

    rule = StopRule("generate openai:one", StopLimits(answers=20, minutes=5))
    rule.fail(Failure(job, "response-id", "prompt-id", "HTTP 500: busy"))     # twenty times
    rule.stopped                                                              # the error that ends the stage

What a fault is stands in the table of faults. A stage is a step with its models; its rule lives as long as the command.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import SystematicFaultError
from polyculture.cache.faults import OTHER, UNUSABLE, StopLimits, fault_table, kind_of_error, same_reason
from polyculture.cache.layout import Table
from polyculture.cache.run_folder import Job

if TYPE_CHECKING:
    import pyarrow as pa

Places = Mapping[str, str]  # what the table's remedies leave open: 'url', 'key'


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed answer as the rule sees it."""

    job: Job
    key: str  # of its row
    subject: str  # what was asked: several samples of a prompt have one
    error: str | None
    first_try: bool = True  # not a second attempt because of a first answer that was of no use


@dataclass
class StopRule:
    """What the answers of a stage tell of it. Threads that work on jobs side by side share it."""

    name: str = ""  # of the stage and its models, for the line
    limits: StopLimits = field(default_factory=lambda: fault_table().stop)
    places: Callable[[], Places] = dict
    clock: Callable[[], float] = time.monotonic
    answered: bool = False  # has any answer been of use?
    has_rows: bool = False  # were there answers of use before this command?
    drains: bool = False  # what was asked is paid and comes: it is kept before the stage ends
    stopped: SystematicFaultError | None = None
    advice: Callable[[str], str | None] = lambda _error: None  # the remedy of one error, where its words say it
    _failures: list[Failure] = field(default_factory=list)  # since the last success
    _since: float | None = None  # when the service began to fail
    _failing: int = 0  # answers since then
    _of_account: int = 0  # of these, those that failed for a reason that is never one request's: payment, a key
    _reasons: Counter[str] = field(default_factory=Counter)  # of first tries, before any success
    _subjects: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def succeed(self) -> None:
        """An answer was of use."""
        with self._lock:
            self.answered = True
            if self.stopped is None:
                self._since, self._failing, self._of_account = None, 0, 0
                self._failures.clear()

    def fail(self, failure: Failure) -> None:
        """An answer failed. Sets `stopped` where that makes it systematic."""
        with self._lock:
            self._note(failure)
            if self.stopped is None and (words := self._is_systematic()):
                self._stop(words)

    def end(self, *, is_part: bool = False) -> None:
        """The stage has nothing more to ask. A service that never answered is at fault, however few were asked.

        `is_part`: others ask the same service beside this process, and may know better.
        """
        with self._lock:
            if self.stopped is not None or self.answered or len(self._reasons) != 1:
                return
            kind = kind_of_error(self._failures[-1].error)
            never = kind.service and not self.has_rows and (kind.of_account or not is_part)
            if never or self._as_many_alike():
                self._stop(f"all {self._reasons.total()} answers failed for this reason")

    @property
    def is_one_prompt(self) -> bool:
        """Whether as many answers as may fail have failed for one reason, all of one prompt: its job ends."""
        with self._lock:
            return self._as_many_alike() and len(self._subjects) == 1

    @property
    def unsettled(self) -> Mapping[Job, set[str]]:
        """By job, the keys of rows that the fault explains: they do not count as settled."""
        found: dict[Job, set[str]] = {}
        for failure in self._failures if self.stopped else ():
            found.setdefault(failure.job, set()).add(failure.key)
        return found

    def _note(self, failure: Failure) -> None:
        kind = kind_of_error(failure.error)
        of_service = kind.service or kind.name == UNUSABLE
        if of_service:
            self._since = self.clock() if self._since is None else self._since
            self._failing += 1
            self._of_account += kind.of_account
        if not self.answered and failure.first_try:
            self._reasons[same_reason(failure.error)] += 1
            self._subjects.add(failure.subject)
        if of_service or not self.answered:
            self._failures.append(failure)

    def _is_systematic(self) -> str | None:
        """Why the stage stops, in words; None where it goes on."""
        if self._as_many_alike() and len(self._subjects) > 1:
            return f"the first {self._reasons.total()} answers all failed for this reason"
        if self.answered and 0 < self.limits.answers <= self._of_account:
            return f"{self._of_account} answers in a row failed for this reason"
        patience, since = self.limits.minutes * 60, self._since
        lasted = 0.0 if since is None else self.clock() - since
        if patience and lasted >= patience and self._failing >= max(1, self.limits.answers):
            return f"no answer was of use in {lasted / 60:.0f} minutes"
        return None

    def _as_many_alike(self) -> bool:
        return 0 < self.limits.answers <= self._reasons.total() and len(self._reasons) == 1 and not self.answered

    def _stop(self, words: str) -> None:
        error = self._failures[-1].error
        kind, own = kind_of_error(error), self.places()
        told = kind.remedy.format(**{"url": "the server", "key": "Check the API key.", **own})
        remedy = self.advice(error or "") or told
        what = f"{self.name}: {kind.says} ({error}): {words}, and nothing of it is settled"
        self.stopped = SystematicFaultError(what, where=own.get("url") if kind.service else None, remedy=remedy)


def see_rows(rule: StopRule, job: Job, rows: Sequence[Any], table: Table[Any]) -> None:
    """Tells a rule of the rows of one answer: of use if any of them is; otherwise the first says why not.

    A refusal in words is an answer, though of no use. What fails before anybody is asked, as an entity that no token
    stands for, says nothing of the others.
    """
    if not rows or any(row.status == "ok" for row in rows):
        rule.succeed()
        return
    row, key = rows[0], table.key or ""
    refused = getattr(row, "ending", None) == "withheld" and not (row.error or "").startswith("HTTP ")
    not_asked = getattr(row, "purchase", None) is None and kind_of_error(row.error).name == OTHER
    if not (refused or not_asked):
        first_try = (getattr(row, "attempts", None) or 1) <= 1
        subject = str(getattr(row, table.subject or key))
        rule.fail(Failure(job, getattr(row, key), subject, row.error, first_try))


def see_table(rule: StopRule, job: Job, rows: pa.Table, table: Table[Any]) -> None:
    """The same of many answers in bulk."""
    if rows.num_rows == 0 or "ok" in rows["status"].unique().to_pylist():
        rule.succeed()
        return
    for row in rows.to_pylist():
        see_rows(rule, job, [SimpleNamespace(**row)], table)
