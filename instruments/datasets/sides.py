"""Names that are native and the reference's: a comparison of both sides learns nothing from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from polyculture.instruments.datasets.model import CulturalEntity
from polyculture.sources.left_out import LeftOut


def of_one_side(entities: Sequence[CulturalEntity], reference: str, told: list[LeftOut]) -> Iterator[CulturalEntity]:
    """All entities; one whose name is of both sides in a language is left out, with a line in `told`.

    A translation is so where it is in one of the languages that it translates.
    """
    sides: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for entity in entities:
        for language in _languages(entity):
            sides[language, entity.entity_type, entity.surface].add(entity.culture)
    for entity in entities:
        own = {language: sides[language, entity.entity_type, entity.surface] for language in _languages(entity)}
        both = {language: cultures for language, cultures in own.items() if reference in cultures and len(cultures) > 1}
        for language, cultures in both.items():
            where = f"English, of {language}" if entity.originals else language
            reason = f"the same name is {' and '.join(sorted(cultures))} in {where}"
            told.append(LeftOut(entity.place, reason, entity.surface, (language,), is_published=True))
        yield replace(entity, left_out=frozenset(entity.originals or (entity.language,))) if both else entity


def _languages(entity: CulturalEntity) -> frozenset[str]:
    """Those in which an entity counts: its own, or those that it translates."""
    return frozenset(entity.originals or (entity.language,)) - entity.left_out
