"""The step that represents: entities in, a vector per entity and layer in the store out.

An entity's vector is the mean of the hidden states of its tokens where it stands in a context's gap, averaged over the
contexts that it fits. These are the same for both cultures: what is the context's own is no difference between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.log import Tell
from polyculture.cache.store.parquet import objects_to_table
from polyculture.cache.store.run_folder import Job
from polyculture.cache.work.worker import Done, Load, StoredRows, Work
from polyculture.generate.engines import REPRESENTING, Represented, Representing, ScoreRequest
from polyculture.generate.engines.models import Models
from polyculture.generate.request import request_id
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext
from polyculture.instruments.datasets.selection import DataSelection, chosen_contexts
from polyculture.instruments.embeddings.comparisons import EmbeddingComparison, comparisons_of
from polyculture.instruments.embeddings.layout import REPRESENTATIONS, Representation, WantedRepresentation
from polyculture.instruments.model_job import ModelJob
from polyculture.instruments.row_step import AnswerStep

PART = 200  # entities that are asked, and written, at a time
LAYERS = ("first", "middle", "last")
LayerNames = tuple[str, ...]


@dataclass(frozen=True)
class EntityInContexts:
    """An entity in the gaps of the contexts that it fits, queried at some layers under one model and setup."""

    keys: tuple[str, ...]  # one per layer
    request_id: str
    comparison: EmbeddingComparison
    comparison_id: str
    contexts: tuple[MaskedContext, ...]
    entity: CulturalEntity


@dataclass(frozen=True)
class RepresentingJob(ModelJob[EntityInContexts]):
    """One job: the comparisons of a type of entities of a native culture, under a model and its setup."""

    job: Job
    form: str  # 'causal' | 'masked': of the contexts that were asked for
    comparisons: tuple[EmbeddingComparison, ...]
    layers: LayerNames = LAYERS  # that are asked for
    setup: Mapping[str, Any] = field(default_factory=dict)  # of the model

    def request_id(self, contexts: Sequence[MaskedContext]) -> str:
        """The identity of contexts in which an entity stands, as the model reads them."""
        texts = sorted([context.prefix, context.suffix] for context in contexts)
        return request_id("represent", self.job.model, self.setup, texts)

    @property
    def size(self) -> int:
        return sum(len(item.keys) for item in self.asks())

    @property
    def prompt_count(self) -> int:
        return sum(len(item.contexts) for item in self.asks())

    def asks(self) -> Iterator[EntityInContexts]:
        """Every entity once. One of both genders is in two comparisons, perhaps in the same contexts."""
        known = set()
        for comparison in self.comparisons:
            comparison_id = comparison.comparison_id
            for contexts, entities in comparison.standing:
                request, topic = self.request_id(contexts), self.job.topic
                for entity in entities:
                    # With the job: contexts of two cultures may have one text, and each job keeps its own rows.
                    keys = tuple(content_id(request, topic, entity.entity_id, layer) for layer in self.layers)
                    if keys[0] not in known:
                        known.add(keys[0])
                        yield EntityInContexts(keys, request, comparison, comparison_id, contexts, entity)

    def wanted(self) -> Iterator[WantedRepresentation]:
        """A row for each set of contexts that an entity of a comparison is put into."""
        for comparison in self.comparisons:
            for contexts, _ in comparison.standing:
                one = contexts[0]
                yield WantedRepresentation(
                    self.request_id(contexts), self.job.model, self.setup_id, comparison.comparison_id,
                    self.job.topic, one.dataset, one.language, one.culture, one.entity_type, self.form,
                    comparison.settings, comparison.gender, [context.context_id for context in contexts],
                )  # fmt: skip


def representing_jobs(
    dataset: DataSet, selection: DataSelection, say: Tell, layers: LayerNames = LAYERS
) -> list[RepresentingJob]:
    """A job per language, native culture and type, still of no model.

    What cannot be compared is a line. Raises `DataSetError` where nothing can.
    """
    jobs = []
    for unit, contexts in chosen_contexts(dataset, replace(selection, contexts=None)):
        language, culture, kind = unit
        found = tuple(comparisons_of(dataset, unit, contexts, selection, say))
        if found:
            job = Job("", language, f"{dataset.name}-{culture}-{kind}".lower())
            jobs.append(RepresentingJob(job, selection.form, found, layers))
    if not jobs:
        there = sorted({f"{e.culture} {e.entity_type} in {e.language}" for e in dataset.entities})
        raise DataSetError(
            "there is no context that entities of both cultures fit",
            where=dataset.folder,
            remedy=f"Choose contexts of a type that two cultures have: it has {', '.join(there)}.",
        )
    return jobs


@dataclass(slots=True)
class _Mean:
    """The mean of an entity's vectors so far; the first reason why one is missing."""

    sums: list[NDArray[np.float64]] = field(default_factory=list)  # one per layer
    layers: tuple[int, ...] = ()
    read: int = 0
    error: str | None = None
    model_version: str | None = None

    def add(self, row: Represented) -> None:
        self.error = self.error or row.error
        self.model_version = self.model_version or row.model_version
        if row.error:
            return
        vectors = [np.asarray(vector, np.float64) for vector in row.vectors]
        self.sums = [one + other for one, other in zip(self.sums, vectors, strict=True)] if self.sums else vectors
        self.layers, self.read = row.layers, self.read + 1


class RepresentingStep(AnswerStep[EntityInContexts, RepresentingJob]):
    """Reads hidden states of entities. A failure is a row with its reason, and is not tried again."""

    name = "represent"
    use = "represent"
    tables = (REPRESENTATIONS,)

    def ask(
        self, work: Work[EntityInContexts], items: Iterator[EntityInContexts], models: Models, kept: StoredRows
    ) -> Iterator[Done]:
        """The vectors of some entities at a time.

        Raises `EngineError` where the engine gives no hidden states or has no such layer.
        """
        representing = models.open(REPRESENTING)
        for _, compared in groupby(items, key=lambda item: item.comparison_id):
            while some := list(islice(compared, PART)):
                rows = list(_rows(self.asked[work.job], some, representing))
                # Past the journal: vectors are long, and a pass over some entities is soon done again.
                yield Done({REPRESENTATIONS.name: objects_to_table(REPRESENTATIONS, rows)})

    def loads(self, work: Work[EntityInContexts], items: Iterable[EntityInContexts]) -> Iterator[Load]:
        """Takes each context with the entity as input, and generates no tokens."""
        for item in items:
            for context in item.contexts:
                yield Load(context.sides, 0, varying=item.entity.surface, chat=False)


def _rows(asked: RepresentingJob, some: Sequence[EntityInContexts], engine: Representing) -> Iterator[Representation]:
    means = [_Mean() for _ in some]
    standing = _standing(some)
    contexts = [c for c in some[0].comparison.contexts if c.context_id in standing]
    requests = (
        ScoreRequest(c.context_id, c.prefix, tuple(some[i].entity.surface for i in standing[c.context_id]), c.suffix)
        for c in contexts
    )
    for row in engine.represent(requests, asked.layers):
        means[standing[row.request_id][row.index]].add(row)
    for item, mean in zip(some, means, strict=True):
        for place in range(len(asked.layers)):
            yield _row(asked, item, mean, place)


def _row(asked: RepresentingJob, item: EntityInContexts, mean: _Mean, place: int) -> Representation:
    return Representation(
        representation_id=item.keys[place],
        request_id=item.request_id,
        entity_id=item.entity.entity_id,
        model=asked.job.model,
        language=asked.job.language,
        topic=asked.job.topic,
        asked_layer=asked.layers[place],
        status="failed" if mean.error else "ok",
        error=mean.error,
        retryable=False if mean.error else None,
        layer=None if mean.error else mean.layers[place],
        vector=None if mean.error else (mean.sums[place] / mean.read).tolist(),
        model_version=mean.model_version,
    )


def _standing(some: Sequence[EntityInContexts]) -> Mapping[str, list[int]]:
    """The places in `some` of the entities that stand in each context, by the context's id."""
    standing: dict[str, list[int]] = {}
    for place, item in enumerate(some):
        for context in item.contexts:
            standing.setdefault(context.context_id, []).append(place)
    return standing
