"""Flattening beside what else is known of a model: Spearman's correlation over the countries that both are about."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.folding import fold
from polyculture.metrics.intervals.correlation import Correlation, correlation

_OWN = Path(__file__).parent
FLATTENING, OTHERS = _OWN / "culture_flattening.sql", _OWN / "other_numbers.sql"
FEWEST = 8  # shared countries: of fewer, none below .73 has p < .05, and one country decides
_UNIT = ("model", "dataset", "language", "filter", "direction")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Beside:
    """The correlation of flattening with another number over shared countries, or the reason why there is none."""

    model: str
    dataset: str
    language: str  # that the probe was asked in
    filter: str
    direction: str  # 'leans on others' | 'others lean on it'
    number: str
    countries: int  # that both are about
    spearman: float | None
    low: float | None  # of the 95 % interval
    high: float | None
    p: float | None
    reason: str | None  # why there is no correlation


def beside(flattening: Sequence[Row], others: Sequence[Row], catalog: Catalog) -> Iterator[Beside]:
    """A row for each direction of each unit and each other number of the model, of texts in the same language alone."""
    names = country_names(catalog)
    for key, some in groupby(flattening, key=lambda row: tuple(row[name] for name in _UNIT)):
        own = by_country([(row["culture"], row["flattening"]) for row in some], names)
        model, _, language, *_ = key
        for number in dict.fromkeys(row["number"] for row in others if row["model"] == model):
            theirs = by_country(
                [
                    (row["place"], row["value"])
                    for row in others
                    if row["model"] == model and row["number"] == number and row["language"] in (None, language)
                ],
                names,
            )
            shared = sorted(own.keys() & theirs.keys())
            yield _compared(key, number, [own[one] for one in shared], [theirs[one] for one in shared])


def _compared(key: Sequence[str], number: str, own: Sequence[float], theirs: Sequence[float]) -> Beside:
    model, dataset, language, name, direction = key
    nothing = Correlation(None, None, None, None, len(own))
    found = correlation(own, theirs) if len(own) >= FEWEST else nothing
    reason = None
    if len(own) < FEWEST:
        reason = f"{len(own)} shared countries: fewer than {FEWEST}"
    elif found.spearman is None:
        reason = "a number is the same for all"
    return Beside(
        model=model, dataset=dataset, language=language, filter=name, direction=direction, number=number,
        countries=len(own), spearman=found.spearman, low=found.low, high=found.high,
        p=found.p, reason=reason,
    )  # fmt: skip


def by_country(values: Sequence[tuple[str, float]], names: Mapping[str, str]) -> dict[str, float]:
    """The mean value of each country; names that mean no country are left out."""
    found: dict[str, list[float]] = {}
    for name, value in values:
        if country := names.get(_plain(name)):
            found.setdefault(country, []).append(value)
    return {country: sum(some) / len(some) for country, some in found.items()}


def country_names(catalog: Catalog) -> dict[str, str]:
    """Folded names of cultures -> the code of the country that they mean: codes, names of the catalogue, peoples."""
    spellings = tomllib.loads((_OWN / "culture_countries.toml").read_text(encoding="utf-8"))
    codes = {_plain(code): code for code in catalog.countries}
    named = {_plain(country.name): code for code, country in catalog.countries.items()}
    return {**codes, **named, **{_plain(name): code for code, some in spellings.items() for name in some}}


def _plain(name: str) -> str:
    return fold(name.replace("_", " ")).removeprefix("the ")
