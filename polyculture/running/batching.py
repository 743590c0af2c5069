"""Jobs in a provider's batches, which take up to a day: they wait concurrently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from polyculture.cache.errors import BudgetError, EngineError, ExperimentError
from polyculture.cache.store.manifest import setup_id
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.generate.engines import ModelSpec, Sampling, find_kind, read_options
from polyculture.generate.engines.batch_records import BatchRecords, waiting

if TYPE_CHECKING:
    from polyculture.cache.work.worker import Step
    from polyculture.experiment.workspace import Workspace
    from polyculture.generate.engines.kind import Batching


BATCHES = "batches"  # the folder of their ids in the run's folder
R = TypeVar("R")


def asked_in_batches(spec: ModelSpec) -> bool:
    """Whether the experiment file selects batches for this model."""
    found = _batching(spec)
    return found is not None and found[0].wanted(found[1])


def in_batches(step: Step[Any, Any], spec: ModelSpec) -> bool:
    """Whether a step's requests to a model are sent in batches: most steps ask directly."""
    return step.in_batches and asked_in_batches(spec)


def batch_folder(workspace: Workspace, step: Step[Any, Any], job: Job, model: str) -> Path:
    """Where the ids of a job's batches are kept: those of another setup of the model wait at another provider."""
    setup = workspace.present.setups[f"{step.use} {model}"]
    return workspace.run.shards(f"{BATCHES}/{step.name}", job) / f"setup={setup_id(setup)}"


def check_nothing_waits(folder: Path, stage: str, job: Job) -> None:
    """Raises `ExperimentError` where the provider holds a batch of this stage and job: asked directly, its answers
    would be paid twice."""
    count = sum(len(record.ids) for record in BatchRecords(folder).waiting())
    if count:
        raise ExperimentError(
            f"{count} requests of {stage} {job} wait in batches at the provider and would be paid twice",
            remedy=f"Write batch = true again to receive their answers, or delete {folder} to discard them.",
        )


def batches_at_once(spec: ModelSpec) -> int:
    """The maximum number of jobs with concurrent batches at the provider; 1 without batches."""
    found = _batching(spec)
    return found[0].at_once(found[1]) if found is not None and found[0].wanted(found[1]) else 1


def open_batches(spec: ModelSpec, folder: Path, stop: Event) -> Sampling:
    """A context manager: the model in batch mode for one stage of one job. `folder` keeps the batches' ids.

    Raises `EngineError` where the model's engine has no batches.
    """
    found = _batching(spec)
    if found is None:
        raise EngineError("cannot be asked in batches", where=spec.model, remedy="Remove batch = true.")
    return found[0].open(spec, folder, stop)


def _batching(spec: ModelSpec) -> tuple[Batching[Any], Any] | None:
    """The batch interface of a model's engine, and the model's options; None if the engine has no batches."""
    kind = find_kind(spec)
    return None if kind.batching is None else (kind.batching, read_options(kind.options, spec))


def side_by_side(tasks: Sequence[Callable[[], R]], at_once: int, stop: Event) -> Iterator[R]:
    """Runs the tasks in threads, and yields their results. An exception in one stops the others, and is raised then.

    Reaching `max_cost` does not stop the others: the answers they wait for are paid.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed  # here: `status` needs none

    reached: BudgetError | None = None
    with ThreadPoolExecutor(at_once) as pool:
        futures = [pool.submit(task) for task in tasks]
        try:
            for future in as_completed(futures):
                error = future.exception()
                if error is None:
                    yield future.result()
                elif isinstance(error, BudgetError):
                    reached = reached or error
                else:
                    raise error
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if reached is not None:
        raise reached


def waiting_line(run: RunFolder) -> str | None:
    """A line about batches that wait at providers; None where there are none."""
    if not (run.root / BATCHES).exists():  # the records load pydantic's model of them
        return None

    records = list(waiting(run.root / BATCHES))
    if not records:
        return None
    count = sum(len(record.ids) for record in records)
    batches, wait = ("1 batch", "waits") if len(records) == 1 else (f"{len(records)} batches", "wait")
    return f"{batches} with {count} requests {wait} at the provider; the next run receives their answers"
