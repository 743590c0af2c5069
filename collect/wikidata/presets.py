"""Collections of a paper, by type of entity and culture: `presets.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

from polyculture.cache.catalog import Kind
from polyculture.cache.catalog.model import QID
from polyculture.cache.errors import CatalogError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.cache.validation import ClosedModel
from polyculture.collect.wikidata.collect import Collection, Membership

FILE = Path(__file__).with_name("presets.toml")
One = TypeVar("One")


class TypeRule(ClosedModel):
    """What items a type has: those below its classes; of persons, those who do one of the occupations."""

    roots: tuple[QID, ...]
    occupations: tuple[QID, ...] = ()
    members: Membership = "any"


class CultureRule(ClosedModel):
    """Whose items a culture has, and how many."""

    countries: tuple[str, ...]
    languages: tuple[str, ...]  # the first is that of the column `label`
    at_least: int  # labels in so many of these languages
    most: Mapping[str, int] = {}  # by type
    most_of_all: int | None = None  # of each type


class CollectionPreset(ClosedModel):
    """The collections of a paper."""

    title: str
    citation: str
    types: Mapping[str, TypeRule]
    absent: Mapping[str, str]  # types that cannot be collected so, and why
    cultures: Mapping[str, CultureRule]

    def collection(self, type: str, culture: str) -> Collection:
        """The collection of a type and culture. Raises `CatalogError` where there is none, with the reason."""
        if type in self.absent:
            raise CatalogError(f"{type} cannot be collected by country: {self.absent[type]}")
        of_type = _named(self.types, "type", type)
        kind = Kind(granularity=1, description="", **of_type.model_dump())
        rule = _named(self.cultures, "culture", culture)
        language, *also = rule.languages
        return Collection(
            kind.roots, language, rule.countries, kind.stops, kind.members,
            also=tuple(also), at_least=rule.at_least, most=rule.most.get(type, rule.most_of_all), kind=kind,
        )  # fmt: skip


@cache
def collection_presets() -> Mapping[str, CollectionPreset]:
    """All presets by name."""
    return {name: parse_model(CollectionPreset, row, FILE) for name, row in read_toml(FILE).items()}


def find_preset(name: str) -> CollectionPreset:
    """The preset of this name. Raises `CatalogError` with the nearest name where there is none."""
    return _named(collection_presets(), "preset", name)


def _named(known: Mapping[str, One], what: str, name: str) -> One:
    """The entry of this name, in whatever case."""
    match = next((known[own] for own in known if own.casefold() == name.casefold()), None)
    if match is None:
        raise CatalogError(f"unknown {what} {name!r}", remedy=did_you_mean(name, known))
    return match
