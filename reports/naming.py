"""Where the naming goes: origins of what is named in a country's own language, with and without the country's name.

A share is the mean over the topics that both sorts of prompts have, each cell with the same weight. Its interval is of
other samples of these prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from polyculture.metrics.inference.leave_one_out import Numbers
from polyculture.metrics.inference.limits import Estimate
from polyculture.metrics.inference.shares import mean_share, share_of
from polyculture.metrics.means import FEW_RESPONSES, FEWEST_RESPONSES
from polyculture.reports.names import Names
from polyculture.reports.section import ReportData

_SQL = Path(__file__).parent / "sql"
COLUMNS = (
    "model", "country", "language", "condition", "origin", "estimate", "low", "high", "no_interval", "cells",
    "incidences",
)  # fmt: skip
Found = Mapping[str, Estimate]  # by origin


def naming_frame(data: ReportData) -> pd.DataFrame:
    """The rows of `naming_shares` for the languages and countries of a run."""
    pairs = _native(data.manifest.languages, data.manifest.countries, data.names)
    return naming_shares(data.reading.frame(_SQL / "naming_responses.sql", native=pairs), data.names)


def _native(languages: Sequence[str], countries: Sequence[str], names: Names) -> list[str]:
    return [
        f"{language} {country}" for language in languages for country in countries if names.native(language, country)
    ]


def naming_shares(responses: pd.DataFrame, names: Names) -> pd.DataFrame:
    """A row per model, country, language, condition and origin from the rows of `sql/naming_responses.sql`.

    A row whose share is 0 is left out. A pair of a country and a language is there where both conditions share a topic.
    """
    found = [
        line
        for (model, language), group in responses.groupby(["model", "language"])
        for line in _shares(str(model), str(language), group, names)
    ]
    return pd.DataFrame(found, columns=pd.Index(COLUMNS))


def _shares(model: str, language: str, group: pd.DataFrame, names: Names) -> Iterator[dict[str, Any]]:
    cells = {cell: _cell(own) for cell, own in group.groupby("cell")}
    places = group.drop_duplicates("cell").set_index("cell")
    neutral = places[places["condition"] == "neutral"]
    for country in places["country"].dropna().unique():
        if not names.native(language, country):
            continue
        named = places[places["country"] == country]
        topics = set(named["topic"]) & set(neutral["topic"])
        for condition, own in (("neutral", neutral), ("explicit", named)):
            numbers = list(own.index[own["topic"].isin(topics)])
            items = group[group["cell"].isin(numbers)].groupby("origin")["numerator"].sum()
            for origin in items.index:
                share = mean_share(cells[cell].get(origin, cells[cell][""]) for cell in numbers)
                few = FEW_RESPONSES if share.told < FEWEST_RESPONSES else None
                limits = (None, None) if few else share.interval()
                row = (model, country, language, condition, origin, share.value, *limits, few)
                yield dict(zip(COLUMNS, (*row, len(numbers), int(items.sum())), strict=True))


def _cell(own: pd.DataFrame) -> Found:
    """The share of each origin in a cell; under '' that of an origin which no response of it names."""
    table = own.pivot_table(index=["prompt", "sample"], columns="origin", values="numerator", fill_value=0)
    sizes = own.groupby(["prompt", "sample"])["denominator"].first().reindex(table.index).to_numpy(dtype=float)
    columns: dict[str, Numbers] = {str(name): table[name].to_numpy(dtype=float) for name in table.columns}
    columns[""] = np.zeros(len(sizes))
    found = {name: share_of(numbers, sizes) for name, numbers in columns.items()}
    return {name: share for name, share in found.items() if share is not None}
