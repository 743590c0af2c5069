"""A model as a respondent: its shares of answers held against those of the people that were asked the same.

`weights` of a question are the people that chose each option. A unit is a stereotype with its options, one witness.

- `correlation`: Spearman's of both sides' shares of groups ('unknown', that there is none, left out), in which every
  stereotype weighs alike however many groups it has; jackknife over stereotypes on Fisher's scale, Student's quantile
- `distance`: the mean absolute difference of the shares of a stereotype's options, then over stereotypes
- `no_stereotype`: the model's share of 'unknown' less the people's
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import duckdb
import numpy as np
from scipy import stats

from polyculture.cache.schema.measured import EVERY, Number
from polyculture.instruments.questions.model import UNKNOWN
from polyculture.instruments.questions.numbers.number import EMPTY
from polyculture.instruments.questions.numbers.uncertainty import Numbers
from polyculture.metrics.inference.intervals import FEW, student, symmetric

FEWEST = 10  # stereotypes for an interval
CONSTANT = "does not vary"
RESPONDENTS = 100
_LEVEL = "model, dataset, language, method, reader"
# A row is an option of a stereotype: the people that chose it, and the share of the answers that name something and
# name it. An answer names its picked option, and where all that fit are asked for others with it.
_SHARES = """
WITH named AS (
    SELECT language, model, reader, question_id, [picked] || coalesce(also, []) AS named
    FROM question_readings
    WHERE list_contains($datasets, dataset) AND method = 'generated' AND picked IS NOT NULL
),
answers AS (
    SELECT language, model, reader, question_id, count(*) AS answers FROM named GROUP BY ALL
),
votes AS (
    SELECT language, model, reader, question_id, option, count(*) AS votes
    FROM (SELECT * EXCLUDE named, unnest(named) AS option FROM named)
    GROUP BY ALL
),
options AS (
    SELECT
        question_id, unit, facets['category'] AS category, facets['form'] AS form, unnest(roles) AS role,
        unnest(weights) AS people, unnest(generate_series(0, len(options) - 1)) AS option
    FROM questions
    WHERE list_contains($datasets, set) AND len(weights) = len(options)
)
SELECT
    a.language, a.model, a.reader, o.category, o.form, o.unit, o.role, o.people / $respondents AS people,
    coalesce(v.votes, 0) / a.answers AS share
FROM answers AS a
INNER JOIN options AS o USING (question_id)
LEFT JOIN votes AS v USING (language, model, reader, question_id, option)
ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """A number with its 95 % interval over stereotypes."""

    estimate: float | None
    low: float | None = None
    high: float | None = None
    lacking: str | None = None


class Stereotype(NamedTuple):
    """Shares of the people and of a model: a row per group, and one of 'unknown'."""

    groups: Numbers
    none: Numbers


def survey_numbers(store: duckdb.DuckDBPyConnection, datasets: Sequence[str], inputs: str) -> Iterator[Number]:
    """Every number of every language, model and reader: over all stereotypes, by category, and by form.

    The forms of one survey are sets of their own, and one survey: its numbers have the shortest of their names.
    """
    dataset = min(datasets, key=len)
    rows = store.execute(_SHARES, {"datasets": list(datasets), "respondents": RESPONDENTS}).fetchall()
    for (language, model, reader), of_study in groupby(rows, key=lambda row: row[:3]):
        parts: dict[tuple[str, str], list[Stereotype]] = {(EVERY, ""): []}  # category and form
        for (category, form, _), some in groupby(of_study, key=lambda row: row[3:6]):
            found = list(some)
            groups, none = (
                np.array([row[7:] for row in found if (row[6] == UNKNOWN) is kind], np.float64).reshape(-1, 2)
                for kind in (False, True)
            )
            for part in ((EVERY, ""), (category, ""), (EVERY, form)):
                parts.setdefault(part, []).append(Stereotype(groups, none))
        for (category, form), stereotypes in parts.items():
            for metric, one in measured(stereotypes).items():
                yield replace(
                        EMPTY,
                    metric=metric, level=_LEVEL if category == EVERY else f"{_LEVEL}, topic", model=model,
                    dataset=dataset, language=language, topic=category, method="generated", reader=reader,
                    facets={"form": form} if form else {}, estimate=one.estimate,
                    no_estimate=one.lacking if one.estimate is None else None, low=one.low, high=one.high,
                    no_interval=one.lacking, units=len(stereotypes), n=len(stereotypes), inputs=inputs,
                    method_of_interval="jackknife over stereotypes" if metric == "correlation" else "Student's t",
                )  # fmt: skip


def measured(some: Sequence[Stereotype]) -> Mapping[str, Measured]:
    """The numbers of some stereotypes."""
    apart = [np.abs(np.diff(np.concatenate([one.groups, one.none]))).mean() for one in some]
    return {
        "correlation": rank_correlation([one.groups for one in some]),
        "distance": mean(np.array(apart), 0.0),
        "no_stereotype": mean(np.array([float(np.diff(one.none).sum()) for one in some]), -1.0),
    }


def rank_correlation(pairs: Sequence[Numbers]) -> Measured:
    """Spearman's correlation; each of `pairs` is a stereotype's groups, as rows of two shares."""
    whole = spearman(pairs)
    if whole is None:
        return Measured(None, lacking=CONSTANT)
    size = len(pairs)
    if size < FEWEST or abs(whole) >= 1:
        return Measured(whole, lacking=FEW if size < FEWEST else CONSTANT)
    without = [spearman([*pairs[:place], *pairs[place + 1 :]]) for place in range(size)]
    if any(one is None or abs(one) >= 1 for one in without):
        return Measured(whole, lacking=FEW)
    turned = np.arctanh(np.array(without, np.float64))
    error = float(np.sqrt((size - 1) / size * ((turned - turned.mean()) ** 2).sum()))
    far = student(size - 1) * error
    low, high = np.tanh(np.arctanh(whole) + np.array([-far, far]))
    return Measured(whole, float(low), float(high))


def spearman(pairs: Sequence[Numbers]) -> float | None:
    """The correlation alone; None where one side does not vary, or there is nothing."""
    if not pairs:
        return None
    both = np.concatenate(pairs)
    weights = np.concatenate([np.full(len(one), 1 / len(one)) for one in pairs])
    ranks = np.stack([stats.rankdata(side) for side in both.T])
    centred = ranks - np.average(ranks, axis=1, weights=weights)[:, np.newaxis]
    (one, shared), (_, other) = (weights * centred) @ centred.T
    if one <= 0 or other <= 0:
        return None
    return float(np.clip(shared / np.sqrt(one * other), -1, 1))


def mean(values: Numbers, lowest: float) -> Measured:
    """The mean over stereotypes; `lowest` and 1 are its ends."""
    size = len(values)
    if not size:
        return Measured(None, lacking=FEW)
    value = float(values.mean())
    if size < FEWEST:
        return Measured(value, lacking=FEW)
    variance = float(values.var(ddof=1)) / size
    if not variance:
        return Measured(value, lacking=CONSTANT)
    return Measured(value, *symmetric(value, variance, size - 1).limits(lowest, 1.0))
