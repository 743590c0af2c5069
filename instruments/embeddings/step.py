"""The step that represents: entities in, a vector per entity and layer in the store out.

An entity's vector is the mean of the hidden states of its tokens where it stands in a context's gap, averaged over the
contexts. The contexts are the same for both cultures: what is the context's own is no difference between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.cache.parquet import objects_to_table
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.worker import Done, Kept, Load, Span, Work
from polyculture.generate.engines import REPRESENTING, Represented, Representing, ScoreRequest
from polyculture.generate.engines.models import MODEL, Models
from polyculture.instruments.cbs.step import ScoringJob
from polyculture.instruments.datasets.model import CulturalEntity, MaskedContext
from polyculture.instruments.embeddings.rows import REPRESENTATIONS, Representation

PART = 200  # entities that are asked, and written, at a time
Layers = tuple[str, ...]


@dataclass(frozen=True)
class EntityInContexts:
    """An entity in the gaps of contexts, queried at some layers under one model and setup."""

    keys: tuple[str, ...]  # one per layer
    scoring: ScoringJob
    contexts: tuple[MaskedContext, ...]
    entity: CulturalEntity


class RepresentingStep:
    """Reads hidden states of entities. A failure is a row with its reason, and is not tried again."""

    name = "represent"
    tables: tuple[Table[Any], ...] = (REPRESENTATIONS,)
    span: Span = "job"

    def __init__(self, jobs: Sequence[ScoringJob], layers: Layers) -> None:
        self._jobs, self._layers = jobs, layers

    def works(self) -> Iterator[Work[EntityInContexts]]:
        """A work per job, with a key per entity and layer."""
        for scoring in self._jobs:
            size = len(_fitting(scoring)[1]) * len(self._layers)
            yield Work(scoring.job, {MODEL: scoring.job.model}, partial(self._entities, scoring), size)

    def keys(self, item: EntityInContexts) -> tuple[str, ...]:
        return item.keys

    def adopt(self, run: RunFolder, work: Work[EntityInContexts], missing: Sequence[EntityInContexts]) -> None:
        """Nothing: vectors are not shared between runs."""

    def ask(
        self, work: Work[EntityInContexts], items: Iterator[EntityInContexts], models: Models, kept: Kept
    ) -> Iterator[Done]:
        """The vectors of some entities at a time.

        Raises `EngineError` where the engine gives no hidden states or has no such layer.
        """
        representing = models.open(REPRESENTING)
        while some := list(islice(items, PART)):
            rows = list(self._rows(some, representing))
            # Past the journal: vectors are long, and a pass over some entities is soon done again.
            yield Done({REPRESENTATIONS.name: objects_to_table(REPRESENTATIONS, rows)})

    def load(self, item: EntityInContexts) -> Load:
        """Takes each context with the entity as input, and generates no tokens."""
        text = item.contexts[0].prefix + item.entity.surface
        return Load(text, 0, times=len(item.contexts))

    def _entities(self, scoring: ScoringJob) -> Iterator[EntityInContexts]:
        contexts, entities = _fitting(scoring)
        ids = sorted(context.context_id for context in contexts)
        for entity in entities:
            keys = tuple(
                content_id(scoring.job.model, scoring.setup_id, ids, entity.entity_id, layer) for layer in self._layers
            )
            yield EntityInContexts(keys, scoring, contexts, entity)

    def _rows(self, some: Sequence[EntityInContexts], engine: Representing) -> Iterator[Representation]:
        surfaces = tuple(item.entity.surface for item in some)
        contexts = some[0].contexts
        requests = [ScoreRequest(c.context_id, c.prefix, surfaces, c.suffix) for c in contexts]
        found: list[list[Represented]] = [[] for _ in some]
        for row in engine.represent(requests, self._layers):
            found[row.index].append(row)
        for item, each in zip(some, found, strict=True):
            for place in range(len(self._layers)):
                yield self._row(item, each, place)

    def _row(self, item: EntityInContexts, found: Sequence[Represented], place: int) -> Representation:
        error = next((row.error for row in found if row.error), None)
        vector = None if error else np.mean([row.vectors[place] for row in found], axis=0).tolist()
        entity, culture = item.entity, item.contexts[0].culture
        return Representation(
            representation_id=item.keys[place],
            model=item.scoring.job.model,
            dataset=entity.dataset,
            language=entity.language,
            culture=culture,
            entity_type=entity.entity_type,
            entity_id=entity.entity_id,
            entity=entity.surface,
            entity_culture=entity.culture,
            native=entity.culture == culture,
            contexts=len(item.contexts),
            asked_layer=self._layers[place],
            status="failed" if error else "ok",
            error=error,
            layer=None if error else found[0].layers[place],
            vector=vector,
            model_version=next((row.model_version for row in found if row.model_version), None),
            setup_id=item.scoring.setup_id,
        )


def _fitting(job: ScoringJob) -> tuple[tuple[MaskedContext, ...], list[CulturalEntity]]:
    """The job's contexts, and the entities that fit all of them: each stands in the same."""
    contexts = tuple(context for context, _ in job.asked)
    fitting = [{entity.entity_id for entity in entities} for _, entities in job.asked]
    entities = {e.entity_id: e for e in job.asked[0][1] if all(e.entity_id in each for each in fitting)}
    return contexts, list(entities.values())
