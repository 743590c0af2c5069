"""`polyculture run --ray`: generate and extract on a cluster; steps over all jobs run here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from polyculture.cache.log import get_logger
from polyculture.cache.store.run_folder import Job
from polyculture.cache.work.worker import models_of
from polyculture.cluster.connection import connected
from polyculture.cluster.replica import Order, Terminal
from polyculture.cluster.replica_pool import Need, ReplicaPool
from polyculture.generate.engines import ModelSpec, find_kind, read_options
from polyculture.instruments.contract import Study
from polyculture.running.instrument_calls import InstrumentCall
from polyculture.running.pipeline import Pipeline, add_model_versions
from polyculture.running.studies import Share

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RayCluster:
    """The executor of `run --ray`: the cluster at `address`, which shares the run's folder with this machine.

    A replica of a model takes `gpus` (without: what its engine needs), and a model has at most so many `replicas`.
    """

    address: str
    gpus: float | None = None
    replicas: int | None = None

    def work(
        self, pipeline: Pipeline, jobs: Sequence[Job], calls: Sequence[InstrumentCall], share: Share
    ) -> list[Study]:
        """As an executor does (`running/executor.py`). Raises `UserError` where nobody answers at the address."""
        with connected(self.address) as ray:
            _log.info(f"cluster: {_inventory(ray)}")
            cluster = _Cluster(ray, pipeline, Terminal(ray), self.gpus, self.replicas)
            cluster.work("generate", _by_model(jobs))
            pipeline.go_on_with("responses")
            left = [job for job in jobs if job not in pipeline.held]
            cluster.work("extract", [(pipeline.extraction.name, left)])
            pipeline.go_on_with("extractions")
            studies = [_ask(cluster, asked, share) for asked in calls]
        pipeline.manifest = add_model_versions(pipeline.workspace, pipeline.manifest)
        return studies


@dataclass(frozen=True, slots=True)
class _Cluster:
    """A connected cluster, the run that it works on, and what a replica may take of it."""

    ray: Any
    pipeline: Pipeline
    terminal: Terminal
    gpus: float | None
    replicas: int | None

    def work(self, stage: str, jobs: Iterable[tuple[str, Sequence[Job]]]) -> None:
        """Does a stage's jobs, model by model, all models concurrently: a finished one frees its place."""
        pools = [self._pool(stage, model, mine) for model, mine in jobs]
        try:
            while [pool for pool in pools if pool.step()]:
                self.terminal.show()
        finally:
            self.terminal.show()
            for pool in pools:
                pool.dismiss()

    def _pool(self, stage: str, model: str, jobs: Sequence[Job]) -> ReplicaPool:
        workspace = self.pipeline.workspace
        file, runs = workspace.file.resolve(), workspace.run.root.resolve().parent
        retry = None if self.pipeline.retry is None else self.pipeline.retry.reason
        orders = [Order(file, runs, stage, job, retry) for job in jobs]
        return ReplicaPool(self.ray, self.pipeline, orders, self._need(model), self.terminal.lines)

    def _need(self, model: str) -> Need:
        """The cluster resources of a replica of a model, or of the gazetteer."""
        if ":" not in model:
            return Need(0, self.replicas)
        spec = self.pipeline.workspace.experiment.model_spec(model)
        return Need(_gpus(spec) if self.gpus is None else self.gpus, self.replicas)


def _ask(cluster: _Cluster, asked: InstrumentCall, share: Share) -> Study:
    """Asks a question on the cluster; a step that takes all jobs in one pass is done here."""
    pipeline, study = cluster.pipeline, asked.study()
    asked.make_valid(study)
    for step in study.steps:
        pipeline.recover(step, share(list(step.works())))  # one step may read what another keeps
    for step in study.steps:
        works = share(list(step.works()))
        if step.span == "all":
            pipeline.run_step(step, works)
            continue
        groups = groupby(sorted(works, key=models_of), key=models_of)
        jobs = [(models[0] if models else "", [work.job for work in group]) for models, group in groups]
        cluster.work(asked.stage(step), jobs)
    return study


def _by_model(jobs: Sequence[Job]) -> list[tuple[str, list[Job]]]:
    ordered = sorted(jobs, key=lambda job: job.model)
    return [(model, list(mine)) for model, mine in groupby(ordered, key=lambda job: job.model)]


def _gpus(spec: ModelSpec) -> float:
    kind = find_kind(spec)
    return kind.gpus(read_options(kind.options, spec))


def _inventory(ray: Any) -> str:
    nodes = sum(node["Alive"] for node in ray.nodes())
    resources = ray.cluster_resources()
    return f"{nodes} nodes, {resources.get('CPU', 0):g} CPUs, {resources.get('GPU', 0):g} GPUs"
