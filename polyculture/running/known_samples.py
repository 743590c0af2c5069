"""How many samples are left, in a time that hangs on what is stored, not on how many are asked for."""

from __future__ import annotations

from dataclasses import replace

from polyculture.cache.answers import sibling_parts
from polyculture.cache.faults import RetryFailed
from polyculture.cache.parquet import largest
from polyculture.cache.run_folder import Job
from polyculture.cache.schema import RESPONSES
from polyculture.cache.shards import JobShards, part_files, value_of
from polyculture.cache.worker import left
from polyculture.experiment.workspace import Workspace
from polyculture.generate.step import SamplingStep


def known_step(workspace: Workspace, job: Job) -> SamplingStep:
    """Samples a job as far as this run or one beside it holds any: no later sample is done or can be taken over."""
    sampling = workspace.sampling
    return workspace.sampling_step([job], replace(sampling, n=min(sampling.n, _known(workspace, job))))


def samples_left(workspace: Workspace, job: Job, retry: RetryFailed | None = None) -> int:
    """The samples of a job that would be asked now. Final failures that `retry` names are asked again."""
    step = known_step(workspace, job)
    (work,) = step.works()
    whole = len(workspace.prompts_of(job)) * workspace.sampling.n
    return whole - work.size + left(workspace.run, step, work, retry)


def _known(workspace: Workspace, job: Job) -> int:
    """One more than the highest number of a stored sample of a job; 0 where there is none."""
    run, column = workspace.run, "sample"
    own = part_files(run.shards(RESPONSES.name, job))
    parts = [*own, *(part for _, part in sibling_parts(run, job, RESPONSES))]
    journal = JobShards(run, job, [RESPONSES]).read_journal()
    waiting = (int(value_of(row, column)) for record in journal for row in record.get(RESPONSES.name, ()))
    return 1 + max([*(largest(part, column) for part in parts), *waiting], default=-1)
