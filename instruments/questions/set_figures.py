"""Figures of a question set: a row a model and reader, a mark a number with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from polyculture.instruments.questions.layout import ASK_METHODS, SCORED
from polyculture.instruments.questions.set_words import STUDY, study_label, unread_share
from polyculture.instruments.questions.shown import TEXTS
from polyculture.reports.figures.figure import Key, Panel, key_of
from polyculture.reports.figures.kinds import dots
from polyculture.reports.numbers import Row
from polyculture.reports.section import ReportData
from polyculture.reports.texts import section_texts

SIGNED = ("diff_bias_a", "diff_bias_d", "s_amb", "s_dis")  # numbers that can be below 0


@dataclass(frozen=True, slots=True)
class MarkFigure:
    """A figure: a row a model, a mark a number."""

    panels: tuple[Panel, ...]
    keys: tuple[Key, ...]


def figures_of(data: ReportData, title: str, lines: Sequence[Row], metrics: Sequence[str]) -> Iterable[MarkFigure]:
    """A figure of shares, and one of what can be below 0: a row a model and reader."""
    labels = {
        _place(line): f"{data.names.model(line['model'])}{study_label(line)}{unread_share(line)}" for line in lines
    }
    for signed, words in (
        (False, "score" if ASK_METHODS[SCORED].column in metrics else "share of the answers"),
        (True, "bias"),
    ):
        some = [
            name for name in metrics if (name in SIGNED) is signed and (name != "s_amb" or "diff_bias_a" not in metrics)
        ]
        marks = [
            (_place(line), name, line["numbers"][name])
            for line in lines
            for name in some
            if name in line["numbers"] and line["numbers"][name]["estimate"] is not None
        ]
        if marks:
            heads = {name: _head(name) for name in some}
            yield _marks(marks, heads, labels, words, f"{title}: {words}", signed=signed)


def _place(line: Row) -> str:
    """The row of a figure that a line is in."""
    return " ".join(str(line[name]) for name in STUDY)


def _head(metric: str) -> str:
    return str(section_texts(TEXTS).words["metrics"][metric][0])


def _marks(
    marks: Sequence[tuple[str, str, Row]],
    series: Mapping[str, str],
    rows: Mapping[str, str],
    title: str,
    said: str,
    *,
    signed: bool,
) -> MarkFigure:
    """A figure of marks (row, series, number), with its title and description; `signed`: numbers can be below 0."""
    frame = pd.DataFrame(
        [
            {"row": row, "series": name, "value": one["estimate"], "low": one["low"], "high": one["high"]}
            for row, name, one in marks
        ]
    ).astype({"value": float, "low": float, "high": float})
    limits = (-1.0, 1.0) if signed else (0.0, 1.0)
    chart = dots(frame, alternative=said, rows=rows, series=list(series), label=title, limits=limits)
    keys = tuple(key_of(name, number) for number, name in enumerate(series.values()))
    return MarkFigure((Panel(title, chart),), keys)
