"""Jobs whose answers a provider gives in batches, within a day: they wait side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import BudgetError, EngineError, ExperimentError
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.console import say
from polyculture.generate.engines import ModelSpec, Sampling, find_kind, read_options

if TYPE_CHECKING:
    from polyculture.generate.engines.kind import Batching

# Where the batches' ids stand in the run's folder, by stage.
BATCHES: Mapping[str, str] = {"generate": "batches/generate", "extract": "batches/extract"}


def asked_in_batches(spec: ModelSpec) -> bool:
    """Does the experiment file say so of this model?"""
    found = _batching(spec)
    return found is not None and found[0].wanted(found[1])


def check_nothing_waits(run: RunFolder, stage: str, job: Job) -> None:
    """Raises `ExperimentError` where a batch of a stage's work on a job is at the provider: asked directly, too, its
    answers would be bought twice."""
    from polyculture.generate.engines.batch_records import waiting

    folder = run.shards(BATCHES[stage], job)
    count = sum(len(record.ids) for record in waiting(folder))
    if count:
        raise ExperimentError(
            f"{count} requests of {stage} {job} wait in batches at the provider and would be paid twice",
            remedy=f"Write batch = true again, to take their answers in; or delete {folder}, to give them up.",
        )


def batches_at_once(spec: ModelSpec) -> int:
    """How many jobs may have batches at the provider at the same time; 1 where the model is not asked in batches."""
    found = _batching(spec)
    return found[0].at_once(found[1]) if found is not None and found[0].wanted(found[1]) else 1


def open_batches(spec: ModelSpec, folder: Path, stop: Event) -> Sampling:
    """The model asked in batches for one stage of one job, to be entered with `with`. `folder` keeps their ids.

    Raises `EngineError` where the model's engine has no batches.
    """
    found = _batching(spec)
    if found is None:
        raise EngineError("cannot be asked in batches", where=spec.model, remedy="Remove batch = true.")
    return found[0].open(spec, folder, stop, say)


def _batching(spec: ModelSpec) -> tuple[Batching[Any], Any] | None:
    """How a model's engine is asked in batches, and the model's options; None where the engine has none."""
    kind = find_kind(spec)
    return None if kind.batching is None else (kind.batching, read_options(kind.options, spec))


def side_by_side(tasks: Sequence[Callable[[], None]], at_once: int, stop: Event) -> None:
    """Runs the tasks in threads. What one raises calls the others off by `stop`, and is raised when they have ended.

    A task that reached `max_cost` calls nobody off: what the others wait for is paid.
    """
    with ThreadPoolExecutor(at_once) as pool:
        futures = [pool.submit(task) for task in tasks]
        try:
            for future in as_completed(futures):
                if (error := future.exception()) and not isinstance(error, BudgetError):
                    raise error
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for future in futures:
        future.result()


def waiting_line(run: RunFolder) -> str | None:
    """What waits at providers, in one line; None where nothing does."""
    from polyculture.generate.engines.batch_records import waiting

    records = list(waiting(run.root / "batches"))
    if not records:
        return None
    count = sum(len(record.ids) for record in records)
    batches, wait = ("1 batch", "waits") if len(records) == 1 else (f"{len(records)} batches", "wait")
    return f"{batches} with {count} requests {wait} at the provider; the next run takes their answers in"
