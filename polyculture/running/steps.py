"""Steps of a run, work by work: a model is loaded once, and only for pending queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from polyculture.cache.shards import recover
from polyculture.cache.worker import Step, Work, do_works
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines.models import Models
from polyculture.running.batching import asked_in_batches, batches_at_once, side_by_side
from polyculture.running.job_runner import JobRunner
from polyculture.running.loading import load_model
from polyculture.running.models import BATCHED, LoadedModels, OpenEngine


@dataclass(kw_only=True)
class StepRunner(JobRunner):
    """Runs the steps of an experiment, and records the outcome of their jobs."""

    workspace: Workspace
    open_engine: OpenEngine = load_model  # how a model is loaded; whoever keeps it loaded for later says so here
    loaded: LoadedModels | None = None  # models that somebody else keeps open; without them each command opens its own

    def run_step(
        self, step: Step[Any, Models], works: Iterable[Work[Any]] | None = None, *, tell_settled: bool = True
    ) -> None:
        """Completes the missing parts of a step's works, or of the named ones.

        `tell_settled` also reports jobs that were already complete.
        """
        chosen = sorted(step.works() if works is None else works, key=_models)
        self.recover(step, chosen)
        if step.span == "all":
            self._together(step, chosen)
            return
        for _, group in groupby(chosen, key=_models):
            self._of_one_model(step, list(group), tell_settled)

    def recover(self, step: Step[Any, Any], works: Iterable[Work[Any]]) -> None:
        """Commits rows that killed processes left in the journals of works."""
        for work in works:
            recover(self.workspace.run, work.job, step.tables)

    def _together(self, step: Step[Any, Models], works: Sequence[Work[Any]]) -> None:
        with self._models() as loaded:
            size, models = sum(work.size for work in works), loaded.of(step, works[0])
            self.work(f"{step.name} {works[0].name}".strip(), size, partial(_do, self.workspace, step, works, models))

    def _of_one_model(self, step: Step[Any, Models], works: Sequence[Work[Any]], tell_settled: bool) -> None:
        with self._models() as loaded:
            tasks = [
                partial(
                    self.do,
                    f"{step.name} {work}",
                    work.job,
                    work.size,
                    partial(_do, self.workspace, step, [work], loaded.of(step, work)),
                    tell_settled=tell_settled,
                )
                for work in works
            ]
            at_once = self._batches_at_once(step, works[0])
            if at_once > 1:
                side_by_side(tasks, at_once, loaded.stop)
                return
            for task in tasks:
                task()

    def _models(self) -> LoadedModels | nullcontext[LoadedModels]:
        return LoadedModels(self.workspace, self.open_engine) if self.loaded is None else nullcontext(self.loaded)

    def _batches_at_once(self, step: Step[Any, Any], work: Work[Any]) -> int:
        """The number of works that wait for batches concurrently; 1 without batches."""
        specs = [self.workspace.experiment.model_spec(model) for model in work.models.values()]
        if step.tables[-1].account not in BATCHED:
            return 1
        return max([batches_at_once(spec) for spec in specs if asked_in_batches(spec)], default=1)


def _do(
    workspace: Workspace, step: Step[Any, Models], works: Sequence[Work[Any]], models: Models, progress: Any
) -> Any:
    return do_works(workspace.run, step, works, models, progress)


def _models(work: Work[Any]) -> tuple[str, ...]:
    return tuple(work.models.values())
