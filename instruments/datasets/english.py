"""The same data set in English: contexts and entities by the publisher's translations, beside the originals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polyculture.instruments.datasets.model import BOTH, MASK, CulturalEntity, DataSet, MaskedContext, again_of
from polyculture.instruments.datasets.sides import of_one_side
from polyculture.sources.left_out import LeftOut

ENGLISH = "en"


def in_english(dataset: DataSet) -> DataSet:
    """Every context and entity that has a translation, in it; the others are listed as left out.

    Rows of one language that are one in English (two spellings of one Japanese name) count once in our reading, and a
    name that is native and the reference's in English, of one language, does not. The culture of a context stays that
    of its original: the comparison is the same, asked in English. Each knows what it translates, and is chosen where
    that would be.
    """
    told = list(dataset.told)
    return replace(
        dataset,
        every_context=tuple(_contexts(dataset, told)),
        every_entity=tuple(of_one_side(_entities(dataset, told), dataset.reference, told)),
        told=tuple(told),
        english=True,
    )


def _contexts(dataset: DataSet, told: list[LeftOut]) -> list[MaskedContext]:
    found: dict[str, MaskedContext] = {}
    for context in sorted(dataset.every_context, key=lambda one: one.left_out):
        gaps = (context.english or "").count(MASK)
        if context.english is None or gaps != 1:
            reason = "no translation" if context.english is None else f"{gaps} gaps {MASK} in the translation"
            told.append(LeftOut(context.place, reason, context.english, (context.language,)))
            continue
        translated = replace(
            context,
            language=ENGLISH,
            text=context.english,
            question=None,
            source_context_id=context.context_id,
            source_language=context.language,
        )
        first = found.setdefault(translated.context_id, translated)
        if first is translated or first.source_language != context.language:
            continue
        again = next(one for one in again_of(translated) if one.context_id not in found)
        found[again.context_id] = replace(again, left_out=True)
        if not context.left_out:
            reason = f"the same English context as in {first.place}"
            told.append(LeftOut(context.place, reason, context.english, (context.language,), is_published=True))
    return list(found.values())


def _entities(dataset: DataSet, told: list[LeftOut]) -> list[CulturalEntity]:
    """Those with a translation. One that several languages have is one, with an original in each."""
    found: dict[str, CulturalEntity] = {}
    for entity in sorted(dataset.every_entity, key=lambda one: bool(one.left_out)):
        language = entity.language
        if entity.english is None:
            told.append(LeftOut(entity.place, "no translation", entity.surface, (language,)))
            continue
        originals = {language: entity.entity_id}
        named = replace(entity, language=ENGLISH, surface=entity.english, originals=originals)
        first = found.get(named.entity_id)
        if first is not None and language in first.originals:
            if not entity.left_out:
                found[named.entity_id] = replace(first, gender=_gender(first.gender, entity.gender))
                reason = f"the same English name as in {first.place}"
                told.append(LeftOut(entity.place, reason, entity.english, (language,), is_published=True))
            again = next(one for one in again_of(named) if language not in _originals(found, one))
            named = replace(again, left_out=frozenset({language}))
            first = found.get(named.entity_id)
        found[named.entity_id] = named if first is None else _both(first, named)
    return list(found.values())


def _originals(found: Mapping[str, CulturalEntity], one: CulturalEntity) -> Mapping[str, str]:
    there = found.get(one.entity_id)
    return there.originals if there else {}


def _both(first: CulturalEntity, other: CulturalEntity) -> CulturalEntity:
    """Two originals of one English name, which has the gender of both: in our reading of those that count there."""
    return replace(
        first,
        originals={**first.originals, **other.originals},
        left_out=first.left_out | other.left_out,
        gender=first.gender if other.left_out else _gender(first.gender, other.gender),
        published_gender=_gender(first.published_gender, other.published_gender),
    )


def _gender(one: str | None, other: str | None) -> str | None:
    return one if one == other else BOTH
