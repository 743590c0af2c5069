"""The numbers that hold a model's shares against the people's, overall and by category.

- `correlation`: Spearman's of the shares of groups, "no stereotype" left out
- `distance`: the mean absolute difference of the shares of all answers of a stereotype, then over stereotypes
- `no_stereotype`: the model's share of "no stereotype" less the people's
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import duckdb
import numpy as np

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.instruments.bbq.respondent.correlation import Measured, Numbers, mean, rank_correlation
from polyculture.instruments.bbq.respondent.layout import SURVEY
from polyculture.instruments.bbq.respondent.rows import SURVEY_NUMBERS, SurveyNumberRow
from polyculture.metrics.measured import measured

_SHARES = """
SELECT model, language, category, survey_id, is_none, people, share
FROM bbq_survey_shares WHERE share IS NOT NULL ORDER BY model, language, category, survey_id, is_none
"""


class Stereotype(NamedTuple):
    """Shares of the people and of a model: a row per group, and those of "no stereotype"."""

    category: str
    groups: Numbers
    none: Numbers


def measure_respondent(run: RunFolder) -> list[SurveyNumberRow]:
    """Writes and returns the numbers of a run. Raises `StoreError` where there is no run."""
    return measured(run, compose(CORE, SURVEY), SURVEY_NUMBERS, number_rows)


def number_rows(store: duckdb.DuckDBPyConnection) -> Iterator[SurveyNumberRow]:
    """Every number of every model and language."""
    for (model, language), rows in groupby(store.execute(_SHARES).fetchall(), key=lambda row: row[:2]):
        stereotypes = list(_stereotypes(rows))
        parts: dict[tuple[str, str | None], list[Stereotype]] = {("overall", None): stereotypes}
        for one in stereotypes:
            parts.setdefault(("category", one.category), []).append(one)
        for (part, name), some in parts.items():
            for metric, found in _numbers(some).items():
                yield SurveyNumberRow(
                    model, language, part, name, metric, found.estimate, found.low, found.high, found.lacking, len(some)
                )


def _stereotypes(rows: Iterator[Sequence[Any]]) -> Iterator[Stereotype]:
    for (category, _), some in groupby(rows, key=lambda row: row[2:4]):
        found = list(some)
        groups, none = (np.array([row[5:] for row in found if row[4] is kind], np.float64) for kind in (False, True))
        yield Stereotype(category, groups.reshape(-1, 2), none.reshape(-1, 2))


def _numbers(some: Sequence[Stereotype]) -> Mapping[str, Measured]:
    apart = [np.abs(np.diff(np.concatenate([one.groups, one.none]))).mean() for one in some]
    return {
        "correlation": rank_correlation([one.groups for one in some]),
        "distance": mean(np.array(apart), 0.0),
        "no_stereotype": mean(np.array([float(np.diff(one.none).sum()) for one in some]), -1.0),
    }
