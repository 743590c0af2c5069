"""The metrics corrected for errors of extraction and linking, as estimated from a judged sample.

The sample estimates, per language, the difference between a metric from the machine's labels and the same metric from
the judge's (of a count their ratio). The difference is applied to the number of the whole run. This is
prediction-powered inference (Angelopoulos et al. 2023, Science 382, 669) with responses as units. The machine's labels
contribute precision, the judge's the truth. The interval includes the uncertainty of both.

A declared metric says by what it is `judged` (`metrics.declared`):

- labels: the judge's mean label of right mentions, less the machine's mean label of all judged mentions; of linked
  mentions, each item counted once per response
- links: the share of the prompt's country (where prompts name it) of right links, less that of all links of judged
  mentions; likewise
- count: the share of right items among the linked items of a cell, each item counted once

A wrong mention is no entity, whatever the judgement of its link. Right mentions without a judged link are assumed to
be like those with one.

Disputed mentions count by halves, as in precision and recall. The interval then spans all readings. Its lower limit
reads every disputed mention for the lowest metric, its upper limit for the highest.

Limits: missed mentions have no label here, and errors are assumed equal for all models and topics of a language. Where
the whole corrected interval of a model lies outside the metric's range, that assumption is wrong, and its number is
not corrected. An overlap of languages is not corrected: this would need judgements of both languages on the same items.

In a difference each side is corrected by the shift of each of its languages, with the weight that the language has in
the side. The shift is one of a language: between models, conditions or countries in the same languages both sides move
alike, so that only sides of different languages are corrected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store
from polyculture.metrics.audit.names import names_shifts
from polyculture.metrics.audit.shift import JUDGED, Shift
from polyculture.metrics.comparison.compare import ComparisonRow, LanguageShare
from polyculture.metrics.declared import DECLARED, RANGES, JudgedPart, Metric, is_count, is_per_country
from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.family import HIGHER, LOWER
from polyculture.metrics.inference.limits import WilsonEstimate, Z, student

_SQL = Path(__file__).with_name("sql")
FEWEST = 10  # judged responses; with fewer, nothing is corrected
READINGS = ("half", "least", "most")  # of what judges differ on


BETWEEN_LANGUAGES = ("language", "native")
Shifts = Mapping[tuple[str, str], Sequence[Shift]]
Side = tuple[float, float, float]  # a side's number, corrected, and the sample's uncertainty below and above it


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """A mean of a model and language: as reported, and corrected.

    The corrected numbers are None where the judged sample is too small. `refuted`: the model cannot have the errors of
    its language. Without a reported interval the corrected number has none: its interval would hold the sample's
    uncertainty alone.
    """

    metric: str
    model: str
    language: str
    reported: float
    reported_low: float | None
    reported_high: float | None
    corrected: float | None
    low: float | None
    high: float | None
    units: int  # judged responses, or audited gold texts
    rests_on: str = JUDGED
    refuted: bool = False
    no_interval: str | None = None  # why the reported number has none


def corrected_metrics(store: Store) -> list[CorrectedMean]:
    """The metrics that judgements correct, or the audit of names, of every model and language that has either."""
    shifts = audited_shifts(store)
    rows = store.execute(read_sql(_SQL, "reported")).fetchall()
    return [
        replace(
            _corrected(metric, model, language, estimate, low, high, *shifts[language, metric]), no_interval=no_interval
        )
        for metric, model, language, estimate, low, high, no_interval in rows
        if (language, metric) in shifts
    ]


def _corrected(
    metric: str,
    model: str,
    language: str,
    value: float,
    low: float | None,
    high: float | None,
    shift: Shift,
    *readings: Shift,
) -> CorrectedMean:
    """A mean corrected by `shift`; the interval also spans those by the shifts of other `readings`."""
    nothing = CorrectedMean(metric, model, language, value, low, high, None, None, None, shift.units, shift.rests_on)
    shifts = (shift, *readings)
    if not _tells(shifts):
        return nothing
    lowest, highest = RANGES[metric]
    limits = [_limits(metric, value, low, high, one) for one in shifts]
    lower, upper = min(one[0] for one in limits), max(one[1] for one in limits)
    if lower > highest or upper < lowest:
        return replace(nothing, refuted=True)
    point = min(max(_shifted(metric, value, shift), lowest), highest)
    if low is None or high is None:
        return replace(nothing, corrected=point)
    return replace(nothing, corrected=point, low=max(lower, lowest), high=min(upper, highest))


def _shifted(metric: str, value: float, shift: Shift) -> float:
    return value * shift.value if is_count(metric) else value + shift.value


def _limits(metric: str, value: float, low: float | None, high: float | None, shift: Shift) -> tuple[float, float]:
    """The limits of a corrected number: the uncertainties of the number and of the shift are independent."""
    corrected = _shifted(metric, value, shift)
    scale, unit = (shift.value, value) if is_count(metric) else (1.0, 1.0)
    below, above = (0.0 if limit is None else abs(limit - value) * scale for limit in (low, high))
    return corrected - math.hypot(below, shift.below * unit), corrected + math.hypot(above, shift.above * unit)


def _tells(shifts: Sequence[Shift]) -> bool:
    """Is the sample large enough to correct a number?"""
    return bool(shifts) and shifts[0].units >= FEWEST and not any(math.isnan(one.value) for one in shifts)


def audited_shifts(store: Store) -> Shifts:
    """Per language and metric: what judges of the run say where they judged enough of it, else what the audit of the
    extractor's names says."""
    judged = judged_shifts(store)
    return {**judged, **{key: shifts for key, shifts in names_shifts(store).items() if not _tells(judged.get(key, ()))}}


def judged_shifts(store: Store) -> dict[tuple[str, str], tuple[Shift, ...]]:
    """Per language and metric: the shift with disputed mentions counted by halves, then those of other readings."""
    columns = store.execute(read_sql(_SQL, "judged")).fetchnumpy()
    table = {
        name: np.asarray(np.ma.filled(values, np.nan) if name == "weight" else values)
        for name, values in columns.items()
    }
    found = {}
    for language in sorted(set(table["language"])):
        for metric in (one for one in DECLARED if one.judged):
            own = table["language"] == language, table["judged"] == metric.judged
            rows = [
                {name: values[np.logical_and(*own) & (table["reading"] == reading)] for name, values in table.items()}
                for reading in READINGS
            ]
            found[str(language), metric.name] = tuple(_of_metric(one, metric) for one in rows)
    return found


def _of_metric(rows: Mapping[str, NDArray[Any]], metric: Metric) -> Shift:
    parts, of = _PARTS[metric.judged]
    return _shift(rows["response_id"], parts(rows), of)


def _labels(rows: Mapping[str, NDArray[Any]]) -> list[Floats]:
    made, right = (_numbers(rows["linked"]) * _numbers(rows[name]) for name in ("once", "once_right"))
    true = [right * _numbers(rows[name]) for name in ("right_specific", "is_right")]
    return [*true, made * _numbers(rows["label"]), made]


def _links(rows: Mapping[str, NDArray[Any]]) -> list[Floats]:
    asked, associated = _numbers(rows["linked"]) * _numbers(rows["explicit"]), _numbers(rows["associated"])
    made = asked * _numbers(rows["once"])
    true = asked * _numbers(rows["once_linked"]) * _numbers(rows["link_right"])
    return [true * associated, true, made * associated, made]


def _right_items(rows: Mapping[str, NDArray[Any]]) -> list[Floats]:
    made = _numbers(rows["linked"]) * _numbers(rows["weight"])
    return [made * _numbers(rows[name]) for name in ("link_right", "link_judged", "is_right")] + [made]


def _numbers(values: NDArray[Any]) -> Floats:
    return np.nan_to_num(np.asarray(np.ma.filled(np.ma.asarray(values, dtype=float), 0.0)))


def _difference(sums: Floats) -> Floats:
    return np.asarray(sums[0] / sums[1] - sums[2] / sums[3])


def _right_share(sums: Floats) -> Floats:
    """The share of right links among judged ones of right mentions, times that of right mentions; 0 without any."""
    return np.where(sums[2] == 0, 0.0, sums[0] / sums[1] * sums[2] / sums[3])


_PartContributions = Callable[[Mapping[str, NDArray[Any]]], list[Floats]]
_PARTS: Mapping[JudgedPart | None, tuple[_PartContributions, Callable[[Floats], Floats]]] = {
    "labels": (_labels, _difference),
    "links": (_links, _difference),
    "count": (_right_items, _right_share),
}


def _shift(response: NDArray[Any], parts: Sequence[Floats], of: Callable[[Floats], Floats] = _difference) -> Shift:
    """A function of sums over mentions, with its limits by the jackknife over the responses that hold any.

    The variance depends on the truth, so that a sample without errors still has uncertainty. Errors are clustered in
    responses as in the sample, and in one further response that is wrong throughout, in either direction.
    """
    _, owner = np.unique(response, return_inverse=True)
    per_response = np.array([np.bincount(owner, weights=part) for part in parts])
    per_response = per_response[:, per_response[-1] > 0]
    size, total = per_response.shape[1], per_response.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(of(total)) if size else math.nan
        without_one = of(total[:, None] - per_response)
    known = without_one[np.isfinite(without_one)]
    if size < 2 or len(known) < size:
        return Shift(math.nan, math.nan, math.nan, size)
    changes, rare = known.mean() - known, 1 / size
    variance, third = (size - 1) / size * float((changes**2).sum()), float((changes**3).sum())
    slopes = ((third + more) / (variance + rare**2) for more in (-(rare**3), rare**3))
    variance *= (student(size - 1) / Z) ** 2 * (1 + Z**2 * rare)  # itself an estimate, and none of Wilson's narrowing
    below, above = (WilsonEstimate(value, variance, math.inf, slope, rare).distances(Z) for slope in slopes)
    return Shift(value, below[0], above[1], size)


def with_judges(rows: Sequence[ComparisonRow], store: Store) -> list[ComparisonRow]:
    """The rows, with the corrected difference where judges, or an audit of names, tell it of all languages."""
    if not between_languages(rows) or not is_audited(store):
        return list(rows)
    shifts = audited_shifts(store)
    return [_corrected_row(row, shifts) for row in rows]


def between_languages(rows: Sequence[ComparisonRow]) -> bool:
    """Whether any of the rows has sides of different languages."""
    return any(row.difference.dimension in BETWEEN_LANGUAGES for row in rows)


def is_audited(store: Store) -> bool:
    """Whether people judged mentions of the run, or the names that its extractor gives were audited."""
    return any(store.sql(f"SELECT 1 FROM {view} LIMIT 1").fetchall() for view in ("judgements", "audited_texts"))  # noqa: S608


def turned(row: ComparisonRow) -> bool:
    """Whether judged errors leave nothing of what the row says: corrected, its interval does not lie on its side."""
    told = row.difference
    if told.verdict not in (HIGHER, LOWER) or told.corrected_low is None or told.corrected_high is None:
        return False
    return told.corrected_low <= 0 if told.verdict == HIGHER else told.corrected_high >= 0


def _corrected_row(row: ComparisonRow, shifts: Shifts) -> ComparisonRow:
    told = row.difference
    if told.dimension not in BETWEEN_LANGUAGES or told.difference is None:
        return row
    if is_per_country(told.metric) and told.condition != "explicit":  # of the prompts that are corrected
        return row
    sides = [_readings(told.metric, languages, shifts) for languages in row.languages]
    if not all(sides):
        return row
    lowest, highest = RANGES[told.metric][0] - RANGES[told.metric][1], RANGES[told.metric][1] - RANGES[told.metric][0]
    of_a, of_b = (readings[0] for readings in sides)
    found = replace(told, corrected=min(max(of_a[0] - of_b[0], lowest), highest))
    if told.low is None or told.high is None:
        return replace(row, difference=found)
    below, above = told.difference - told.low, told.high - told.difference
    if is_count(told.metric):  # a ratio moves the spread of the number, too
        scale = max(_ratio(of_a, told.a_estimate), _ratio(of_b, told.b_estimate))
        below, above = below * scale, above * scale
    pairs = list(product(*sides))
    low = min(a[0] - b[0] - math.hypot(below, a[1], b[2]) for a, b in pairs)
    high = max(a[0] - b[0] + math.hypot(above, a[2], b[1]) for a, b in pairs)
    found = replace(found, corrected_low=max(low, lowest), corrected_high=min(high, highest))
    return replace(row, difference=found)


def _readings(metric: str, languages: Mapping[str, LanguageShare], shifts: Shifts) -> list[Side]:
    """A side under each reading of what judges differ on; nothing where a language has too few judgements."""
    of = [(shifts.get((language, metric), ()), weight, part) for language, (weight, part) in languages.items()]
    if not all(_tells(own) for own, *_ in of):
        return []
    ratio = is_count(metric)
    found: list[Side] = []
    for reading in range(len(READINGS)):
        value, below, above = 0.0, 0.0, 0.0
        for own, weight, part in of:
            shift, unit = own[reading], part if ratio else weight
            value += part * shift.value if ratio else part + weight * shift.value
            below, above = math.hypot(below, unit * shift.below), math.hypot(above, unit * shift.above)
        found.append((value, below, above))
    return found


def _ratio(corrected: Side, reported: float | None) -> float:
    return corrected[0] / reported if reported else 1.0
