"""A leaderboard as a figure: a row per language and culture, in it a mark with its interval for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from polyculture.reports.figures.charts import Dots, key_of
from polyculture.reports.figures.figure import Figure, Panel, caption_of
from polyculture.reports.figures.mark import Jump
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, estimate, known
from polyculture.reports.texts import texts

NAME = "boards"
_WIDER = 1.05
Row = Mapping[str, Any]


def board_figure(
    number: int, title: str, goal: str, groups: Sequence[tuple[str, Sequence[Row]]], names: Names
) -> Figure | None:
    """The figure of the board with this `number`, from labelled rows of `sql/leaderboard.sql`; None without a value.

    A mark says its numbers, and leads to its line of the table (`line_id`). Models stand in one order in all boards.
    """
    lines = [
        {"row": str(at), "series": row["model"], "value": row["estimate"], "low": known(row["low"]),
         "high": known(row["high"]), "mark": _mark(label, row, line_id(number, at, place), names)}
        for at, (label, rows) in enumerate(groups)
        for place, row in enumerate(rows)
        if known(row["estimate"]) is not None
    ]  # fmt: skip
    if not lines:
        return None
    frame = pd.DataFrame(lines).astype({"value": float, "low": float, "high": float})
    models = ordered(names.models, frame["series"])
    shown = ordered([str(at) for at in range(len(groups))], frame["row"])
    said = texts().figures[NAME]
    chart = Dots(
        name=f"{NAME}-{number}",
        alternative=f"{said.title}: {title}",
        frame=frame,
        rows=shown,
        labels=[groups[int(at)][0] for at in shown],
        series=models,
        label=texts().goals[goal],
        limits=_limits(frame, goal),
    )
    keys = tuple(key_of(names.model(model), index) for index, model in enumerate(models))
    return Figure(title, caption_of(NAME), ((Panel("", chart),),), keys, None)


def line_id(board: int, group: int, line: int) -> str:
    """The id of a line of a board's table."""
    return f"board-{board}-{group}-{line}"


def _limits(frame: pd.DataFrame, goal: str) -> tuple[float, float]:
    """From 0 to 1 where all is a share; else as far as the numbers go, around 0 where that is the goal."""
    ends = frame[["value", "low", "high"]]
    least, most = float(ends.min().min()), float(ends.max().max())
    if goal == "zero":
        far = max(abs(least), abs(most)) * _WIDER or 1.0
        return -far, far
    return (0.0, 1.0) if least >= 0 and most <= 1 else (min(0.0, least * _WIDER), max(1.0, most * _WIDER))


def _mark(label: str, row: Row, to: str, names: Names) -> str:
    found = estimate("difference" if row["goal"] == "zero" else "rate", row["estimate"], row["low"], row["high"])
    rests = f"{count(row['contexts'])} contexts"
    said = f"{names.model(row['model'])}, {label}: {found.value}, {found.interval or found.missing}; {rests}"
    return Jump(said, to).address()
