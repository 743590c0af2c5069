"""The same data set in English: contexts and entities by the publisher's translations, beside the originals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from polyculture.instruments.datasets.model import BOTH, MASK, CulturalEntity, DataSet, LeftOut, MaskedContext, again_of

ENGLISH = "en"


def in_english(dataset: DataSet) -> DataSet:
    """Every context and entity that has a translation, in it; the others are listed as left out.

    Rows of one language that are one in English (two spellings of one Japanese name) are kept once, and a name that is
    native and the reference's in English, of one language, is out: unless all is kept as published. The culture of a
    context stays that of its original: the comparison is the same, asked in English. Each knows what it translates,
    and is chosen where that would be.
    """
    left_out: list[LeftOut] = []
    contexts = _contexts(dataset, left_out)
    entities = _entities(dataset, left_out)
    if not dataset.as_published:
        entities = list(_of_one_side(entities, dataset.reference, left_out))
    return replace(
        dataset,
        entities=tuple(entities),
        contexts=tuple(contexts),
        left_out=(*dataset.left_out, *left_out),
        english=True,
        other=in_english(replace(dataset.other, other=None)) if dataset.other else None,
    )


def _contexts(dataset: DataSet, left_out: list[LeftOut]) -> list[MaskedContext]:
    found: dict[str, MaskedContext] = {}
    for context in dataset.contexts:
        gaps = (context.english or "").count(MASK)
        if context.english is None or gaps != 1:
            reason = "no translation" if context.english is None else f"{gaps} gaps {MASK} in the translation"
            left_out.append(LeftOut(context.place, reason, context.english, (context.language,)))
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
        if dataset.as_published:
            again = next(one for one in again_of(translated) if one.context_id not in found)
            found[again.context_id] = again
        else:
            reason = f"the same English context as in {first.place}"
            left_out.append(LeftOut(context.place, reason, context.english, (context.language,)))
    return list(found.values())


def _entities(dataset: DataSet, left_out: list[LeftOut]) -> list[CulturalEntity]:
    """Those with a translation. One that several languages have is one, with an original in each."""
    found: dict[str, CulturalEntity] = {}
    for entity in dataset.entities:
        if entity.english is None:
            left_out.append(LeftOut(entity.place, "no translation", entity.surface, (entity.language,)))
            continue
        named = replace(entity, language=ENGLISH, surface=entity.english, originals={entity.language: entity.entity_id})
        first = found.get(named.entity_id)
        if first is not None and entity.language in first.originals:
            if dataset.as_published:
                named = next(one for one in again_of(named) if entity.language not in _originals(found, one))
                first = found.get(named.entity_id)
            else:
                reason = f"the same English name as in {first.place}"
                left_out.append(LeftOut(entity.place, reason, entity.english, (entity.language,)))
        found[named.entity_id] = named if first is None else _both(first, named)
    return list(found.values())


def _originals(found: Mapping[str, CulturalEntity], one: CulturalEntity) -> Mapping[str, str]:
    there = found.get(one.entity_id)
    return there.originals if there else {}


def _of_one_side(
    entities: Sequence[CulturalEntity], reference: str, left_out: list[LeftOut]
) -> Iterator[CulturalEntity]:
    """The entities whose English name is of one side alone, in each language that has them."""
    sides: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for entity in entities:
        for language in entity.originals:
            sides[language, entity.entity_type, entity.surface].add(entity.culture)
    for entity in entities:
        of_both = [
            (language, cultures)
            for language in entity.originals
            if reference in (cultures := sides[language, entity.entity_type, entity.surface]) and len(cultures) > 1
        ]
        if not of_both:
            yield entity
        for language, cultures in of_both:
            reason = f"the same name is {' and '.join(sorted(cultures))} in English, of {language}"
            left_out.append(LeftOut(entity.place, reason, entity.surface, (language,)))


def _both(first: CulturalEntity, other: CulturalEntity) -> CulturalEntity:
    """Two originals of one English name: it goes by the lesser id in each language, and has the gender of both."""
    originals = dict(first.originals)
    for language, entity_id in other.originals.items():
        originals[language] = min(entity_id, originals.get(language, entity_id))
    return replace(first, gender=first.gender if first.gender == other.gender else BOTH, originals=originals)
