"""The stage that scores: contexts and entities in, log-probabilities in the store out, one job at a time.

A job is a model, a language, and one type of one native culture of a data set. Its unit of work is one entity in one
context: what is in the store stays, what is missing is asked, so that a run over a few entities is topped up by one
over all of them. Rows of another setup of the model, or of what the data set does not hold now, stay as they are.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.shards import JobShards
from polyculture.generate.engines import ModelSpec, ScoreRequest, open_engine
from polyculture.generate.engines.base import Engine, Scored
from polyculture.instruments.cbs.rows import SCORES
from polyculture.instruments.datasets.model import CulturalEntity, MaskedContext

TABLE, KEY = "scores", "score_id"
REPORT_EVERY = 0.25  # seconds between two reports of progress


@dataclass(frozen=True)
class ScoringJob:
    """What of a data set one job asks: contexts, and the entities that compete for the gap of each."""

    job: Job
    asked: Sequence[tuple[MaskedContext, Sequence[CulturalEntity]]]
    setup_id: str | None = None  # under which the model is asked; None where nobody keeps setups apart

    @property
    def size(self) -> int:
        return sum(len(entities) for _, entities in self.asked)


@dataclass
class _Stock:
    """What the store holds of all that a job asks."""

    done: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)  # failures that may pass

    @property
    def outcome(self) -> Outcome:
        return Outcome(len(self.done), len(self.failed), reused=len(self.done))


def score_job(
    run: RunFolder, scoring: ScoringJob, spec: ModelSpec, progress: Progress = silent, engine: Engine | None = None
) -> Outcome:
    """Scores what is missing of a job, and says what has become of all that it asks.

    `engine` is an opened one, which several jobs of a model share; without it one is opened for this job. A failure is
    a row with its reason. Raises `JobHeldError` where another process holds the job, and what engine and store raise.
    """
    with JobShards(run, scoring.job, [SCORES]) as shards:
        stock = _take_stock(shards, scoring)
        shards.retire(stock.again)
        missing = list(_missing(scoring, stock))
        outcome = stock.outcome
        progress(outcome)
        if missing:
            with open_engine(spec) if engine is None else nullcontext(engine) as opened:
                outcome = _score(shards, scoring, missing, opened, outcome, progress)
    progress(outcome)
    return outcome


def settled(run: RunFolder, scoring: ScoringJob) -> Outcome | None:
    """What has become of a job of which nothing is left to ask; None where something is."""
    with JobShards(run, scoring.job, [SCORES]) as shards:
        stock = _take_stock(shards, scoring)
    return None if any(True for _ in _missing(scoring, stock)) else stock.outcome


def _take_stock(shards: JobShards, scoring: ScoringJob) -> _Stock:
    stock = _Stock()
    asked = {score_id(scoring, context, entity) for context, entities in scoring.asked for entity in entities}
    columns = [KEY, "status", "retryable"]
    table = shards.read(TABLE, columns)
    for key, status, retryable in zip(*(table[name].to_pylist() for name in columns), strict=True):
        if key in asked:
            (stock.done if status == "ok" else stock.again if retryable else stock.failed).add(key)
    return stock


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
    return content_id(scoring.job.model, scoring.setup_id, context.context_id, entity.entity_id)


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
        "setup_id": scoring.setup_id,
    }
