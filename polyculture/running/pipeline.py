"""The stages in order. Each is a function from tables to a table; here they are called, and nothing is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Self

from polyculture.cache.catalog import Catalog
from polyculture.cache.manifest import Manifest
from polyculture.cache.outcome import Outcome
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import RESPONSES, Prompt
from polyculture.cache.selections import MAIN
from polyculture.cache.shards import recover
from polyculture.console import say, watch
from polyculture.experiment.changes import refuse_costly
from polyculture.experiment.workspace import Workspace, require_run
from polyculture.running.batching import (
    BATCHES,
    asked_in_batches,
    batches_at_once,
    check_nothing_waits,
    open_batches,
    side_by_side,
)
from polyculture.running.budget import Budget, open_budget
from polyculture.running.extraction import Extraction, ExtractJob
from polyculture.running.job_runner import Attempts, Work
from polyculture.running.linking import Linking, plan_linking
from polyculture.running.loading import load_model
from polyculture.running.provenance import add_model_versions

if TYPE_CHECKING:
    from polyculture.generate.engines import Engine, ModelSpec

OpenEngine = Callable[["ModelSpec"], AbstractContextManager["Engine"]]


@dataclass
class Pipeline(Attempts):
    """An experiment on its way: what it asks, with what, and what has become of it in this command."""

    workspace: Workspace
    manifest: Manifest
    extraction: Extraction
    linking: Linking
    open_engine: OpenEngine = load_model  # how a model is loaded; whoever keeps it loaded for later says so here

    @classmethod
    def prepare(cls, workspace: Workspace, *, accept_changes: bool = False) -> Self:
        """Checks the experiment against what is on disk, and makes it the run's present one.

        Raises `ChangedExperimentError` where answers of a model would be made again and nobody said that they may.
        """
        linking = plan_linking(workspace)
        extraction = Extraction(workspace)
        manifest = workspace.manifest().model_copy(update={**extraction.provenance, **linking.provenance})
        changes = workspace.changes(manifest)
        if changes and not accept_changes:
            refuse_costly(changes, workspace.costly_rows(manifest), workspace.file)
        for change in changes:
            say(f"{change}: what {change.stage} and the stages after it made is out of date, and is made anew")
        workspace.write(manifest)
        return cls(workspace, manifest, extraction, linking)

    @classmethod
    def join(cls, workspace: Workspace, open_engine: OpenEngine) -> Self:
        """A part of a run that another process has prepared: it works on jobs, and writes nothing but their shards."""
        manifest = require_run(workspace.run)
        return cls(workspace, manifest, Extraction(workspace), plan_linking(workspace), open_engine=open_engine)

    def generate(self, jobs: Sequence[Job]) -> None:
        """Samples what is missing of these jobs, and notes what the models were."""
        self.sample(jobs)
        self.manifest = add_model_versions(self.workspace, self.manifest)

    def sample(self, jobs: Sequence[Job]) -> None:
        """Samples what is missing of these jobs; a model is loaded once, and only if it has something to do."""
        from polyculture.generate.stage import generate_job, missing_samples

        run, sampling, catalog = self.workspace.run, self.workspace.sampling, self.workspace.catalog
        self._recover(jobs)
        for model, group in groupby(sorted(jobs, key=lambda job: job.model), key=lambda job: job.model):
            spec = self.workspace.experiment.model_spec(model)
            work = partial(generate_job, run, spec=spec, sampling=sampling, catalog=catalog)
            to_ask = []
            for job in group:
                prompts = self.workspace.prompts_of(job)
                if missing_samples(run, job, prompts, sampling):
                    to_ask.append((job, prompts))
                else:  # what runs beside this one have is taken over without opening the model
                    self._job("generate", job, len(prompts) * sampling.n, _ordered(work, job, prompts))
            if not to_ask:
                continue
            with ExitStack() as stack:
                budget = stack.enter_context(open_budget(self.workspace))
                if asked_in_batches(spec):
                    self._in_batches(spec, budget, to_ask, work)
                    continue
                for job, _ in to_ask:
                    check_nothing_waits(run, "generate", job)
                engine = stack.enter_context(self.open_engine(spec))
                for job, prompts in to_ask:
                    asking = partial(work, engine=budget.engine(engine, model, "generate", job))
                    self._job("generate", job, len(prompts) * sampling.n, _ordered(asking, job, prompts))

    def extract(self, jobs: Sequence[Job]) -> None:
        """Finds the mentions in the responses of these jobs that are not extracted yet."""
        with self.extraction.opened() as extract_job:
            self.extract_with(extract_job, jobs)

    def extract_with(self, extract_job: ExtractJob, jobs: Sequence[Job]) -> None:
        """The same with an extractor that is open already, and stays so."""
        jobs = [job for job in jobs if job not in self.held]  # whoever samples them now extracts them, too
        self._recover(jobs)
        tasks = [
            partial(
                self._job,
                "extract",
                job,
                len(self.workspace.prompts_of(job)) * self.workspace.sampling.n,
                partial(extract_job, job),
            )
            for job in jobs
        ]
        if self.extraction.batches_at_once > 1:
            side_by_side(tasks, self.extraction.batches_at_once, self.extraction.stop)
            return
        for task in tasks:
            task()

    def link(self) -> None:
        """Links all distinct surfaces of the run."""
        self.work("link", 0, lambda progress: self.linking.link(self.manifest, progress))

    def measure(self) -> None:
        """Computes the intervals of all metrics."""
        measure_run(self.workspace.run)

    def report(self) -> Path:
        """Writes the report, and says where."""
        return report_run(self.workspace.run, self.workspace.catalog)

    def _in_batches(
        self,
        spec: ModelSpec,
        budget: Budget,
        jobs: Sequence[tuple[Job, Sequence[Prompt]]],
        work: Callable[..., Outcome],
    ) -> None:
        """Samples jobs whose answers come within a day: all of them wait at the same time."""
        stop = Event()

        def sample(job: Job, prompts: Sequence[Prompt]) -> None:
            folder = self.workspace.run.shards(BATCHES["generate"], job)
            with open_batches(spec, folder, stop) as engine:
                asking = partial(work, engine=budget.engine(engine, spec.model, "generate", job))
                self._job("generate", job, len(prompts) * self.workspace.sampling.n, _ordered(asking, job, prompts))

        side_by_side([partial(sample, job, prompts) for job, prompts in jobs], batches_at_once(spec), stop)

    def _recover(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            recover(self.workspace.run, job, [RESPONSES])

    def _job(self, stage: str, job: Job, total: int, work: Work) -> None:
        self.do(f"{stage} {job}", job, total, work)


def _ordered(generate: Callable[..., Outcome], job: Job, prompts: Sequence[Prompt]) -> Work:
    return lambda progress: generate(job, prompts, progress=progress)


def measure_run(run: RunFolder, selection: str = MAIN) -> None:
    """Computes the intervals of all metrics over what a run's store holds."""
    from polyculture.metrics.measure import measure

    with watch("measure", 0) as progress:
        outcome = measure(run, progress, selection)
    say(f"measure: {outcome.done} numbers with their intervals, {outcome.reused} of them before")


def report_run(run: RunFolder, catalog: Catalog) -> Path:
    """Writes a run's report from what its store holds."""
    from polyculture.reports.report import write_report
    from polyculture.running.layout import store_layout

    return write_report(run, catalog, store_layout())
