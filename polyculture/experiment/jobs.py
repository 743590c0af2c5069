"""Which jobs and models of an experiment a command asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from polyculture.cache.errors import ExperimentError
from polyculture.cache.store.run_folder import Job
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.experiment.workspace import Workspace

One = TypeVar("One")
COLUMNS = ("model", "language", "topic")  # of jobs


@dataclass(frozen=True, slots=True)
class JobSelection:
    """Which jobs are done: all, those of a model, language or topic, or the K-th of N shares ('K/N')."""

    job: str | None = None
    model: str | None = None
    language: str | None = None
    topic: str | None = None

    def share(self, every: Sequence[One], job_of: Callable[[One], Job]) -> list[One]:
        """Of jobs, or of works with a job each, those that are done."""
        columns = {key: value for key in COLUMNS if (value := getattr(self, key)) is not None}
        chosen = [one for one in every if all(getattr(job_of(one), key) == value for key, value in columns.items())]
        return chosen if self.job is None else take_share(chosen, self.job)


def choose_jobs(jobs: Sequence[Job], part: JobSelection, file: Path) -> tuple[JobSelection, list[Job]]:
    """The part in the spelling of an experiment's jobs, and those that are in it.

    Raises `ExperimentError` for a value that no job has.
    """
    for key in COLUMNS:
        value, known = getattr(part, key), {getattr(job, key) for job in jobs}
        if value is None or value in known:
            continue
        alike = [one for one in known if one.casefold() == value.casefold()]
        if len(alike) != 1:
            what = f"the experiment has no {key} {value!r}"
            raise ExperimentError(what, where=file, remedy=did_you_mean(value, known))
        part = replace(part, **{key: alike[0]})
    return part, part.share(jobs, lambda job: job)


def choose_models(workspace: Workspace, model: str | None) -> list[str]:
    """The experiment's models, or the one that the command line names. Raises `ExperimentError` for an unknown one."""
    models = list(workspace.experiment.models)
    if model is not None and model not in models:
        what = f"the experiment has no model {model!r}"
        raise ExperimentError(what, where=workspace.file, remedy=did_you_mean(model, models))
    return models if model is None else [model]


def take_share(jobs: list[One], share: str) -> list[One]:
    """Every N-th job from the K-th on, for a share written K/N. Raises `ExperimentError` for an invalid share."""
    k, slash, n = share.partition("/")
    if not (slash and k.isdecimal() and n.isdecimal() and 1 <= int(k) <= int(n)):
        raise ExperimentError(f"--job {share!r} is not K/N with 1 <= K <= N", remedy="Write, for example, --job 3/16.")
    return jobs[int(k) - 1 :: int(n)]
