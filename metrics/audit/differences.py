"""Differences corrected for errors of extraction and linking, as people's judgements of a sample tell them.

Each side is corrected as `corrected.py` corrects a number: by the shift of each of its languages, with the weight that
the language has in the side. The shift is one of a language: between models, conditions or countries in the same
languages both sides move alike, so that only sides of different languages are corrected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import duckdb

from polyculture.metrics.audit.corrected import FEWEST, READINGS, Shift, judged_shifts
from polyculture.metrics.comparison.compare import Part, Row
from polyculture.metrics.inference.family import HIGHER, LOWER
from polyculture.metrics.responses import RANGES, is_count

BETWEEN_LANGUAGES = ("language", "native")
Shifts = Mapping[tuple[str, str], Sequence[Shift]]
Side = tuple[float, float, float]  # a side's number, corrected, and the sample's uncertainty below and above it


def with_judges(rows: Sequence[Row], store: duckdb.DuckDBPyConnection) -> list[Row]:
    """The rows, with the corrected difference where a judged sample of all languages of both sides tells it."""
    if not between_languages(rows) or not is_judged(store):
        return list(rows)
    shifts = judged_shifts(store)
    return [_corrected(row, shifts) for row in rows]


def between_languages(rows: Sequence[Row]) -> bool:
    """Whether any of the rows has sides of different languages."""
    return any(row.difference.dimension in BETWEEN_LANGUAGES for row in rows)


def is_judged(store: duckdb.DuckDBPyConnection) -> bool:
    """Whether people judged mentions of the run."""
    return bool(store.execute("SELECT 1 FROM judgements LIMIT 1").fetchall())


def turned(row: Row) -> bool:
    """Whether judged errors leave nothing of what the row says: corrected, its interval does not lie on its side."""
    told = row.difference
    if told.verdict not in (HIGHER, LOWER) or told.corrected_low is None or told.corrected_high is None:
        return False
    return told.corrected_low <= 0 if told.verdict == HIGHER else told.corrected_high >= 0


def _corrected(row: Row, shifts: Shifts) -> Row:
    told = row.difference
    if told.dimension not in BETWEEN_LANGUAGES or told.difference is None:
        return row
    if told.metric == "specificity" and told.condition != "explicit":  # of the prompts that are corrected
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


def _readings(metric: str, languages: Mapping[str, Part], shifts: Shifts) -> list[Side]:
    """A side under each reading of what judges differ on; nothing where a language has too few judgements."""
    of = [(shifts.get((language, metric), ()), weight, part) for language, (weight, part) in languages.items()]
    if not all(own and own[0].responses >= FEWEST and not any(math.isnan(one.value) for one in own) for own, *_ in of):
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
