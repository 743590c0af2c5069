"""Paired differences: native against other languages, and models against each other, with p and q."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.metrics.comparison.compare import METRICS, NATIVE, ComparisonRow, Sides, compare, lay_out_native
from polyculture.metrics.comparison.effect import Effect, adjusted
from polyculture.metrics.comparison.selection import select
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, difference, known, probability
from polyculture.reports.reading import Reading
from polyculture.reports.section import ReportData
from polyculture.reports.sections import COMPARISONS
from polyculture.reports.texts import texts

AT_A_GLANCE = "native by model"  # the family that the opening shows
LEVEL = 0.05  # a smaller q is printed in bold
COLUMNS = (
    "family", "a", "b", "model", "country", "metric", "condition", "mean_a", "mean_b", "difference", "low", "high", "p",
    "q", "pairs", "blocks", "missing", "no_interval", "lowest", "highest",
    "q_report", "finding", "finding_low", "finding_high", "finding_level",
)  # fmt: skip
_OF_EFFECT = ("difference", "low", "high", "p", "pairs", "blocks", "no_interval")


@dataclass(frozen=True, slots=True)
class FormattedDifference:
    """A difference to print, with its interval, p, q and number of pairs; or the reason why there is none."""

    value: str | None
    interval: str | None
    missing: str | None  # why there is no number, or no interval
    p: str
    q: str
    pairs: str
    blocks: str
    notes: str
    clear: bool  # q is below `LEVEL`


@dataclass(frozen=True, slots=True)
class ComparisonLine:
    """A line of a table: what was compared, in which metric, under which condition (empty for all)."""

    label: str
    metric: str
    condition: str
    found: FormattedDifference


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """A table of differences, a line each. q is per table."""

    title: str
    says: str
    lines: tuple[ComparisonLine, ...]


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The context of the section: each table with the heading of its lines."""

    tables: tuple[tuple[ComparisonTable, str], ...]


def build(data: ReportData) -> Comparisons | None:
    """The context of the section; None where nothing could be compared."""
    found = comparisons(data.frame(COMPARISONS), data.manifest, data.names)
    lines = {family: "Models" if family == "models" else "Country" for family in found if family != AT_A_GLANCE}
    return Comparisons(tuple((found[family], line) for family, line in lines.items())) if found else None


def comparison_frame(data: ReportData) -> pd.DataFrame:
    """The numbers of `polyculture compare`; a row is a metric of two sides, in the order of the page.

    `family` says over which rows p was adjusted: 'native by model' and 'native by country' are `compare --native --by
    model` and `--by country`; 'models' is of all pairs of models together. `q_report` is over all rows. `finding`
    numbers those that the opening shows, with intervals that allow for their having been picked (`select`).
    """
    reading, manifest, names = data.reading, data.manifest, data.names
    found = [
        *_native(reading, manifest, names, "model"),
        *_native(reading, manifest, names, "country"),
        *_models(reading, manifest),
    ]
    return pd.DataFrame(_picked(found), columns=list(COLUMNS))


def _picked(found: Sequence[tuple[dict[str, Any], Effect | None]]) -> list[dict[str, Any]]:
    """The rows of all families as one, with what stands out of it."""
    rows, effects = [row for row, _ in found], [effect for _, effect in found]
    chosen = select(effects, [(row["family"].partition(" ")[0], row["metric"]) for row in rows])
    for row, q in zip(rows, adjusted([effect.p if effect else None for effect in effects]), strict=True):
        row["q_report"] = q
    for number, at in enumerate(chosen.picked, start=1):
        effect, level = effects[at], chosen.level
        low, high = (effect.at(level) if effect and level else None) or (None, None)
        rows[at] |= {"finding": number, "finding_low": low, "finding_high": high, "finding_level": level}
    return rows


def comparisons(frame: pd.DataFrame, manifest: Manifest, names: Names) -> dict[str, ComparisonTable]:
    """The tables of `comparison_frame`, by family; one without rows is left out."""
    rows = [{str(key): known(value) for key, value in row.items()} for row in frame.to_dict("records")]
    families = {family: [row for row in rows if row["family"] == family] for family in texts().comparisons}
    there = {family: own for family, own in families.items() if any(row["pairs"] for row in own)}
    return {family: _table(family, own, manifest, names) for family, own in there.items()}


def _native(
    reading: Reading, manifest: Manifest, names: Names, by: str
) -> Iterator[tuple[dict[str, Any], Effect | None]]:
    lay_out_native(reading.connection, names.native_pairs(manifest.languages))
    for row in compare(reading.connection, NATIVE, [by]):
        yield _line(f"native by {by}", NATIVE, row), row.effect


def _models(reading: Reading, manifest: Manifest) -> list[tuple[dict[str, Any], Effect | None]]:
    pairs = [Sides("model", *pair) for pair in combinations(manifest.models, 2)]
    rows = [(sides, row) for sides in pairs for row in compare(reading.connection, sides)]
    q_values = adjusted([row.effect.p if row.effect else None for _, row in rows])
    return [
        (_line("models", sides, replace(row, q=q)), row.effect) for (sides, row), q in zip(rows, q_values, strict=True)
    ]


def _line(family: str, sides: Sides, row: ComparisonRow) -> dict[str, Any]:
    found: dict[str, Any] = {"pairs": 0, "blocks": 0}
    if row.effect:
        found = {name: getattr(row.effect, name) for name in _OF_EFFECT}
        found |= {"mean_a": row.effect.a, "mean_b": row.effect.b}
    group = {column: value or None for column, value in row.group.items()}
    named = {"family": family, "a": sides.a, "b": sides.b, "metric": row.metric}
    lowest, highest = row.bounds or (None, None)
    rest = {"q": row.q, "missing": row.missing, "lowest": lowest, "highest": highest}
    return {**dict.fromkeys(COLUMNS), **named, **group, **found, **rest}


def _table(family: str, rows: Sequence[Mapping[str, Any]], manifest: Manifest, names: Names) -> ComparisonTable:
    conditions = ordered(["", *manifest.conditions], [row["condition"] or "" for row in rows])
    asked = [*map(names.model, manifest.models), *map(names.country, manifest.countries)]
    found = list(dict.fromkeys(_label(row, names) for row in rows))
    labels = found if family == "models" else ordered(asked, found)

    def place(row: Mapping[str, Any]) -> tuple[int, int, int]:
        return METRICS.index(row["metric"]), conditions.index(row["condition"] or ""), labels.index(_label(row, names))

    said = texts().comparisons[family]
    return ComparisonTable(said.title, said.says, tuple(_compared(row, names) for row in sorted(rows, key=place)))


def _compared(row: Mapping[str, Any], names: Names) -> ComparisonLine:
    under = names.condition(row["condition"]) if row["condition"] else ""
    return ComparisonLine(_label(row, names), texts().metrics[row["metric"]].name, under, _difference(row))


def _label(row: Mapping[str, Any], names: Names) -> str:
    if row["family"] == "models":
        return f"{names.model(row['a'])} minus {names.model(row['b'])}"
    return names.country(row["country"]) if row["country"] else names.model(row["model"])


def _difference(row: Mapping[str, Any]) -> FormattedDifference:
    metric = row["metric"]
    if row["difference"] is None:
        return FormattedDifference(None, None, texts().missing["no_both"], "", "", "", "", "", clear=False)
    limits = [row["low"], row["high"]]
    told, without = None not in limits, row["no_interval"] or "no_interval"
    return FormattedDifference(
        value=difference(row["difference"], metric),
        interval=" to ".join(difference(limit, metric) for limit in limits) if told else None,
        missing=None if told else texts().missing[without],
        p="" if row["p"] is None else probability(row["p"]),
        q="" if row["q"] is None else probability(row["q"]),
        pairs=count(row["pairs"]),
        blocks=count(row["blocks"]),
        notes=", ".join(open_sign(row)),
        clear=row["q"] is not None and row["q"] < LEVEL,
    )


def open_sign(row: Mapping[str, Any]) -> list[str]:
    """Says so where the difference could have the other sign, were all mentions linked."""
    lowest, highest = row["lowest"], row["highest"]
    if lowest is None or lowest > 0 or highest < 0 or row["difference"] == 0:
        return []
    return [texts().missing["open_sign"]]
