"""The step that scores: contexts and entities in, log-probabilities in the store out.

A job is a model, a language, and one type of one native culture of a data set. Its unit of work is one entity in one
text, so that a run over a few entities can be extended to all. A request is the model, its setup and the text on both
sides of the gap: contexts of one text share its scores. What else is known of context and entity stands in the tables
of the data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby
from typing import Any

import pyarrow as pa

from polyculture.cache.answers import find_answers, sibling_parts
from polyculture.cache.identity import content_id
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.worker import Done, Kept, Load, Step, Work
from polyculture.generate.engines import SCORING, Scored, ScoreRequest
from polyculture.generate.engines.models import MODEL, Models
from polyculture.generate.request import request_id
from polyculture.instruments.cbs.rows import SCORES, Score
from polyculture.instruments.datasets.model import CulturalEntity, MaskedContext


@dataclass(frozen=True)
class ScoringJob:
    """One job: contexts, and the entities that compete for the gap of each."""

    job: Job
    asked: Sequence[tuple[MaskedContext, Sequence[CulturalEntity]]]
    setup: Mapping[str, Any] = field(default_factory=dict)  # of the model, for scores

    @property
    def size(self) -> int:
        return sum(len(entities) for _, entities in self._texts)

    def pairs(self) -> Iterator[ScoredPair]:
        """Every entity in every text, text by text."""
        for context, entities in self._texts:
            request = self.request_id(context)
            for entity in entities:
                yield ScoredPair(request, self.job, context, entity)

    def loads(self) -> Iterator[Load]:
        """What all of it costs at most: a context is read once for each of its entities."""
        for context, entities in self._texts:
            yield Load(context.prefix, 0, len(entities), apart=" ".join(entity.surface for entity in entities))

    def request_id(self, context: MaskedContext) -> str:
        """The identity of a context as the model is sent it."""
        return request_id("score", self.job.model, self.setup, [context.prefix, context.suffix])

    @cached_property
    def _texts(self) -> list[tuple[MaskedContext, Sequence[CulturalEntity]]]:
        """Each text once, by the first context that has it, with the entities of all of them."""
        alike: dict[str, list[tuple[MaskedContext, Sequence[CulturalEntity]]]] = {}
        for context, entities in self.asked:
            alike.setdefault(context.text, []).append((context, entities))
        return [(same[0][0], same[0][1] if len(same) == 1 else _united(same)) for same in alike.values()]


def _united(asked: Sequence[tuple[MaskedContext, Sequence[CulturalEntity]]]) -> list[CulturalEntity]:
    return list({entity.entity_id: entity for _, entities in asked for entity in entities}.values())


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """An entity in the gap of a text, and the request that it is scored by."""

    request_id: str
    job: Job
    context: MaskedContext  # one of those that have the text
    entity: CulturalEntity

    @property
    def score_id(self) -> str:
        """With the job: contexts of two cultures may have one text, and each job keeps its own rows."""
        return content_id(self.request_id, self.job.topic, self.entity.entity_id)


class ScoringStep(Step[ScoredPair, Models]):
    """Scores entities in contexts by the models of their jobs. A failure is a row with its reason."""

    name = "score"
    tables = (SCORES,)

    def __init__(self, jobs: Sequence[ScoringJob]) -> None:
        self._jobs = jobs

    def works(self) -> Iterator[Work[ScoredPair]]:
        """A work per job."""
        for scoring in self._jobs:
            models, pairs = {MODEL: scoring.job.model}, partial(ScoringJob.pairs, scoring)
            yield Work(scoring.job, models, pairs, scoring.size, loads=scoring.loads)

    def keys(self, item: ScoredPair) -> tuple[str, ...]:
        return (item.score_id,)

    def adopt(
        self, run: RunFolder, work: Work[ScoredPair], missing: Sequence[ScoredPair]
    ) -> dict[str, pa.Table] | None:
        """The scores that runs beside this one hold for pairs that are missing here."""
        return adopted_scores(run, work, missing)

    def ask(self, work: Work[ScoredPair], items: Iterator[ScoredPair], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per pair, as the scores come."""
        waiting: dict[str, list[ScoredPair]] = {}
        for scored in models.open(SCORING).score(_requests(items, waiting)):
            yield Done((score_row(waiting[scored.request_id][scored.index], scored),))

    def load(self, item: ScoredPair) -> Load:
        """A score takes the context and the entity as input, and generates no tokens."""
        return Load(item.context.prefix, 0, apart=item.entity.surface)


def adopted_scores(run: RunFolder, work: Work[ScoredPair], missing: Sequence[ScoredPair]) -> dict[str, pa.Table] | None:
    """The scores of missing pairs in runs beside this one; None where these have none of the job."""
    if not sibling_parts(run, work.job, SCORES):
        return None
    wanted = pa.table({"score_id": pa.array([pair.score_id for pair in missing], pa.string())})
    return {SCORES.name: find_answers(run, work.job, SCORES, wanted)}


def _requests(items: Iterator[ScoredPair], waiting: dict[str, list[ScoredPair]]) -> Iterator[ScoreRequest]:
    """A request per run of pairs of one text, numbered: what failed before comes last, and its text then once more."""
    for number, (_, group) in enumerate(groupby(items, key=lambda pair: pair.request_id)):
        pairs = list(group)
        waiting[str(number)] = pairs
        context, surfaces = pairs[0].context, tuple(pair.entity.surface for pair in pairs)
        yield ScoreRequest(str(number), context.prefix, surfaces, context.suffix)


def score_row(pair: ScoredPair, scored: Scored) -> Score:
    """The row of `scores` that a scored continuation becomes."""
    values = [token.log_probability for token in scored.tokens]
    return Score(
        score_id=pair.score_id,
        request_id=pair.request_id,
        entity_id=pair.entity.entity_id,
        model=pair.job.model,
        language=pair.job.language,
        topic=pair.job.topic,
        status="failed" if scored.error else "ok",
        error=scored.error,
        retryable=scored.retryable if scored.error else None,
        log_probability=scored.total,
        tokens=len(values) or None,
        token_log_probabilities=values or None,
        token_boundary=scored.boundary,
        prompt_tokens=scored.prompt_tokens,
        completion_tokens=scored.completion_tokens,
        purchase=scored.purchase,
        model_version=scored.model_version,
        note=scored.note,
    )
