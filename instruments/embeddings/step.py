"""The step that represents: entities in, a vector per entity and layer in the store out.

An entity's vector is the mean of the hidden states of its tokens where it stands in a context's gap, averaged over the
contexts that it fits. These are the same for both cultures: what is the context's own is no difference between them.

Comparisons: the entities of two cultures that are held against each other, each in the contexts that fit it.

Where a data set gives genders, those of women and of men are two comparisons, and what is of both stands in either. An
entity stands in all contexts of its comparison that it may fill; in translation these can be fewer for some.
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
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext, agree
from polyculture.instruments.datasets.selection import (
    ContextGroup,
    DataSelection,
    chosen_contexts,
    first_contexts,
    first_entities,
)
from polyculture.instruments.embeddings.layout import REPRESENTATIONS, Representation, WantedRepresentation
from polyculture.instruments.model_job import ModelJob
from polyculture.instruments.row_step import AnswerStep

GENDERS = ("female", "male")
PART = 200  # entities that are asked, and written, at a time
LAYERS = ("first", "middle", "last")
LayerNames = tuple[str, ...]


@dataclass(frozen=True)
class EmbeddingComparison:
    """Contexts, and the entities of both cultures: those that stand in the same ones of them together."""

    contexts: tuple[MaskedContext, ...]
    standing: tuple[tuple[tuple[MaskedContext, ...], Sequence[CulturalEntity]], ...]

    @property
    def comparison_id(self) -> str:
        """A hash of the contexts."""
        return content_id(sorted(context.context_id for context in self.contexts))

    @property
    def gender(self) -> str | None:
        """The gender that its contexts ask for; None where they ask for none, whatever its entities have."""
        return next((c.gender for c in self.contexts if c.gender in GENDERS), None)

    @property
    def settings(self) -> str:
        """The settings of its contexts: 'neutral', 'grounded, neutral'."""
        return ", ".join(sorted({context.setting for context in self.contexts}))


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
        found = tuple(_comparisons(dataset, unit, contexts, selection, say))
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


def _comparisons(
    dataset: DataSet, unit: ContextGroup, contexts: Sequence[MaskedContext], selection: DataSelection, say: Tell
) -> Iterator[EmbeddingComparison]:
    fitting = {context.context_id: dataset.fitting(context) for context in contexts}
    genders = {e.gender for e in dataset.entities if _is_of(e, unit)} | {c.gender for c in contexts}
    sides = {unit[1], dataset.reference}
    named: Sequence[str | None] = [gender for gender in GENDERS if gender in genders]
    for gender in named or (None,):
        own = [context for context in contexts if agree(context.gender, gender)]
        of_gender = {c.context_id: [e for e in fitting[c.context_id] if agree(gender, e.gender)] for c in own}
        shared = [c for c in own if {e.culture for e in of_gender[c.context_id]} == sides]
        name = " ".join(filter(None, (dataset.name, *unit, gender)))
        if len(shared) < len(own):
            say(f"{name}: {len(own) - len(shared)} of {len(own)} contexts are fitted by one culture alone: left out")
        if shared:
            yield _comparison(first_contexts(shared, selection.contexts), of_gender, selection.entities)
        else:
            say(f"{name}: not compared, as no context of this selection is fitted by entities of both cultures")


def _is_of(entity: CulturalEntity, unit: ContextGroup) -> bool:
    language, culture, kind = unit
    return (entity.language, entity.culture, entity.entity_type) == (language, culture, kind)


def _comparison(
    contexts: Sequence[MaskedContext], fitting: dict[str, list[CulturalEntity]], limit: int | None
) -> EmbeddingComparison:
    places: dict[str, list[MaskedContext]] = {}
    entities: dict[str, CulturalEntity] = {}
    for context in contexts:
        for entity in fitting[context.context_id]:
            entities.setdefault(entity.entity_id, entity)
            places.setdefault(entity.entity_id, []).append(context)
    chosen = first_entities(list(entities.values()), limit, contexts[0].chooser)
    standing: dict[tuple[str, ...], tuple[tuple[MaskedContext, ...], list[CulturalEntity]]] = {}
    for entity in chosen:
        own = places[entity.entity_id]
        standing.setdefault(tuple(one.context_id for one in own), (tuple(own), []))[1].append(entity)
    return EmbeddingComparison(tuple(contexts), tuple(standing.values()))


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
