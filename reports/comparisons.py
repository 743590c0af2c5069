"""Differences of models, languages, conditions and native languages, as `measure` wrote them (`metrics.standard`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.metrics.comparison.reasons import explained
from polyculture.metrics.inference.family import HIGHER, LOWER
from polyculture.reports.headline import METRICS
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, difference, known, more_decimals, probability, share
from polyculture.reports.section import ReportData
from polyculture.reports.sections import COMPARISONS
from polyculture.reports.texts import texts

Row = Mapping[str, Any]
MODELS, LANGUAGES, CONDITIONS = "model", "language", "condition"
_TOLD = (HIGHER, LOWER)


@dataclass(frozen=True, slots=True)
class FormattedDifference:
    """A difference to print, with its interval and what it rests on; or the reason why there is none."""

    value: str | None
    interval: str | None
    missing: str | None  # why there is no number, or no interval
    target: str  # 'other prompts' | 'these prompts'
    q: str
    stays: str  # the selections of the texts under which the verdict is the same
    holds: str  # '5 of 6 topics, 11 of 12 countries'
    cells: str
    tipping: str
    clear: bool  # it may be said: the verdict is the same under every selection


@dataclass(frozen=True, slots=True)
class ComparisonLine:
    """A line of a table: what was compared, in which metric, under which condition (empty for all)."""

    label: str
    metric: str
    condition: str
    found: FormattedDifference


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """A table of differences, a line each."""

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
    native = {"native by model": "Model", "native by country": "Country"}
    heads = {MODELS: "Models", LANGUAGES: "Languages", CONDITIONS: "Prompts", **native}
    shown = tuple((table, heads[family]) for family, table in found.items() if family in heads)
    return Comparisons(shown) if shown else None


def told_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of `sql/comparisons.sql`; None where nothing is known."""
    return [{str(key): known(value) for key, value in row.items()} for row in frame.to_dict("records")]


def is_told(row: Row) -> bool:
    """Whether a sentence may be written from a row: its verdict is the same under every selection of the texts."""
    return row["verdict"] in _TOLD and bool(row["stays_in_all"])


def comparisons(frame: pd.DataFrame, manifest: Manifest, names: Names) -> dict[str, ComparisonTable]:
    """The tables, by family; one without a number is left out."""
    rows = told_rows(frame)
    families = {family: [row for row in rows if row["family"] == family] for family in texts().comparisons}
    there = {family: own for family, own in families.items() if any(row["cells"] for row in own)}
    return {family: _table(family, own, manifest, names) for family, own in there.items()}


def _table(family: str, rows: Sequence[Row], manifest: Manifest, names: Names) -> ComparisonTable:
    conditions = ordered(["", *manifest.conditions], [row["condition"] or "" for row in rows])
    asked = [*map(names.model, manifest.models), *map(names.country, manifest.countries)]
    labels = ordered(asked, list(dict.fromkeys(label(row, names) for row in rows)))

    def place(row: Row) -> tuple[int, int, int]:
        return METRICS.index(row["metric"]), conditions.index(row["condition"] or ""), labels.index(label(row, names))

    said = texts().comparisons[family]
    return ComparisonTable(said.title, said.says, tuple(_line(row, names) for row in sorted(rows, key=place)))


def _line(row: Row, names: Names) -> ComparisonLine:
    under = names.condition(row["condition"]) if row["condition"] else ""
    return ComparisonLine(label(row, names), texts().metrics[row["metric"]].name, under, formatted(row))


def side(row: Row, code: str, names: Names) -> str:
    """The name of a side."""
    if code == "the rest":
        return "the others"
    return str(getattr(names, row["family"])(code))


def label(row: Row, names: Names) -> str:
    """'Qwen minus smollm2', 'Japan'."""
    if row["country"]:
        return names.country(row["country"])
    if row["model"]:
        return names.model(row["model"])
    return f"{side(row, row['a'], names)} minus {side(row, row['b'], names)}"


def formatted(row: Row) -> FormattedDifference:
    """A row as printed."""
    metric, value = row["metric"], row["difference"]
    limits = [row["low"], row["high"]]
    has_interval = None not in limits
    more = more_decimals(metric, value, *limits) if row["verdict"] in _TOLD else 0
    return FormattedDifference(
        value=None if value is None else difference(value, metric, more),
        interval=" to ".join(difference(limit, metric, more) for limit in limits) if has_interval else None,
        missing=None if has_interval else explained(row["reason"]),
        target=texts().targets[row["target"]],
        q="" if row["q"] is None else probability(row["q"]),
        stays=row["stays"] if row["verdict"] in _TOLD else "",
        holds=holds(row),
        cells=count(row["cells"]),
        tipping=tipping(row) if has_interval else "",
        clear=is_told(row),
    )


def holds(row: Row) -> str:
    """'5 of 6 topics, 11 of 12 countries': where the difference has the same sign."""
    parts = [(row[f"{what}_same_sign"], row[what], what) for what in ("topics", "countries")]
    return ", ".join(f"{same} of {all_of} {what}" for same, all_of, what in parts if all_of > 1)


def tipping(row: Row) -> str:
    """The share of what is not linked that turns the difference; empty where none does."""
    return "" if row["tipping"] is None else share(row["tipping"], 1) or ""
