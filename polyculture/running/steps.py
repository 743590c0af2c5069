"""Steps of a run, work by work: a model is loaded once, and only for pending queries."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from threading import local
from typing import Any

from polyculture.cache.errors import BudgetError, JobHeldError, SystematicFaultError
from polyculture.cache.log import get_logger
from polyculture.cache.store.run_folder import Job
from polyculture.cache.store.shards import recover
from polyculture.cache.work.faults import RetryFailed
from polyculture.cache.work.outcome import Outcome, Progress
from polyculture.cache.work.stop_rule import Places, StopRule, StopRules
from polyculture.cache.work.worker import Step, Work, do_works, end_stage, models_of
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import find_kind, read_options
from polyculture.generate.engines.models import Models
from polyculture.progress import JobPosition, brief, watch
from polyculture.running.batching import batches_at_once, in_batches, side_by_side
from polyculture.running.models import LoadedModels, WorkModels, loaded_as
from polyculture.running.outcome import RunOutcome
from polyculture.running.reasons import reasons_line

_log = get_logger(__name__)

_ODD_USAGE = (
    "; the tokens of {} of these answers do not add up to their total: the larger number is billed, and `note` has both"
)
RunWork = Callable[[Progress], Outcome]


def places_of(works: Sequence[Work[Any]]) -> list[tuple[Work[Any], JobPosition]]:
    """The works in their order, each with its place among them."""
    later = sum(work.size for work in works)
    placed = []
    for number, work in enumerate(works, start=1):
        later -= work.size
        placed.append((work, JobPosition(number, len(works), later)))
    return placed


@dataclass(frozen=True, kw_only=True)
class StepRunner:
    """Runs steps of an experiment with a progress. What is missing of them is returned, and nothing is kept of it.

    Several threads may use one: each has models of its own, unless somebody else keeps them open for all.
    """

    workspace: Workspace
    loaded: LoadedModels | None = None  # models that somebody else keeps open; without them each command opens its own
    retry: RetryFailed | None = None  # final failures that are asked again
    is_part: bool = False  # other processes do other works of the same command
    rules: StopRules = field(default_factory=StopRules)  # of all steps of a command
    _open: local = field(default_factory=local, repr=False)  # the models of the outermost block of a thread

    def run_step(
        self, step: Step[Any, Models], works: Iterable[Work[Any]] | None = None, *, tell_settled: bool = True
    ) -> RunOutcome:
        """Completes the missing parts of a step's works, or of the named ones.

        `tell_settled` also reports jobs that were already complete. Where a fault is systematic, the works of that
        model end, and those of other models go on.
        """
        chosen = sorted(step.works() if works is None else works, key=models_of)
        return self.run_placed(step, places_of(chosen), tell_settled=tell_settled)

    def run_placed(
        self, step: Step[Any, Models], placed: Sequence[tuple[Work[Any], JobPosition]], *, tell_settled: bool
    ) -> RunOutcome:
        """Runs some works of a step, those of one model together. Each has its place among all works."""
        self.recover(step, (work for work, _ in placed))
        if step.span == "all":
            return self._together(step, [work for work, _ in placed])
        groups = groupby(placed, key=lambda one: models_of(one[0]))
        return sum((self._of_one_model(step, list(group), tell_settled) for _, group in groups), RunOutcome())

    @contextmanager
    def models(self) -> Iterator[LoadedModels]:
        """The open models: those of the outermost block, at whose end they are closed, or those that others keep."""
        outer: LoadedModels | None = self.loaded or getattr(self._open, "models", None)
        if outer is not None:
            yield outer
            return
        with LoadedModels(self.workspace) as self._open.models:
            try:
                yield self._open.models
            finally:
                self._open.models = None

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
        place: JobPosition | None = None,
        asks: bool = True,
    ) -> RunOutcome:
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
            return RunOutcome(held={job: str(held)})
        if job is not None and tell_settled and not (outcome.done or outcome.failed):
            return RunOutcome(empty=(label,))
        if tell_settled or outcome.failed or outcome.reused < outcome.done:
            level = logging.WARNING if outcome.failed or outcome.odd_usage else logging.INFO
            line = f"{label}: {outcome.done} done, {outcome.reused} of them before, {outcome.failed} failed"
            _log.log(level, f"{line}{_ODD_USAGE.format(outcome.odd_usage) if outcome.odd_usage else ''}")
        if outcome.failed:
            return RunOutcome(failed=(f"{label}: {outcome.failed} failed",), unread=int(not asks))
        return RunOutcome()

    def _together(self, step: Step[Any, Models], works: Sequence[Work[Any]]) -> RunOutcome:
        """Does the works of a step in one pass."""
        rule = self._rule(step, works[0])
        label, size = f"{step.name} {works[0].name}".strip(), sum(work.size for work in works)
        with self.models() as loaded:
            models = WorkModels(loaded, step, works[0], rule)
            task = partial(self.work, label, size, partial(self._do, step, works, models, rule))
            return self._ended(step, models_of(works[0]), rule, (one() for one in [task]))

    def _of_one_model(
        self, step: Step[Any, Models], placed: Sequence[tuple[Work[Any], JobPosition]], tell_settled: bool
    ) -> RunOutcome:
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
            outcomes = side_by_side(tasks, at_once, loaded.stop) if at_once > 1 else (task() for task in tasks)
            return self._ended(step, models_of(first), rule, outcomes)

    def _ended(
        self, step: Step[Any, Any], models: Sequence[str], rule: StopRule, outcomes: Iterable[RunOutcome]
    ) -> RunOutcome:
        """The outcome of all works of a model, which ends where its rule stops it: other models go on.

        Raises `BudgetError` with the most frequent reasons of failures.
        """
        outcome = RunOutcome()
        try:
            try:
                for one in outcomes:
                    outcome += one
            except SystematicFaultError:
                # The job that stopped it could not reopen what others held, nor what they wrote behind it.
                end_stage(self.workspace.run, step, rule)
                raise
            self._end(step, rule)
        except SystematicFaultError as fault:  # the last line says why
            stopped = rule.as_stopped(self.loaded_as(models), fault)
            self.rules.note([stopped])
            return outcome + RunOutcome(stopped=(stopped,))
        except BudgetError as reached:
            why = reasons_line(self.workspace.run, self.workspace.file)
            raise BudgetError("; ".join(filter(None, [str(reached), why]))) from reached
        return outcome

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
        batch = any(in_batches(step, spec) for spec in specs)
        new = StopRule(
            name,
            limits,
            partial(self._places, models),
            advice=partial(self._advice, models),
            few_first=not batch and any(find_kind(spec).paid for spec in specs),
            drains=batch,
        )
        return self.rules.of(self.loaded_as(models), new)

    def loaded_as(self, models: Iterable[str]) -> tuple[str, ...]:
        """Models as one service knows them, whatever the experiment calls its variants."""
        return tuple(loaded_as(self.workspace.experiment.model_spec(model)) for model in models)

    def _end(self, step: Step[Any, Any], rule: StopRule) -> None:
        """Nothing is left of the works of a model."""
        rule.end(is_part=self.is_part)
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
        return max([batches_at_once(spec) for spec in specs if in_batches(step, spec)], default=1)
