"""The health of the data: how many requests, answers and mentions were usable, and warnings where too few were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyculture.cache.manifest import Manifest
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, share
from polyculture.reports.resolution import Resolution
from polyculture.reports.texts import Column, Warning, texts
from polyculture.reports.thin import FEWEST, ThinMetric

_REASONS = 3  # of failures
_PLACES = 6  # a warning names the worst places


@dataclass(frozen=True, slots=True)
class Cell:
    """A count, its share where it has one, and whether the share is worth a warning."""

    count: str
    share: str | None
    bad: bool


@dataclass(frozen=True, slots=True)
class HealthLine:
    """A language of a model, in the order of `texts().health`."""

    language: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """A model's lines."""

    model: str
    name: str
    lines: tuple[HealthLine, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning and its worst places."""

    worst: str
    varies: bool  # other lines of the table have another share
    text: str
    places: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class FrequentFailure:
    """A reason why answers of a stage are missing."""

    stage: str
    reason: str
    rows: str
    retryable: str  # of these: asked again by the next run


@dataclass(frozen=True, slots=True)
class Health:
    """The context of the section."""

    columns: tuple[Column, ...]
    models: tuple[ModelHealth, ...]
    notices: tuple[Notice, ...]
    answered: int
    resolution: Resolution | None
    failures: tuple[FrequentFailure, ...]  # the most frequent reasons
    limited: bool  # the run's sources limit its numbers: see `reports.limits`
    thin: tuple[ThinMetric, ...]
    fewest: int = FEWEST


Rows = Sequence[Mapping[str, Any]]


def health_table(health: Rows, manifest: Manifest, names: Names) -> tuple[ModelHealth, ...]:
    """The health table, in the order of the experiment file."""
    found = {(row["model"], row["language"]): row for row in health}
    return tuple(
        ModelHealth(
            model,
            names.model(model),
            tuple(
                HealthLine(names.language(code), tuple(_cell(found[model, code], column) for column in texts().health))
                for code in ordered(manifest.languages, [language for own, language in found if own == model])
            ),
        )
        for model in manifest.models
    )


def notices(health: Rows, names: Names) -> tuple[Notice, ...]:
    """The warnings of `texts.toml` that apply; each names its worst places first."""
    found = [_notice(warning, health, names) for warning in texts().warnings]
    return tuple(notice for notice in found if notice is not None)


def frequent_failures(failures: Rows) -> tuple[FrequentFailure, ...]:
    """The most frequent reasons of failures, in the order of `sql/failures.sql`."""
    return tuple(
        FrequentFailure(row["stage"], row["reason"], count(row["rows"]), count(row["retryable"]))
        for row in failures[:_REASONS]
    )


def _cell(row: Mapping[str, Any], column: Column) -> Cell:
    bad = any(_exceeds(warning, row) for warning in texts().warnings if warning.count == column.count)
    return Cell(count(row[column.count]), share(row[column.count], row[column.of]) if column.of else None, bad)


def _exceeds(warning: Warning, row: Mapping[str, Any]) -> bool:
    return bool(row[warning.of]) and row[warning.count] / row[warning.of] > warning.limit


def _notice(warning: Warning, health: Rows, names: Names) -> Notice | None:
    bad = [row for row in health if _exceeds(warning, row)]
    bad.sort(key=lambda row: -row[warning.count] / row[warning.of])
    if not bad:
        return None
    places = [_place(row, warning, names) for row in bad[:_PLACES]]
    worst, shares = _share(bad[0], warning), {_share(row, warning) for row in health if row[warning.of]}
    return Notice(worst, len(shares) > 1, warning.text, tuple(places), max(0, len(bad) - _PLACES))


def _share(row: Mapping[str, Any], warning: Warning) -> str:
    return share(row[warning.count], row[warning.of]) or ""


def _place(row: Mapping[str, Any], warning: Warning, names: Names) -> str:
    model = f"{names.model(row['model'])}, " if len(names.models) > 1 else ""
    counts = f"{count(row[warning.count])} of {count(row[warning.of])}"
    return f"{model}{names.language(row['language'])}: {_share(row, warning)} ({counts})"
