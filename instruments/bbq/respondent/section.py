"""The report's section on models as respondents of the survey."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.reports.figures.figure import Panel
    from polyculture.reports.numbers import FormattedEstimate

_FOLDER = Path(__file__).parent
_RESULTS, _SHARES = _FOLDER / "survey_results.sql", _FOLDER / "survey_shares.sql"
_FURTHEST = 8  # answers that are shown of a model
_SHOWN_FIGURES = 12  # a page holds no more; the tables have all

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SurveyLine:
    """All stereotypes, or those of a category."""

    category: str
    correlation: FormattedEstimate
    distance: FormattedEstimate
    none_people: str
    none_share: str
    none_difference: FormattedEstimate
    stereotypes: str
    answers: str
    out_of_choice: str
    failed: str


@dataclass(frozen=True, slots=True)
class FarAnswer:
    """An answer to a stereotype that a model gives more or less often than the people."""

    stereotype: str
    category: str
    group: str
    none: bool
    people: str
    share: str
    answers: str


@dataclass(frozen=True, slots=True)
class SurveyGroup:
    """One model in one language."""

    model: str
    language: str
    lines: tuple[SurveyLine, ...]
    furthest: tuple[FarAnswer, ...]
    shares: Panel | None  # as a figure


@dataclass(frozen=True, slots=True)
class Surveyed:
    """The context of the section."""

    groups: tuple[SurveyGroup, ...]


def _build(data: ReportData) -> Surveyed | None:
    rows = data.reading.lines(_RESULTS)
    if not rows:
        return None
    shares: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in data.reading.lines(_SHARES):
        shares[row["model"], row["language"]].append(row)
    groups = groupby(rows, key=lambda row: (row["model"], row["language"]))
    return Surveyed(
        tuple(
            _group(number, key, list(some), shares[key], data.names.model(key[0]))
            for number, (key, some) in enumerate(groups)
        )
    )


def _group(number: int, key: tuple[str, str], rows: Sequence[Row], shares: Sequence[Row], name: str) -> SurveyGroup:
    drawn = _shares_panel(name, key[1], shares) if shares and number < _SHOWN_FIGURES else None
    far = sorted(shares, key=lambda row: abs(row["share"] - row["people"]), reverse=True)[:_FURTHEST]
    return SurveyGroup(name, key[1], tuple(map(_line, rows)), tuple(map(_far, far)), drawn)


def _shares_panel(name: str, language: str, shares: Sequence[Row]) -> Panel:
    """The people's shares of answers against a model's: a point an answer to a stereotype."""
    import pandas as pd

    from polyculture.reports.figures.figure import Panel
    from polyculture.reports.figures.kinds import scatter
    from polyculture.reports.figures.style import MUTED

    series = ("group", "none")
    points = [{"series": series[row["is_none"]], "x": row["people"], "y": row["share"]} for row in shares]
    chart = scatter(
        pd.DataFrame(points),
        alternative=f"The people's share of each answer against that of {name} ({language})",
        series=series,
        labels=("share of people", "share of the model's answers"),
        limits=((-0.02, 1.02), (-0.02, 1.02)),
        width=152.0,
        size=5.0,
        opacity=0.5,
        behind=lambda axes: axes.plot((0, 1), (0, 1), color=MUTED, linewidth=0.6, zorder=1),
    )
    return Panel("", chart)


def _line(row: Row) -> SurveyLine:
    from polyculture.reports.numbers import count

    return SurveyLine(
        "all categories" if row["category"] is None else _category(row),
        _estimate(row, "correlation"),
        _estimate(row, "distance"),
        _number(row["none_people"]),
        _number(row["none_share"]),
        _estimate(row, "none_difference"),
        count(row["stereotypes"]),
        count(row["answered"]),
        _number(row["out_of_choice_ratio"]),
        count(row["failed"]),
    )


def _estimate(row: Row, name: str) -> FormattedEstimate:
    from polyculture.reports.numbers import estimate, lacking

    if row[name] is None:
        return lacking("unread_answers")
    metric = "share" if name == "distance" else "difference"
    return estimate(metric, row[name], row[f"{name}_low"], row[f"{name}_high"])


def _far(row: Row) -> FarAnswer:
    from polyculture.reports.names import short
    from polyculture.reports.numbers import count

    said, people, share = short(str(row["stereotype"])), _number(row["people"]), _number(row["share"])
    return FarAnswer(
        said, _category(row), short(str(row["group"])), row["is_none"], people, share, count(row["answers"])
    )


def _category(row: Row) -> str:
    from polyculture.reports.names import short

    return short(str(row["category"])).replace("_", " ")


def _number(value: float | None) -> str:
    from polyculture.reports.numbers import decimal

    return "–" if value is None else decimal(value, "share")


SECTIONS = (
    Section(
        "surveyed",
        _build,
        _FOLDER / "section.html.jinja",
        _FOLDER / "section.toml",
        tables=(ReportTable(_RESULTS), ReportTable(_SHARES)),
        stands_alone=True,
    ),
)
