"""The stage that scores: contexts and entities in, log-probabilities in the store out, one job at a time.

A job is a model, a language, and one type of one native culture of a data set. Its unit of work is one entity in one
context: what is in the store stays, what is missing is asked, so that a run over a few entities is topped up by one
over all of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from cache.identity import content_id
from cache.outcome import Outcome, Progress, silent
from cache.run_folder import Job, RunFolder
from cache.shards import JobShards
from generate.engines import ModelSpec, ScoreRequest, open_engine
from generate.engines.base import Engine, Scored
from metrics.datasets.model import CulturalEntity, DataSet, MaskedContext

TABLE, KEY = "scores", "score_id"
REPORT_EVERY = 0.25  # seconds between two reports of progress


@dataclass(frozen=True)
class ScoringJob:
    """What of a data set one job asks: contexts, and the entities that compete for the gap of each."""

    dataset: DataSet
    job: Job
    asked: Sequence[tuple[MaskedContext, Sequence[CulturalEntity]]]

    @property
    def size(self) -> int:
        return sum(len(entities) for _, entities in self.asked)


@dataclass
class _Stock:
    """What the store holds of a job."""

    done: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)  # failures that may pass, and rows that are not of the data set now


def score_job(
    run: RunFolder, scoring: ScoringJob, spec: ModelSpec, progress: Progress = silent, engine: Engine | None = None
) -> Outcome:
    """Scores what is missing of a job, and says what has become of all that it asks.

    `engine` is an opened one, which several jobs of a model share; without it one is opened for this job. A failure is
    a row with its reason. Raises `JobHeldError` where another process holds the job, and what engine and store raise.
    """
    with JobShards(run, scoring.job, [TABLE], KEY) as shards:
        stock = _take_stock(shards, scoring)
        shards.retire(stock.again)
        missing = list(_missing(scoring, stock))
        ids = [score_id(scoring, context, entity) for context, entities in scoring.asked for entity in entities]
        done, failed = sum(key in stock.done for key in ids), sum(key in stock.failed for key in ids)
        outcome = Outcome(done, failed, reused=done)
        progress(outcome)
        if missing:
            with open_engine(spec) if engine is None else nullcontext(engine) as opened:
                outcome = _score(shards, scoring, missing, opened, outcome, progress)
    progress(outcome)
    return outcome


def is_complete(run: RunFolder, scoring: ScoringJob) -> bool:
    """Whether there is nothing left to ask of a job."""
    with JobShards(run, scoring.job, [TABLE], KEY) as shards:
        return not any(True for _ in _missing(scoring, _take_stock(shards, scoring)))


def _take_stock(shards: JobShards, scoring: ScoringJob) -> _Stock:
    stock = _Stock()
    present = present_ids(scoring)
    asked = {_place(context, entity.entity_id): context for context, entities in scoring.asked for entity in entities}
    columns = [KEY, "context_id", "origin", "help", "entity_id", "status", "retryable"]
    table = shards.read(TABLE, columns)
    rows = zip(*(table[name].to_pylist() for name in columns), strict=True)
    for key, context, origin, help, entity, status, retryable in rows:
        now = asked.get((origin or context, help, entity))
        otherwise = now is not None and now.context_id != context  # the help that is given now is another text
        if retryable or (origin or context) not in present or entity not in present or otherwise:
            stock.again.add(key)
        else:
            (stock.done if status == "ok" else stock.failed).add(key)
    return stock


def _place(context: MaskedContext, entity_id: str) -> tuple[str, str | None, str]:
    """What can have one score at a time: an entity in a plain context, with one kind of help."""
    return context.origin or context.context_id, context.help, entity_id


def present_ids(scoring: ScoringJob) -> set[str]:
    """The ids of all contexts and entities that the data set has for this job's language, chosen or not."""
    dataset, language = scoring.dataset, scoring.job.language
    contexts = {context.context_id for context in dataset.contexts if context.language == language}
    return contexts | {entity.entity_id for entity in dataset.entities if entity.language == language}


def _missing(scoring: ScoringJob, stock: _Stock) -> Iterator[tuple[MaskedContext, list[CulturalEntity]]]:
    known = stock.done | stock.failed
    for context, entities in scoring.asked:
        left = [entity for entity in entities if score_id(scoring, context, entity) not in known]
        if left:
            yield context, left


def _score(
    shards: JobShards,
    scoring: ScoringJob,
    missing: Sequence[tuple[MaskedContext, Sequence[CulturalEntity]]],
    engine: Engine,
    outcome: Outcome,
    progress: Progress,
) -> Outcome:
    asked = {context.context_id: (context, entities) for context, entities in missing}
    last = -math.inf
    for scored in engine.score(_requests(missing)):
        context, entities = asked[scored.request_id]
        shards.append({TABLE: [score_row(scoring, context, entities[scored.index], scored)]})
        outcome += Outcome(0, 1) if scored.error else Outcome(1, 0)
        if time.monotonic() - last >= REPORT_EVERY:
            last = time.monotonic()
            progress(outcome)
    return outcome


def _requests(missing: Sequence[tuple[MaskedContext, Sequence[CulturalEntity]]]) -> Iterator[ScoreRequest]:
    for context, entities in missing:
        surfaces = tuple(entity.surface for entity in entities)
        yield ScoreRequest(context.context_id, context.prefix, surfaces, context.suffix)


def score_id(scoring: ScoringJob, context: MaskedContext, entity: CulturalEntity) -> str:
    return content_id(scoring.job.model, context.context_id, entity.entity_id)


def score_row(scoring: ScoringJob, context: MaskedContext, entity: CulturalEntity, scored: Scored) -> dict[str, Any]:
    """The row of `scores` that a scored continuation becomes."""
    values = [token.log_probability for token in scored.tokens]
    return {
        "score_id": score_id(scoring, context, entity),
        "model": scoring.job.model,
        "dataset": context.dataset,
        "language": context.language,
        "culture": context.culture,
        "entity_type": context.entity_type,
        "setting": context.setting,
        "form": context.form,
        "phrasing": context.phrasing,
        "pair": context.pair,
        "help": context.help,
        "origin": context.origin,
        "original": context.original,
        "context_id": context.context_id,
        "context": context.text,
        "entity_id": entity.entity_id,
        "entity": entity.surface,
        "entity_culture": entity.culture,
        "native": entity.culture == context.culture,
        "english": entity.english,
        "publisher_qid": entity.qid,
        "status": "failed" if scored.error else "ok",
        "error": scored.error,
        "retryable": scored.retryable if scored.error else None,
        "log_probability": scored.total,
        "tokens": len(values) or None,
        "token_log_probabilities": values or None,
        "seam": scored.seam,
        "prompt_tokens": scored.prompt_tokens,
        "completion_tokens": scored.completion_tokens,
        "purchase": scored.purchase,
        "model_version": scored.model_version,
    }
