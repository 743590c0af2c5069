"""A model as a respondent: of whom it holds a stereotype, beside the people that were asked the same (KoBBQ, 5.2).

`weights` of a question are the people that chose each option. A unit is a stereotype with its options, one witness. The
answers that name something count; where all that fit are asked for, an answer names several options.

Of all stereotypes, and by category and form:
- `correlation`: Spearman's of both sides' shares of groups ('unknown', that there is none, left out), in which every
  stereotype weighs alike however many groups it has; jackknife over stereotypes on Fisher's scale, Student's quantile
- `distance`: the mean absolute difference of the shares of a stereotype's options, then over stereotypes
- `no_stereotype`: the model's share of 'unknown' less the people's

Of stereotypes that ask for all that fit, and by label of template. People hold one of the groups with at least twice
the votes of an equal share over all options (3.2.5); without such a group it is left out, as there:
- `exact_match`: the share of answers that name just these groups; stereotypes count alike
- `f1`: F1 of each group over stereotypes, whether it is named where people hold it; the mean over groups that are held
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import duckdb
import numpy as np
from scipy import stats

from polyculture.cache.schema.measured import EVERY, Number
from polyculture.instruments.questions.layout import EMPTY
from polyculture.instruments.questions.model import UNKNOWN
from polyculture.instruments.questions.numbers.uncertainty import Numbers
from polyculture.metrics.inference.limits import FEW, student, symmetric

FEWEST = 10  # stereotypes for an interval
CONSTANT = "does not vary"
RESPONDENTS = 100
TIMES = 2.0  # an equal share of the votes: from here on a group is held
SEVERAL = "several"  # the form that asks for all that fit
_LEVEL = "model, dataset, language, method, reader"
_JACKKNIFE, _STUDENT = "jackknife over stereotypes", "Student's t"
_ANSWERS = """
SELECT
    r.language, r.model, r.reader, q.set, coalesce(q.facets['category'], '') AS category,
    coalesce(q.facets['form'], '') AS form, q.unit, coalesce(q.facets['label'], '') AS label, q.options, q.roles,
    q.weights, [picked] || coalesce(also, []) AS named
FROM question_readings AS r
INNER JOIN questions AS q ON q.question_id = r.question_id AND q.set = r.dataset
WHERE list_contains($datasets, r.dataset) AND r.method = 'generated' AND picked IS NOT NULL
    AND len(q.weights) = len(q.options)
ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """A number with its 95 % interval over stereotypes."""

    estimate: float | None
    low: float | None = None
    high: float | None = None
    lacking: str | None = None


@dataclass(frozen=True)
class Stereotype:
    """What people and a model say of whom a stereotype is held."""

    dataset: str
    category: str
    form: str
    unit: str
    label: str  # of its template; '' where there are several
    options: Sequence[str]
    roles: Sequence[str]
    votes: Sequence[float]
    answers: Sequence[frozenset[int]]  # the options that each answer names

    @cached_property
    def shares(self) -> Numbers:
        """The people's and the model's share of each option."""
        named = [sum(place in one for one in self.answers) / len(self.answers) for place in range(len(self.options))]
        return np.stack([np.array(self.votes) / RESPONDENTS, named], axis=1)

    def shares_of(self, *, groups: bool) -> Numbers:
        """The shares of the groups, or of the option that there is no such stereotype."""
        return self.shares[[(role != UNKNOWN) is groups for role in self.roles]]

    @cached_property
    def held(self) -> frozenset[str]:
        """The groups that people hold it of."""
        least = TIMES * sum(self.votes) / len(self.votes)
        return self._groups(frozenset(place for place, count in enumerate(self.votes) if count >= least > 0))

    @cached_property
    def named(self) -> list[frozenset[str]]:
        """The groups that each answer names."""
        return [self._groups(one) for one in self.answers]

    def _groups(self, places: frozenset[int]) -> frozenset[str]:
        return frozenset(self.options[place] for place in places if self.roles[place] != UNKNOWN)


def survey_numbers(store: duckdb.DuckDBPyConnection, datasets: Sequence[str], inputs: str) -> Iterator[Number]:
    """Every number of every language, model and reader.

    The forms of one survey are sets of their own, and one survey: what is of all forms has the shortest of their names.
    """
    whole = min(datasets, key=len)
    rows = store.execute(_ANSWERS, {"datasets": list(datasets)}).fetchall()
    for (language, model, reader), of_study in groupby(rows, key=lambda row: row[:3]):
        place = replace(
            EMPTY, level=_LEVEL, model=model, language=language, method="generated", reader=reader, inputs=inputs
        )
        every: dict[tuple[str, str], list[Stereotype]] = defaultdict(list)  # category and form
        several: dict[tuple[str, str], list[Stereotype]] = defaultdict(list)  # set and label
        for one in _stereotypes(of_study):
            for part in dict.fromkeys(((EVERY, ""), (one.category, ""), (EVERY, one.form))):
                every[part].append(one)
            if one.form == SEVERAL and one.held:
                for label in dict.fromkeys(("", one.label)):
                    several[one.dataset, label].append(one)
        for (category, form), some in every.items():
            level = _LEVEL if category == EVERY else f"{_LEVEL}, topic"
            facets = {"form": form} if form else {}
            own = replace(place, dataset=whole, topic=category, level=level, facets=facets, n=len(some))
            yield from _rows(own, some, compared(some))
        for (dataset, label), some in several.items():
            n = sum(len(one.answers) for one in some)
            own = replace(place, dataset=dataset, facets={"label": label} if label else {}, n=n)
            yield from _rows(own, some, agreement(some))


def _stereotypes(rows: Iterator[tuple[Any, ...]]) -> Iterator[Stereotype]:
    for _, some in groupby(rows, key=lambda row: row[3:8]):
        answers = list(some)
        dataset, category, form, unit, label, options, roles, votes, _ = answers[0][3:]
        named = [frozenset(row[-1]) for row in answers]
        yield Stereotype(dataset, category, form, unit, label, options, roles, votes, named)


def _rows(place: Number, some: Sequence[Stereotype], found: Mapping[str, Measured]) -> Iterator[Number]:
    for metric, one in found.items():
        yield replace(
            place, metric=metric, estimate=one.estimate, no_estimate=one.lacking if one.estimate is None else None,
            low=one.low, high=one.high, no_interval=one.lacking, units=len(some),
            method_of_interval=_JACKKNIFE if metric in ("correlation", "f1") else _STUDENT,
        )  # fmt: skip


def compared(some: Sequence[Stereotype]) -> Mapping[str, Measured]:
    """The model's shares beside the people's."""
    apart = [np.abs(np.diff(one.shares)).mean() for one in some]
    none = [float(np.diff(one.shares_of(groups=False)).sum()) for one in some]
    return {
        "correlation": rank_correlation([one.shares_of(groups=True) for one in some]),
        "distance": mean(np.array(apart), 0.0),
        "no_stereotype": mean(np.array(none), -1.0),
    }


def agreement(some: Sequence[Stereotype]) -> Mapping[str, Measured]:
    """The groups that answers name beside those that people hold the stereotypes of."""
    exact = [np.mean([named == one.held for named in one.named]) for one in some]
    return {"exact_match": mean(np.array(exact), 0.0), "f1": group_f1(some)}


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
    far = student(size - 1) * np.sqrt(_jackknife(np.arctanh(np.array(without, np.float64))))
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


def group_f1(some: Sequence[Stereotype]) -> Measured:
    """The mean over groups of their F1, with a jackknife over stereotypes."""
    whole = _f1(some)
    if len(some) < FEWEST:
        return Measured(whole, lacking=FEW)
    variance = _jackknife(np.array([_f1([*some[:place], *some[place + 1 :]]) for place in range(len(some))]))
    return Measured(whole, *symmetric(whole, variance, len(some) - 1).limits(0.0, 1.0))


def _f1(some: Sequence[Stereotype]) -> float:
    counts: Mapping[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])  # group -> held and named, named, held
    for one in some:
        for group in one.held.union(*one.named):
            named = sum(group in answer for answer in one.named) / len(one.named)
            held = float(group in one.held)
            for place, more in enumerate((held * named, named, held)):
                counts[group][place] += more
    return float(np.mean([2 * both / (named + held) for both, named, held in counts.values() if held]))


def _jackknife(without: Numbers) -> float:
    """The variance of a number from its values without each stereotype."""
    return (len(without) - 1) / len(without) * float(((without - without.mean()) ** 2).sum())
