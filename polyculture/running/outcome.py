"""What a run's questions to models came to: what is missing of them, and the error that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from polyculture.cache.errors import IncompleteError, JobHeldError, SystematicFaultError
from polyculture.running.reasons import reasons_line

if TYPE_CHECKING:
    from polyculture.cache.store.run_folder import Job
    from polyculture.cache.work.stop_rule import StoppedStage
    from polyculture.experiment.workspace import Workspace

_NAMED = 4  # failed jobs that the last line names


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What is missing when some steps have ended. Two outcomes add up to that of both."""

    failed: tuple[str, ...] = ()  # jobs with failures, a line each
    unread: int = 0  # of these: jobs whose answers could not be read, of which no model is asked again
    missing: tuple[str, ...] = ()  # parts of which nothing can be asked, a line each
    held: Mapping[Job, str] = field(default_factory=dict)  # jobs that other processes work on, and who
    stopped: tuple[StoppedStage, ...] = ()  # steps that stopped themselves
    empty: tuple[str, ...] = ()  # jobs that had nothing to do, by their label

    def __add__(self, other: RunOutcome) -> RunOutcome:
        return RunOutcome(
            failed=self.failed + other.failed,
            unread=self.unread + other.unread,
            missing=self.missing + other.missing,
            held={**self.held, **other.held},
            stopped=self.stopped + other.stopped,
            empty=self.empty + other.empty,
        )

    def without_held(self) -> RunOutcome:
        """The same without the jobs that other processes held: they are done now, or looked at again."""
        return replace(self, held={})

    def check(self, workspace: Workspace) -> None:
        """Raises a one-line error for missing work.

        `SystematicFaultError` for steps that stopped themselves (exit code 6), `IncompleteError` for failures (exit
        code 4), `JobHeldError` for a job that another process holds (exit code 3).
        """
        why = reasons_line(workspace.run, workspace.file) if self.stopped or self.failed else ""
        if self.stopped:
            lines = self._lacking()
            failed = [f"not complete: {lines}"] if lines else []
            stopped = [one.line for one in self.stopped if one.after is None]
            again = ", ".join(one.name for one in self.stopped if one.after is not None)
            stopped += [f"the same fault then stopped {again}"] if again else []
            raise SystematicFaultError("; ".join(filter(None, [*stopped, *failed, why])))
        if self.failed:
            reasons = "the reasons are in the view failures"
            again = "no model is asked again for an answer that cannot be read"
            if len(self.failed) > self.unread:
                again = "the same command retries transient failures, with --retry-failed the permanent ones, too"
            told = [f"not complete: {self._lacking()}", reasons, why, again]
            raise IncompleteError("; ".join(filter(None, told)))
        if self.missing:
            raise IncompleteError(f"not complete: {self._lacking()}")
        if self.held:
            raise JobHeldError("; ".join(self.held.values()))

    def _lacking(self) -> str:
        """What is missing or failed: the first lines, since each was printed when its job ended."""
        lines = [*self.missing, *self.failed]
        more = len(lines) - _NAMED
        return "; ".join([*lines[:_NAMED], *([f"and {more} more, see above"] if more > 0 else [])])
