"""`polyculture run --ray`: a cluster asks the models; what takes all jobs in one pass is done here."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Self

from polyculture.cache.log import get_logger
from polyculture.cluster.connection import connected
from polyculture.cluster.replica import JobOrder, Terminal
from polyculture.cluster.replica_pool import Need, ReplicaPool
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import ModelSpec, find_kind, read_options
from polyculture.running.executor import AskedWork, ThisProcess
from polyculture.running.outcome import RunOutcome
from polyculture.running.steps import StepRunner

_log = get_logger(__name__)
LAST_LINES_WITHIN = 30.0  # seconds


@dataclass
class RayCluster:
    """The executor of `run --ray`: the cluster at `address`, which shares the run's folder with this machine.

    A replica of a model takes `gpus` (without: what its engine needs), and a model has at most so many `replicas`.
    """

    address: str
    gpus: float | None = None
    replicas: int | None = None
    _open: ExitStack = field(default_factory=ExitStack)
    _ray: Any = None

    def __enter__(self) -> Self:
        """Connects. Raises `UserError` where nobody answers at the address."""
        self._ray = self._open.enter_context(connected(self.address))
        _log.info(f"cluster: {_inventory(self._ray)}")
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, runner: StepRunner, works: Sequence[AskedWork]) -> RunOutcome:
        """As an executor does: all models concurrently, and a finished one frees its place."""
        together = [one for one in works if one.step.span == "all"]
        apart = sorted((one for one in works if one.step.span != "all"), key=lambda one: one.models)
        outcome = ThisProcess().run(runner, together)
        terminal = Terminal(self._ray)
        groups = groupby(apart, key=lambda one: one.models)
        pools = [self._pool(runner, models, list(mine), terminal) for models, mine in groups]
        try:
            while [pool for pool in pools if pool.step()]:
                terminal.show()
        finally:
            terminal.show(LAST_LINES_WITHIN)
            for pool in pools:
                pool.dismiss()
        return sum((pool.outcome for pool in pools), outcome)

    def _pool(
        self, runner: StepRunner, models: tuple[str, ...], works: Sequence[AskedWork], terminal: Terminal
    ) -> ReplicaPool:
        workspace, retry = runner.workspace, None if runner.retry is None else runner.retry.reason
        file, runs = workspace.file.resolve(), workspace.run.root.resolve().parent
        before = runner.rules.before(runner.loaded_as(models))
        orders = [JobOrder(file, runs, one.stage, one.work.job, retry, before) for one in works]
        return ReplicaPool(self._ray, orders, self._need(workspace, models), terminal.lines)

    def _need(self, workspace: Workspace, models: Sequence[str]) -> Need:
        """The cluster resources of a replica of models; a step without a model asks nothing of a GPU."""
        if not models:
            return Need(0, self.replicas)
        gpus = [_gpus(workspace.experiment.model_spec(model)) for model in models]
        return Need(max(gpus) if self.gpus is None else self.gpus, self.replicas)


def _gpus(spec: ModelSpec) -> float:
    kind = find_kind(spec)
    return kind.gpus(read_options(kind.options, spec))


def _inventory(ray: Any) -> str:
    nodes = sum(node["Alive"] for node in ray.nodes())
    resources = ray.cluster_resources()
    return f"{nodes} nodes, {resources.get('CPU', 0):g} CPUs, {resources.get('GPU', 0):g} GPUs"
