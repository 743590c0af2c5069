"""The stage that samples: prompts in, responses in the store out, one job at a time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import groupby
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import RESPONSES, Prompt
from polyculture.cache.shards import JobShards
from polyculture.generate.detection import Detection, detect
from polyculture.generate.engines import open_engine
from polyculture.generate.engines.base import Completion, Engine, ModelSpec, Request
from polyculture.generate.pending_samples import Sample, answers_elsewhere, missing_samples, take_stock
from polyculture.generate.sampling import Sampling, chat, response_id

__all__ = ["generate_job", "missing_samples"]

REPORT_EVERY = 0.25  # seconds between two reports of progress


def generate_job(
    run: RunFolder,
    job: Job,
    prompts: Sequence[Prompt],
    spec: ModelSpec,
    sampling: Sampling,
    progress: Progress = silent,
    engine: Engine | None = None,
    *,
    catalog: Catalog,
) -> Outcome:
    """Samples what is missing of a job, and says what has become of all of it.

    Answers that are in the store stay, those of runs beside this one are taken over, failures that may pass are asked
    again. Every answer is on disk before the next one is taken, so that a job can be left at any moment and resumed.
    `engine` is an opened one, which several jobs of a model share; without it one is opened for this job.

    Raises `JobHeldError` where another process holds the job, and what the engine and the store raise.
    """
    with JobShards(run, job, [RESPONSES]) as shards:
        stock = take_stock(shards, prompts, sampling)
        shards.retire(stock.again)
        adopted = answers_elsewhere(run, job, stock.missing)
        if adopted.num_rows:
            shards.append_part({"responses": adopted})
        taken = set(adopted["response_id"].to_pylist())
        missing = [sample for sample in stock.missing if sample.response_id not in taken]
        outcome = Outcome(stock.done + len(taken), stock.failed, reused=stock.done + len(taken))
        report = _now_and_then(progress)
        report(outcome)
        if missing:
            cells = {sample.prompt.prompt_id: sample.prompt for sample in missing}
            # The detector loads its models at its first text: before an answer has to wait for it unwritten.
            detect(missing[0].prompt.text, catalog.language(job.language), catalog)
            with open_engine(spec) if engine is None else nullcontext(engine) as opened:
                for completion in opened.sample(_requests(missing, sampling)):
                    row = _row(completion, cells[completion.request_id], job, sampling, catalog)
                    shards.append({"responses": [row]})
                    outcome += Outcome(0, 1) if completion.text is None else Outcome(1, 0)
                    report(outcome)
    progress(outcome)
    return outcome


def _requests(missing: Sequence[Sample], sampling: Sampling) -> Iterator[Request]:
    """A request per gap, i.e. per run of consecutive samples of a prompt, made when it is taken."""
    numbered = enumerate(missing)
    for _, gap in groupby(numbered, key=lambda pair: (pair[1].prompt.prompt_id, pair[1].number - pair[0])):
        samples = [sample for _, sample in gap]
        prompt = samples[0].prompt
        base = sampling.base_seed(prompt.text)
        seeds = tuple(base + sample.number for sample in samples)
        yield Request(prompt.prompt_id, chat(prompt.text), sampling.decoding, seeds)


def _row(completion: Completion, prompt: Prompt, job: Job, sampling: Sampling, catalog: Catalog) -> dict[str, Any]:
    """The row of `responses` that an answer becomes."""
    text, sampling_id = completion.text, sampling.sampling_id
    number = completion.seed - sampling.base_seed(prompt.text)
    found = Detection(None, None, None, None) if text is None else detect(text, catalog.language(job.language), catalog)
    return {
        "response_id": response_id(job.model, prompt.text, sampling_id, number),
        "prompt_id": prompt.prompt_id,
        "sampling_id": sampling_id,
        "model": job.model,
        "language": job.language,
        "topic": job.topic,
        "condition": prompt.condition,
        "country": prompt.country,
        "sample": number,
        "seed": completion.seed,
        "status": "failed" if text is None else "ok",
        "text": text,
        "error": completion.error,
        "retryable": completion.retryable if text is None else None,
        "finish_reason": completion.finish_reason,
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "detected_language": found.language,
        "language_confidence": found.confidence,
        "script": found.script,
        "script_share": found.script_share,
        "model_version": completion.model_version,
        "purchase": completion.purchase,
    }


def _now_and_then(progress: Progress) -> Callable[[Outcome], None]:
    """`progress`, called at once and then a few times a second at most."""
    last = -math.inf

    def report(outcome: Outcome) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= REPORT_EVERY:
            last = now
            progress(outcome)

    return report
