"""Jobs whose answers a provider gives in batches, within a day: they wait side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from polyculture.cache.errors import BudgetError, ExperimentError
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.console import say
from polyculture.generate.engines import ModelSpec

if TYPE_CHECKING:
    from polyculture.generate.engines.openai.batches import BatchEngine

# Where the batches' ids stand in the run's folder, by stage.
BATCHES: Mapping[str, str] = {"generate": "batches/generate", "extract": "batches/extract"}


def asked_in_batches(spec: ModelSpec) -> bool:
    """Does the experiment file say so of this model?"""
    return spec.engine == "openai" and bool(spec.options.get("batch"))


def check_nothing_waits(run: RunFolder, stage: str, job: Job) -> None:
    """Raises `ExperimentError` where a batch of a stage's work on a job is at the provider: asked directly, too, its
    answers would be bought twice."""
    from polyculture.generate.engines.openai.batch_records import waiting

    folder = run.shards(BATCHES[stage], job)
    count = sum(len(record.ids) for record in waiting(folder))
    if count:
        raise ExperimentError(
            f"{count} requests of {stage} {job} wait in batches at the provider and would be paid twice",
            remedy=f"Write batch = true again, to take their answers in; or delete {folder}, to give them up.",
        )


def batches_at_once(spec: ModelSpec) -> int:
    """How many jobs may have batches at the provider at the same time."""
    from polyculture.generate.engines.options import OpenAIOptions, read_options

    return read_options(OpenAIOptions, spec).batches_at_once


def open_batches(spec: ModelSpec, folder: Path, stop: Event) -> BatchEngine:
    """The model's engine for one stage of one job, to be entered with `with`."""
    from polyculture.generate.engines.openai.batches import BatchEngine

    return BatchEngine(spec, folder, stop, say)


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
    from polyculture.generate.engines.openai.batch_records import waiting

    records = list(waiting(run.root / "batches"))
    if not records:
        return None
    count = sum(len(record.ids) for record in records)
    batches, wait = ("1 batch", "waits") if len(records) == 1 else (f"{len(records)} batches", "wait")
    return f"{batches} with {count} requests {wait} at the provider; the next run takes their answers in"
