"""`polyculture run --ray`: generate and extract on a cluster; steps over all jobs run here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from polyculture.cache.run_folder import Job
from polyculture.cache.worker import Work
from polyculture.cluster.connection import connected
from polyculture.cluster.replica import Order
from polyculture.cluster.replica_pool import Need, ReplicaPool
from polyculture.console import say
from polyculture.generate.engines import ModelSpec, find_kind, read_options
from polyculture.instruments.contract import Study
from polyculture.running.pipeline import Pipeline
from polyculture.running.provenance import add_model_versions
from polyculture.running.studies import Question, Share


def run_on_cluster(
    pipeline: Pipeline,
    jobs: Sequence[Job],
    questions: Sequence[Question],
    share: Share,
    address: str,
    *,
    gpus: float | None = None,
    replicas: int | None = None,
) -> list[Study]:
    """Samples and extracts these jobs, and runs the instruments' queries, on the cluster at `address`.

    It shares the run's folder with this machine. Returns what follows from the instruments' answers.

    `pipeline` records missing work and reserved jobs, like a run on this machine. Raises the fault that
    ends the run, with its exit code.
    """
    with connected(address) as ray:
        say(f"cluster: {_inventory(ray)}")
        pools = [
            ReplicaPool(ray, pipeline, _orders(pipeline, "generate", mine), _need(pipeline, model, gpus, replicas))
            for model, mine in _by_model(jobs)
        ]
        _work(pools)
        left = [job for job in jobs if job not in pipeline.held]
        need = _need(pipeline, pipeline.extraction.name, gpus, replicas)
        _work([ReplicaPool(ray, pipeline, _orders(pipeline, "extract", left), need)])
        studies = [_ask(ray, pipeline, asked, share, gpus, replicas) for asked in questions]
    pipeline.manifest = add_model_versions(pipeline.workspace, pipeline.manifest)
    return studies


def _ask(
    ray: Any, pipeline: Pipeline, asked: Question, share: Share, gpus: float | None, replicas: int | None
) -> Study:
    """Asks a question on the cluster; a step that takes all jobs in one pass is done here."""
    study = asked.study()
    asked.make_valid(study)
    for step in study.steps:
        pipeline.recover(step, share(list(step.works())))  # one step may read what another keeps
    for step in study.steps:
        works = share(list(step.works()))
        if step.span == "all":
            pipeline.run_step(step, works)
            continue
        stage, by_models = asked.stage(step), sorted(works, key=_models)
        _work(
            [
                ReplicaPool(
                    ray,
                    pipeline,
                    _orders(pipeline, stage, [work.job for work in group]),
                    _need(pipeline, models[0] if models else "", gpus, replicas),
                )
                for models, group in groupby(by_models, key=_models)
            ]
        )
    return study


def _models(work: Work[Any]) -> tuple[str, ...]:
    return tuple(work.models.values())


def _work(pools: Sequence[ReplicaPool]) -> None:
    """Runs all pools concurrently: a finished pool frees its place in the cluster for the others."""
    try:
        while [pool for pool in pools if pool.step()]:
            pass
    finally:
        for pool in pools:
            pool.dismiss()


def _orders(pipeline: Pipeline, stage: str, jobs: Sequence[Job]) -> list[Order]:
    workspace = pipeline.workspace
    file, runs = workspace.file.resolve(), workspace.run.root.resolve().parent
    return [Order(file, runs, stage, job) for job in jobs]


def _by_model(jobs: Sequence[Job]) -> list[tuple[str, list[Job]]]:
    ordered = sorted(jobs, key=lambda job: job.model)
    return [(model, list(mine)) for model, mine in groupby(ordered, key=lambda job: job.model)]


def _need(pipeline: Pipeline, model: str, gpus: float | None, replicas: int | None) -> Need:
    """The cluster resources of a replica of a model, or of the gazetteer."""
    if ":" not in model:
        return Need(0, replicas)
    return Need(_gpus(pipeline.workspace.experiment.model_spec(model)) if gpus is None else gpus, replicas)


def _gpus(spec: ModelSpec) -> float:
    kind = find_kind(spec)
    return kind.gpus(read_options(kind.options, spec))


def _inventory(ray: Any) -> str:
    nodes = sum(node["Alive"] for node in ray.nodes())
    resources = ray.cluster_resources()
    return f"{nodes} nodes, {resources.get('CPU', 0):g} CPUs, {resources.get('GPU', 0):g} GPUs"
