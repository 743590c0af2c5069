"""Steps of a run, work by work: a model is loaded once, and only for pending queries."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

from polyculture.cache.errors import BudgetError, IncompleteError, JobHeldError, SystematicFaultError
from polyculture.cache.log import get_logger
from polyculture.cache.store.run_folder import Job
from polyculture.cache.store.shards import recover
from polyculture.cache.work.faults import RetryFailed
from polyculture.cache.work.outcome import Outcome, Progress
from polyculture.cache.work.stop_rule import Places, StopRule
from polyculture.cache.work.worker import Step, Work, do_works, end_stage, models_of
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import find_kind, read_options
from polyculture.generate.engines.models import Models
from polyculture.progress import Place, brief, watch
from polyculture.running.batching import asked_in_batches, batches_at_once, side_by_side
from polyculture.running.models import BATCHED, LoadedModels, WorkModels
from polyculture.running.reasons import reasons_line

_log = get_logger(__name__)

RunWork = Callable[[Progress], Outcome]


def places_of(works: Sequence[Work[Any]]) -> list[tuple[Work[Any], Place]]:
    """The works in their order, each with its place among them."""
    later = sum(work.size for work in works)
    placed = []
    for number, work in enumerate(works, start=1):
        later -= work.size
        placed.append((work, Place(number, len(works), later)))
    return placed


_NAMED = 4  # failed jobs that the last line names


@dataclass(kw_only=True)
class StepRunner:
    """Runs the steps of an experiment with a progress, and reports missing work in one line at the end."""

    workspace: Workspace
    loaded: LoadedModels | None = None  # models that somebody else keeps open; without them each command opens its own
    retry: RetryFailed | None = None  # final failures that are asked again
    is_part: bool = False  # other processes do other works of the same command
    rules: dict[str, StopRule] = field(default_factory=dict)  # by step and models; whoever keeps them says so
    failed: list[str] = field(default_factory=list)  # what is missing, a line each
    unread: int = 0  # of the lines of `failed`: about answers that could not be read, of which no model is asked again
    missing: list[str] = field(default_factory=list)  # parts of which nothing can be asked, a line each
    held: dict[Job, str] = field(default_factory=dict)  # jobs that other processes work on, and who they are
    stopped: list[str] = field(default_factory=list)  # stages that stopped themselves, a line each
    empty: list[str] = field(default_factory=list)  # jobs of the step at work that have nothing to do

    def run_step(
        self, step: Step[Any, Models], works: Iterable[Work[Any]] | None = None, *, tell_settled: bool = True
    ) -> None:
        """Completes the missing parts of a step's works, or of the named ones.

        `tell_settled` also reports jobs that were already complete. Where a fault is systematic, the works of that
        model end, and those of other models go on.
        """
        chosen = sorted(step.works() if works is None else works, key=models_of)
        self.recover(step, chosen)
        if step.span == "all":
            self._until_stopped(partial(self._together, step, chosen))
            return
        for _, group in groupby(places_of(chosen), key=lambda placed: models_of(placed[0])):
            self._until_stopped(partial(self._of_one_model, step, list(group), tell_settled))
        self._say_empty(step, len(chosen))

    @contextmanager
    def models(self) -> Iterator[LoadedModels]:
        """The open models: those of the outermost block, at whose end they are closed, or those that others keep."""
        if self.loaded is not None:
            yield self.loaded
            return
        with LoadedModels(self.workspace) as self.loaded:
            try:
                yield self.loaded
            finally:
                self.loaded = None

    def _until_stopped(self, work: Callable[[], None]) -> None:
        try:
            work()
        except SystematicFaultError as fault:  # other stages go on, and the last line says why
            self.stopped.append(str(fault).rstrip("."))
        except BudgetError as reached:
            why = reasons_line(self.workspace.run, self.workspace.file)
            raise BudgetError("; ".join(filter(None, [str(reached), why]))) from reached

    def _say_empty(self, step: Step[Any, Any], works: int) -> None:
        """One line for all jobs of a step that have nothing to do, and why."""
        if not self.empty:
            return
        imported = self.workspace.experiment.imported
        why = "the imported files have no text of them" if imported else "there is nothing to ask about them"
        of = f"{len(self.empty)} of {works} combinations of model, language and topic"
        _log.warning(
            f"{step.name}: {of} have nothing to do, such as {self.empty[0].removeprefix(step.name).strip()}: {why}"
        )
        self.empty.clear()

    def recover(self, step: Step[Any, Any], works: Iterable[Work[Any]]) -> None:
        """Commits rows that killed processes left in the journals of works."""
        for work in works:
            recover(self.workspace.run, work.job, step.tables)

    def work(
        self,
        label: str,
        total: int,
        work: RunWork,
        *,
        job: Job | None = None,
        tell_settled: bool = True,
        place: Place | None = None,
        asks: bool = True,
    ) -> None:
        """Does a piece of work of `total` units (0: unknown); a `job` is left to the process that holds its lock.

        Without `tell_settled`, work that was complete before is not reported. `place`: which of several jobs it is.
        `asks`: whether answers are asked for; else stored ones are read.
        """
        label = brief(label)
        try:
            with watch(label, total, place) as progress:
                outcome = work(progress)
        except JobHeldError as held:
            if job is None:
                raise
            _log.warning(f"{label}: {held}; skipped")
            self.held[job] = str(held)
            return
        if job is not None and tell_settled and not (outcome.done or outcome.failed):
            self.empty.append(label)
        elif tell_settled or outcome.failed or outcome.reused < outcome.done:
            level = logging.WARNING if outcome.failed else logging.INFO
            _log.log(level, f"{label}: {outcome.done} done, {outcome.reused} of them before, {outcome.failed} failed")
        if outcome.failed:
            self.failed.append(f"{label}: {outcome.failed} failed")
            self.unread += not asks

    def finish(self, view: str = "failures") -> None:
        """Raises a one-line error for missing work; `view` has the reasons.

        Stages that stopped themselves (exit code 6), failures (exit code 4), or a reserved job (exit code 3).
        """
        why = reasons_line(self.workspace.run, self.workspace.file) if self.stopped or self.failed else ""
        if self.stopped:
            lines = self._lacking()
            failed = [f"not complete: {lines}"] if lines else []
            raise SystematicFaultError("; ".join(filter(None, [*self.stopped, *failed, why])))
        if self.failed:
            reasons = f"the reasons are in the view {view}"
            again = "no model is asked again for an answer that cannot be read"
            if len(self.failed) > self.unread:
                again = "the same command retries transient failures, with --retry-failed the permanent ones, too"
            raise IncompleteError(
                "; ".join(
                    filter(
                        None,
                        [f"not complete: {self._lacking()}", reasons, why, again],
                    )
                )
            )
        if self.missing:
            raise IncompleteError(f"not complete: {self._lacking()}")
        if self.held:
            raise JobHeldError("; ".join(self.held.values()))

    def _lacking(self) -> str:
        """What is missing or failed: the first lines, since each was printed when its job ended."""
        lines = [*self.missing, *self.failed]
        more = len(lines) - _NAMED
        return "; ".join([*lines[:_NAMED], *([f"and {more} more, see above"] if more > 0 else [])])

    def _together(self, step: Step[Any, Models], works: Sequence[Work[Any]]) -> None:
        rule = self._rule(step, works[0])
        with self.models() as loaded:
            size, models = sum(work.size for work in works), WorkModels(loaded, step, works[0], rule)
            self.work(f"{step.name} {works[0].name}".strip(), size, partial(self._do, step, works, models, rule))
            self._end(step, rule)

    def _of_one_model(
        self, step: Step[Any, Models], placed: Sequence[tuple[Work[Any], Place]], tell_settled: bool
    ) -> None:
        first, _ = placed[0]
        rule = self._rule(step, first)
        with self.models() as loaded:
            tasks = [
                partial(
                    self.work,
                    f"{step.name} {work}",
                    work.size,
                    partial(self._do, step, [work], WorkModels(loaded, step, work, rule), rule),
                    job=work.job,
                    tell_settled=tell_settled,
                    place=place,
                    asks="retryable" in step.tables[-1].columns,
                )
                for work, place in placed
            ]
            at_once = self._batches_at_once(step, first)
            if at_once > 1:
                try:
                    side_by_side(tasks, at_once, loaded.stop)
                except SystematicFaultError:
                    # The job that stopped it could not reopen what others held, nor what they wrote behind it.
                    end_stage(self.workspace.run, step, rule)
                    raise
            else:
                for task in tasks:
                    task()
            self._end(step, rule)

    def _do(
        self, step: Step[Any, Models], works: Sequence[Work[Any]], models: Models, rule: StopRule, progress: Any
    ) -> Outcome:
        return do_works(self.workspace.run, step, works, models, progress, rule=rule, retry=self.retry)

    def _rule(self, step: Step[Any, Any], work: Work[Any]) -> StopRule:
        """The rule that may stop a step of the models of a work, for as long as this command runs."""
        models = models_of(work)
        name = " ".join((step.name, *models))
        limits = self.workspace.experiment.stop.limits
        specs = [self.workspace.experiment.model_spec(model) for model in models]
        in_batches = step.tables[-1].account in BATCHED and any(map(asked_in_batches, specs))
        new = partial(
            StopRule,
            name,
            limits,
            partial(self._places, models),
            advice=partial(self._advice, models),
            few_first=not in_batches and any(find_kind(spec).paid for spec in specs),
            drains=in_batches,
        )
        known = self.rules.setdefault(name, new())
        if known.stopped is not None:  # it is asked anew
            known = self.rules[name] = new()
        return known

    def _end(self, step: Step[Any, Any], rule: StopRule) -> None:
        """Nothing is left of the works of a model."""
        rule.end(is_part=self.is_part)
        if rule.odd_usage:
            _log.warning(
                f"{rule.name}: the tokens of {rule.odd_usage} answers do not add up to their total; the larger number "
                "is billed, and `note` has both"
            )
            rule.odd_usage = 0
        end_stage(self.workspace.run, step, rule)

    def _places(self, models: Sequence[str]) -> Places:
        """What the remedies say of the server of the models' engine."""
        places: dict[str, str] = {}
        for model in models:
            spec = self.workspace.experiment.model_spec(model)
            kind = find_kind(spec)
            places |= kind.places(spec, read_options(kind.options, spec))
        return places

    def _advice(self, models: Sequence[str], error: str) -> str | None:
        """The remedy that the models' engine reads from a failed answer."""
        kinds = (find_kind(self.workspace.experiment.model_spec(model)) for model in models)
        return next((found for kind in kinds if (found := kind.advice(error))), None)

    def _batches_at_once(self, step: Step[Any, Any], work: Work[Any]) -> int:
        """The number of works that wait for batches concurrently; 1 without batches."""
        specs = [self.workspace.experiment.model_spec(model) for model in work.models.values()]
        if step.tables[-1].account not in BATCHED:
            return 1
        return max([batches_at_once(spec) for spec in specs if asked_in_batches(spec)], default=1)
