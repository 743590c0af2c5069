"""Comparisons: the entities of two cultures that are held against each other, each in the contexts that fit it.

Where a data set gives genders, those of women and of men are two comparisons, and what is of both stands in either. An
entity stands in all contexts of its comparison that it may fill; in translation these can be fewer for some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.manifest import setup_id
from polyculture.cache.run_folder import Job
from polyculture.generate.request import request_id
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext, agree
from polyculture.instruments.datasets.selection import (
    ContextGroup,
    Selection,
    chosen_contexts,
    first_contexts,
    first_entities,
)
from polyculture.instruments.embeddings.rows import WantedRepresentation

GENDERS = ("female", "male")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Comparison:
    """Contexts, and the entities of both cultures with those of the contexts that each fits."""

    contexts: tuple[MaskedContext, ...]
    standing: tuple[tuple[CulturalEntity, tuple[MaskedContext, ...]], ...]

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
class RepresentingJob:
    """One job: the comparisons of a type of entities of a native culture, under a model and its setup."""

    job: Job
    form: str  # 'causal' | 'masked': of the contexts that were asked for
    comparisons: tuple[Comparison, ...]
    setup: Mapping[str, Any] = field(default_factory=dict)  # of the model

    def request_id(self, contexts: Sequence[MaskedContext]) -> str:
        """The identity of contexts in which an entity stands, as the model reads them."""
        texts = sorted([context.prefix, context.suffix] for context in contexts)
        return request_id("represent", self.job.model, self.setup, texts)

    def wanted(self) -> Iterator[WantedRepresentation]:
        """What is read: a row for each set of contexts that an entity of a comparison stands in."""
        for comparison in self.comparisons:
            for contexts in dict.fromkeys(contexts for _, contexts in comparison.standing):
                one = contexts[0]
                yield WantedRepresentation(
                    self.request_id(contexts), comparison.comparison_id, self.job.model, setup_id(self.setup),
                    self.job.topic, one.dataset, one.language, one.culture, one.entity_type, self.form,
                    comparison.settings, comparison.gender, [context.context_id for context in contexts],
                )  # fmt: skip


def representing_jobs(
    dataset: DataSet, model: str, selection: Selection, say: Say, setup: Mapping[str, Any] | None = None
) -> list[RepresentingJob]:
    """A job per language, native culture and type.

    What cannot be compared is a line. Raises `DataSetError` where nothing can.
    """
    jobs = []
    for unit, contexts in chosen_contexts(dataset, replace(selection, contexts=None)):
        language, culture, kind = unit
        found = tuple(_comparisons(dataset, unit, contexts, selection, say))
        if found:
            job = Job(model, language, f"{dataset.name}-{culture}-{kind}".lower())
            jobs.append(RepresentingJob(job, selection.form, found, setup or {}))
    if not jobs:
        raise DataSetError(
            "there is no context that entities of both cultures fit",
            where=dataset.folder,
            remedy=f"See what there is: polyculture data show {dataset.name}",
        )
    return jobs


def _comparisons(
    dataset: DataSet, unit: ContextGroup, contexts: Sequence[MaskedContext], selection: Selection, say: Say
) -> Iterator[Comparison]:
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
) -> Comparison:
    places: dict[str, list[MaskedContext]] = {}
    entities: dict[str, CulturalEntity] = {}
    for context in contexts:
        for entity in fitting[context.context_id]:
            entities.setdefault(entity.entity_id, entity)
            places.setdefault(entity.entity_id, []).append(context)
    chosen = first_entities(list(entities.values()), limit, contexts[0].chooser)
    return Comparison(tuple(contexts), tuple((entity, tuple(places[entity.entity_id])) for entity in chosen))
