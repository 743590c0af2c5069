"""A cluster worker: one loaded model or extractor, which runs its jobs one after the other, and its lines.

Ray copies the output of its processes, too, but prints it twice where two nodes share a machine, and drops what comes
last. Here every line arrives once at the terminal of whoever started the run, before the job that it is of is done.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polyculture.cache.errors import PolycultureError, StoreError
from polyculture.cache.log import get_logger, handled_by
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.run_folder import Job
from polyculture.cache.work.faults import RetryFailed
from polyculture.cache.work.stop_rule import StoppedStage, StopRules
from polyculture.console import say
from polyculture.experiment.workspace import Workspace
from polyculture.running.call_list import calls_of_run
from polyculture.running.executor import AskedWork
from polyculture.running.models import LoadedModels
from polyculture.running.opening import open_workspace
from polyculture.running.outcome import RunOutcome
from polyculture.running.steps import StepRunner


@dataclass(frozen=True, slots=True)
class JobOrder:
    """A job in a stage: all the information that a replica on another machine needs."""

    file: Path  # the experiment file and the folder of runs, as every machine sees them
    runs: Path
    stage: str  # of a call's step
    job: Job
    retry: str | None = None  # of `--retry-failed`: the reason
    before: StoppedStage | None = None  # another stage of its models, which stopped because of their service


@dataclass(frozen=True, slots=True)
class OrderResult:
    """What came of an order. Faults are text, since not every exception survives the way back."""

    outcome: RunOutcome = field(default_factory=RunOutcome)
    fault: str | None = None  # what ends the whole run, one line
    exit_code: int = 0  # of the fault


class Replica:
    """A process of the cluster. It loads its model for the first job that needs it, and keeps it.

    What it says goes to the actor `lines`.
    """

    def __init__(self, lines: Any) -> None:
        self._open = ExitStack()
        self._open.enter_context(handled_by(_ToTerminal(lines)))
        self._loaded: dict[Path, LoadedModels] = {}  # by the run's folder
        self._rules: dict[Path, StopRules] = {}  # what all answers to this replica tell of each stage

    def ready(self) -> int:
        """The replica has its place in the cluster; the number of its process."""
        return os.getpid()

    def close(self) -> None:
        """Frees the model and other open resources before the process ends."""
        self._open.close()

    def work(self, order: JobOrder) -> OrderResult:
        """Does one job of a stage, as `polyculture run --job` would."""
        try:
            return self._work(order)
        except PolycultureError as fault:
            return OrderResult(fault=str(fault), exit_code=fault.exit_code)

    def _work(self, order: JobOrder) -> OrderResult:
        workspace = open_workspace(order.file, order.runs)
        workspace = workspace.joining(require_run(workspace.run))  # another process has prepared the run
        runner = StepRunner(
            workspace=workspace,
            loaded=self._models(workspace),
            retry=None if order.retry is None else RetryFailed(order.retry),
            is_part=True,
            rules=self._rules.setdefault(workspace.run.root, StopRules()),
        )
        runner.rules.note([] if order.before is None else [order.before])
        found = work_of(workspace, order)
        return OrderResult(runner.run_step(found.step, [found.work], tell_settled=found.call.tell_settled))

    def _models(self, workspace: Workspace) -> LoadedModels:
        """The models of a run, each loaded once; they stay so when an order is done."""
        if workspace.run.root not in self._loaded:
            self._loaded[workspace.run.root] = self._open.enter_context(LoadedModels(workspace))
        return self._loaded[workspace.run.root]


def work_of(workspace: Workspace, order: JobOrder) -> AskedWork:
    """The work of an order, among all that the run asks. Raises `StoreError` if nothing of it does."""
    for call in calls_of_run(workspace):
        for step, work in call.works():
            if call.stage(step) == order.stage and work.job == order.job:
                return AskedWork(call, step, work)
    raise StoreError(f"nothing asks for {order.stage} {order.job}", where=workspace.run.root)


_MOMENT = 0.1  # seconds
LogLine = tuple[str, int, str]  # a record of the log: its logger, its level, what it says


class LogLines:
    """An actor of Ray's that holds lines until they are taken."""

    def __init__(self) -> None:
        self._held: list[LogLine] = []

    def put(self, line: LogLine) -> None:
        self._held.append(line)

    def take(self) -> list[LogLine]:
        held, self._held = self._held, []
        return held


class Terminal:
    """Logs the lines of all replicas on this machine."""

    def __init__(self, ray: Any) -> None:
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=True
        )
        self._ray = ray
        self.lines: Any = ray.remote(num_cpus=0, scheduling_strategy=here)(LogLines).remote()
        self._coming: Any = None  # the future of what has come since the last time

    def show(self, seconds: float = 0.0) -> None:
        """Logs what has come since the last time; nothing where the actor was lost with its machine.

        The actor is asked without waiting for it, since a busy machine starts it late; or for so many seconds.
        """
        end = time.monotonic() + seconds
        while True:
            self._coming = self._coming or self.lines.take.remote()
            done, _ = self._ray.wait([self._coming], timeout=max(end - time.monotonic(), _MOMENT))
            if not done:
                return
            try:
                lines: list[LogLine] = self._ray.get(self._coming)
            except self._ray.exceptions.RayError:
                lines = []
            self._coming = None
            for name, level, line in lines:
                get_logger(name).log(level, line)
            if not lines:
                return


class _ToTerminal(logging.Handler):
    """Sends the lines of this process to the actor `lines`, as long as it lives; after that to standard error."""

    def __init__(self, lines: Any) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        import ray

        line = self.format(record)
        try:
            ray.get(self._lines.put.remote((record.name, record.levelno, line)))
        except ray.exceptions.RayError:
            say(line)
