"""The same data set in English: contexts and entities by the publisher's translations, beside the originals."""

from __future__ import annotations

from dataclasses import replace

from polyculture.instruments.datasets.model import BOTH, MASK, CulturalEntity, DataSet, LeftOut, MaskedContext

ENGLISH = "en"


def in_english(dataset: DataSet) -> DataSet:
    """Every context and entity that has a translation, in it; the others are listed as left out.

    Names that are one in English (two spellings of one Japanese name) are kept once. The culture of a context stays
    that of its original: the comparison is the same, asked in English. Each knows what it translates, and is chosen
    where that would be.
    """
    left_out: list[LeftOut] = []
    contexts: dict[str, MaskedContext] = {}
    entities: dict[str, CulturalEntity] = {}
    for context in dataset.contexts:
        gaps = (context.english or "").count(MASK)
        if context.english is None or gaps != 1:
            reason = "no translation" if context.english is None else f"{gaps} gaps {MASK} in the translation"
            left_out.append(LeftOut(context.place, reason, context.english))
            continue
        translated = replace(
            context,
            language=ENGLISH,
            text=context.english,
            question=None,
            source_context_id=context.context_id,
            source_language=context.language,
        )
        contexts.setdefault(translated.context_id, translated)
    for entity in dataset.entities:
        if entity.english is None:
            left_out.append(LeftOut(entity.place, "no translation", entity.surface))
            continue
        named = replace(entity, language=ENGLISH, surface=entity.english, originals={entity.language: entity.entity_id})
        first = entities.get(named.entity_id)
        entities[named.entity_id] = named if first is None else _both(first, named)
    return replace(
        dataset,
        entities=tuple(entities.values()),
        contexts=tuple(contexts.values()),
        left_out=(*dataset.left_out, *left_out),
        english=True,
        other=in_english(replace(dataset.other, other=None)) if dataset.other else None,
    )


def _both(first: CulturalEntity, other: CulturalEntity) -> CulturalEntity:
    """Two originals of one English name: it goes by the lesser id in each language, and has the gender of both."""
    originals = dict(first.originals)
    for language, entity_id in other.originals.items():
        originals[language] = min(entity_id, originals.get(language, entity_id))
    return replace(first, gender=first.gender if first.gender == other.gender else BOTH, originals=originals)
