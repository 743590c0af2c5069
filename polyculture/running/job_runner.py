"""Runs the jobs of a command with a progress, and reports missing work in one line at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from polyculture.cache.errors import IncompleteError, JobHeldError, SystematicFaultError
from polyculture.cache.outcome import Outcome, Progress
from polyculture.cache.run_folder import Job
from polyculture.console import Place, say, watch

RunWork = Callable[[Progress], Outcome]


@dataclass(kw_only=True)
class JobRunner:
    """The jobs of one command and their outcome."""

    failed: list[str] = field(default_factory=list)  # what is missing, a line each
    missing: list[str] = field(default_factory=list)  # parts of which nothing can be asked, a line each
    held: dict[Job, str] = field(default_factory=dict)  # jobs that other processes work on, and who they are
    stopped: list[str] = field(default_factory=list)  # stages that stopped themselves, a line each

    def work(
        self, label: str, total: int, work: RunWork, *, tell_settled: bool = True, place: Place | None = None
    ) -> None:
        """Does a piece of work of `total` units (0: unknown).

        Without `tell_settled`, work that was complete before is not reported. `place`: which of several jobs it is.
        """
        with watch(label, total, place) as progress:
            outcome = work(progress)
        if tell_settled or outcome.failed or outcome.reused < outcome.done:
            self._tell(label, outcome)

    def do(
        self,
        label: str,
        job: Job,
        total: int,
        work: RunWork,
        *,
        tell_settled: bool = True,
        place: Place | None = None,
    ) -> None:
        """Does a job, unless another process holds its lock."""
        try:
            self.work(label, total, work, tell_settled=tell_settled, place=place)
        except JobHeldError as held:
            self._leave(label, job, held)

    def finish(self, view: str = "failures") -> None:
        """Raises a one-line error for missing work; `view` has the reasons.

        Stages that stopped themselves (exit code 6), failures (exit code 4), or a reserved job (exit code 3).
        """
        if self.stopped:
            lines = [*self.failed, *self.missing]
            failed = [f"besides, {'; '.join(lines)}"] if lines else []
            raise SystematicFaultError("; ".join(filter(None, [*self.stopped, *failed, self.reasons()])))
        if self.failed:
            reasons = f"the reasons are in the view {view}"
            again = "the same command retries transient failures, with --retry-failed the permanent ones, too"
            raise IncompleteError(
                "; ".join(
                    filter(
                        None,
                        [f"not complete: {'; '.join([*self.failed, *self.missing])}", reasons, self.reasons(), again],
                    )
                )
            )
        if self.missing:
            raise IncompleteError(f"not complete: {'; '.join(self.missing)}")
        if self.held:
            raise JobHeldError("; ".join(self.held.values()))

    def reasons(self) -> str:
        """The most frequent reasons of failures, for the line; empty where nobody knows them."""
        return ""

    def stop(self, fault: SystematicFaultError) -> None:
        """Notes that a stage stopped itself; other stages go on, and the last line says why."""
        self.stopped.append(str(fault).rstrip("."))

    def _leave(self, label: str, job: Job, held: JobHeldError) -> None:
        say(f"{label}: {held}")
        self.held[job] = str(held)

    def _tell(self, label: str, outcome: Outcome) -> None:
        say(f"{label}: {outcome.done} done, {outcome.reused} of them before, {outcome.failed} failed")
        if outcome.failed:
            self.failed.append(f"{label}: {outcome.failed} failed")
