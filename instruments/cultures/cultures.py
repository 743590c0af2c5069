"""Cultures as data: countries with their region and resource level, in a TOML file that a user can replace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import Field, ValidationError

from polyculture.cache.errors import DataSetError, together
from polyculture.cache.text.folding import fold
from polyculture.cache.toml_files import read_toml
from polyculture.cache.validation import ClosedModel, explain

BUILT_IN = Path(__file__).with_name("cultures.toml")
_FEWEST_LEVELS = 2  # a resource question has an option of each: with one level there is nothing to compare


class Culture(ClosedModel):
    """A country, or a part of one, that questions are asked about."""

    level: str
    region: str
    spellings: tuple[str, ...] = ()
    language: str | None = None  # ISO 639-1, that questions are asked in there
    names: Mapping[str, str] = {}  # in other languages, by their codes
    country: str = ""  # its name in the file


class _CultureFile(ClosedModel):
    levels: tuple[str, ...] = Field(min_length=_FEWEST_LEVELS)
    countries: Mapping[str, Culture] = Field(min_length=1)
    spellings: Mapping[str, tuple[str, ...]] = {}


@dataclass(frozen=True)
class Cultures:
    """The cultures that are compared, with the spellings by which publishers name them."""

    levels: tuple[str, ...]  # from the most resources to the least
    countries: Mapping[str, Culture]
    spellings: Mapping[str, str]  # folded -> the name of a country
    groups: Mapping[str, str]  # folded -> the name of a level or a region

    def country(self, name: str) -> Culture | None:
        """The culture that a name means, under any spelling; None where there is none."""
        found = self.spellings.get(fold_name(name))
        return None if found is None else self.countries[found]

    def group(self, name: str) -> str | None:
        """The level or the region that a name means; None where there is none."""
        return self.groups.get(fold_name(name))

    @cached_property
    def regions(self) -> tuple[str, ...]:
        """The regions, in the order in which countries name them."""
        return tuple(dict.fromkeys(one.region for one in self.countries.values()))


def fold_name(name: str) -> str:
    """A name as names are compared: 'South_Korea' is 'south korea', 'the US' is 'us'."""
    return fold(name.replace("_", " ").replace("-", " ")).removeprefix("the ")


def read_cultures(file: Path | None = None) -> Cultures:
    """The cultures of a file, or the study's. Raises `DataSetError`, naming the file and what is wrong in it."""
    file = file or BUILT_IN
    try:
        told = _CultureFile.model_validate(read_toml(file, DataSetError))
    except ValidationError as fault:
        found = explain(fault, _CultureFile, f"Its form is that of {BUILT_IN}.")
        raise together(DataSetError(what, where=file, remedy=remedy) for what, remedy in found) from fault
    for country, one in told.countries.items():
        if one.level not in told.levels:
            what = f"countries.{country}: level {one.level!r} is none of {', '.join(told.levels)}"
            raise DataSetError(what, where=file, remedy="Name one of them, or add it to `levels`.")
    countries = {name: one.model_copy(update={"country": name}) for name, one in told.countries.items()}
    groups = [*told.levels, *dict.fromkeys(one.region for one in told.countries.values())]
    _check_spellings(file, told, groups)
    spelt = [(name, name) for name in countries]
    spelt += [(spelling, name) for name, one in told.countries.items() for spelling in one.spellings]
    grouped = [(name, name) for name in groups]
    grouped += [(spelling, name) for name, some in told.spellings.items() if name in groups for spelling in some]
    return Cultures(told.levels, countries, _folded(file, spelt), _folded(file, grouped))


def _check_spellings(file: Path, told: _CultureFile, groups: list[str]) -> None:
    unknown = sorted(set(told.spellings) - set(groups))
    if unknown:
        what = f"spellings: {unknown[0]!r} is neither a level nor a region of a country"
        raise DataSetError(what, where=file, remedy=f"There are {', '.join(groups)}.")


def _folded(file: Path, pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Spelling, folded -> name. Raises `DataSetError` where one spelling would mean two."""
    means = dict.fromkeys((fold_name(spelling), name) for spelling, name in pairs)
    twice = [spelling for spelling, count in Counter(spelling for spelling, _ in means).items() if count > 1]
    if twice:
        names = ", ".join(name for spelling, name in means if spelling == twice[0])
        raise DataSetError(
            f"{twice[0]!r} means several: {names}", where=file, remedy="Give each a spelling of its own."
        )
    return dict(iter(means))
