"""What of a job is there already, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from polyculture.cache.answers import find_answers
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import RESPONSES, Prompt
from polyculture.cache.shards import JobShards
from polyculture.generate.sampling import Sampling, response_id

# What became of a sample: 'again' is a failure that may pass, 'failed' one that asking again would not mend.
State = Literal["ok", "failed", "again"]
_COLUMNS = ("response_id", "status", "retryable")
_KEYS = pa.schema([(name, pa.string()) for name in ("response_id", "prompt_id", "condition", "country")])


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of a prompt, and the key of its answer."""

    response_id: str
    prompt: Prompt
    number: int


@dataclass(frozen=True, slots=True)
class Stock:
    """A job's samples, by what became of them."""

    missing: list[Sample]  # those that are asked again included
    done: int
    failed: int
    again: set[str]


def take_stock(shards: JobShards, prompts: Sequence[Prompt], sampling: Sampling) -> Stock:
    """The stock of a job: its parts, and a journal that a killed process left or that another one writes now."""
    states = _states(shards)
    counts: Counter[State | None] = Counter()
    missing, again = [], set()
    for sample in wanted_samples(shards.job, prompts, sampling):
        state = states.get(sample.response_id)
        counts[state] += 1
        if state not in ("ok", "failed"):
            missing.append(sample)
        if state == "again":
            again.add(sample.response_id)
    return Stock(missing, counts["ok"], counts["failed"], again)


def wanted_samples(job: Job, prompts: Sequence[Prompt], sampling: Sampling) -> Iterator[Sample]:
    """All samples of a job, prompt by prompt; prompts of other jobs are passed over."""
    sampling_id = sampling.sampling_id
    for prompt in prompts:
        if (prompt.language, prompt.topic) == (job.language, job.topic):
            for number in range(sampling.n):
                yield Sample(response_id(job.model, prompt.text, sampling_id, number), prompt, number)


def answers_elsewhere(run: RunFolder, job: Job, missing: Sequence[Sample]) -> pa.Table:
    """The rows of `responses` that runs beside this one hold for samples that are missing here."""
    columns = (
        [sample.response_id for sample in missing],
        [sample.prompt.prompt_id for sample in missing],
        [sample.prompt.condition for sample in missing],
        [sample.prompt.country for sample in missing],
    )
    wanted = pa.table([pa.array(column, pa.string()) for column in columns], schema=_KEYS)
    return find_answers(run, job, wanted)


def missing_samples(run: RunFolder, job: Job, prompts: Sequence[Prompt], sampling: Sampling) -> int:
    """How many samples of a job `generate_job` would ask a model for. Takes no lock and changes nothing."""
    missing = take_stock(JobShards(run, job, [RESPONSES]), prompts, sampling).missing
    return len(missing) - answers_elsewhere(run, job, missing).num_rows


def _states(shards: JobShards) -> Mapping[str, State]:
    parts = shards.read("responses", _COLUMNS)
    rows = zip(*(parts[name].to_pylist() for name in _COLUMNS), strict=True)
    states = {key: _state(status, retryable) for key, status, retryable in rows}
    for record in shards.read_journal():
        states.update((row["response_id"], _state(row["status"], row["retryable"])) for row in record["responses"])
    return states


def _state(status: str, retryable: bool | None) -> State:
    if status == "ok":
        return "ok"
    return "failed" if retryable is False else "again"
