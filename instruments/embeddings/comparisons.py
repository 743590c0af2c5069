"""Comparisons of the entities of two cultures, each in the contexts that fit it.

If a data set gives genders, women's and men's entities are compared separately, and an entity of both genders belongs
to both comparisons. An entity fills every context of its comparison that it fits; in translation, some entities fit
fewer contexts than others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polyculture.cache.identity import content_id
from polyculture.cache.log import Tell
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext, agree
from polyculture.instruments.datasets.selection import ContextGroup, DataSelection, first_contexts, first_entities

GENDERS = ("female", "male")


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


def comparisons_of(
    dataset: DataSet, unit: ContextGroup, contexts: Sequence[MaskedContext], selection: DataSelection, say: Tell
) -> Iterator[EmbeddingComparison]:
    """The comparisons of a type of entities of a native culture in these contexts; a line for what is not compared."""
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
