"""Figures with a mark, a curve or a bar for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from polyculture.cache.manifest import Manifest
from polyculture.reports.figures.chart import Mark
from polyculture.reports.figures.figure import (
    Figure,
    Panel,
    basis,
    extremes,
    make_figure,
    model_keys,
    tidy,
)
from polyculture.reports.figures.kinds import axis_limits, dots, lines, size_ticks
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FEWEST, count, decimal, estimate, known
from polyculture.reports.texts import texts

Row = Mapping[str, Any]
WHOLE = ""  # the row of all topics
_SMALL = 99.0  # points of a panel of saturation: four stand side by side
_WIDER = 1.05


def granularity_marks(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/granularity.sql`: a mark per model and language."""
    found = frame.dropna(subset=["estimate"])
    models = ordered(manifest.models, found["model"])
    said = {"extremes": extremes(frame, "granularity", names), "basis": basis(found), "fewest": str(FEWEST)}
    chart = dots(
        tidy(frame, "language", "granularity", ("model", "language"), names).assign(series=frame["model"]),
        alternative=f"{texts().figures['granularity'].title}. {said['extremes']} {said['basis']}",
        rows={code: names.both(code) for code in ordered(manifest.languages, found["language"])},
        series=models,
        label=texts().figures["granularity"].axis,
        limits=(0, 1),
    )
    panels = [Panel("", chart)] if models else []
    return make_figure("granularity", [panels], model_keys(models, names), "unmentioned", values=said)


def by_topic(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/consensus_by_topic.sql`: topics in the experiment's order, below all of them."""
    said = texts().figures["consensus_by_topic"]
    found = frame.dropna(subset=["estimate"])
    whole, by_topic = found[found["topic"].isna()], found[found["topic"].notna()]
    topics, models = ordered(manifest.topics, by_topic["topic"]), ordered(manifest.models, found["model"])
    marks = pd.concat(
        [
            tidy(whole.assign(topic=WHOLE), "topic", "consensus", ("model",), names).assign(series=whole["model"]),
            tidy(by_topic, "topic", "consensus", ("model", "topic"), names).assign(series=by_topic["model"]),
        ]
    )
    chart = dots(
        marks,
        alternative=f"{said.title}. {basis(whole)}",
        rows={
            **({WHOLE: said.panels["whole"]} if len(whole) else {}),
            **{topic: names.topic(topic) for topic in topics},
        },
        series=models,
        label=said.axis,
        limits=(0.0, min(1.0, axis_limits(marks[["value", "high"]])[1])),
    )
    missing = "one_language" if len(manifest.languages) < 2 else "unlinked"
    panels = [Panel("", chart)] if topics else []
    return make_figure(
        "consensus_by_topic",
        [panels],
        model_keys(models, names),
        missing,
        values={"basis": basis(whole), "fewest": str(FEWEST)},
    )


def board_figure(
    number: int, title: str, goal: str, groups: Sequence[tuple[str, Sequence[Row]]], names: Names
) -> Figure | None:
    """The figure of the board with this `number`, from labelled rows of `sql/leaderboard.sql`; None without a value.

    A mark says its numbers, and leads to its line of the table (`line_id`). Models stand in one order in all boards.
    """
    found = [
        {"row": str(at), "series": row["model"], "value": row["estimate"], "low": known(row["low"]),
         "high": known(row["high"]), "mark": _board_mark(label, row, line_id(number, at, place), names)}
        for at, (label, rows) in enumerate(groups)
        for place, row in enumerate(rows)
        if known(row["estimate"]) is not None
    ]  # fmt: skip
    if not found:
        return None
    frame = pd.DataFrame(found).astype({"value": float, "low": float, "high": float})
    models = ordered(names.models, frame["series"])
    said = texts().figures["boards"]
    chart = dots(
        frame,
        alternative=f"{said.title}: {title}",
        rows={str(at): label for at, (label, _) in enumerate(groups) if str(at) in set(frame["row"])},
        series=models,
        label=texts().goals[goal],
        limits=_board_limits(frame, goal),
    )
    return Figure(title, said.caption, ((Panel("", chart),),), tuple(model_keys(models, names)), None)


def line_id(board: int, group: int, line: int) -> str:
    """The id of a line of a board's table."""
    return f"board-{board}-{group}-{line}"


def saturation_curves(frame: pd.DataFrame, manifest: Manifest, names: Names) -> Figure:
    """The figure from the rows of `sql/saturation.sql`: a small panel per topic, all on one scale."""
    found = frame[frame["entities"] > 0]
    models = ordered(manifest.models, found["model"])
    _, top = axis_limits(found[["entities", "high"]])
    drawn = found.rename(columns={"model": "series", "responses": "x", "entities": "y"})
    drawn = drawn.astype({"low": float, "high": float}).assign(
        mark=pd.Series([_curve_mark(row, names) for row in found.itertuples()], found.index, dtype=object)
    )
    across, up = texts().figures["saturation"].keys
    panels = [
        Panel(
            names.topic(topic),
            lines(
                drawn[drawn["topic"] == topic],
                alternative=f"{texts().figures['saturation'].title}: {names.topic(topic)}",
                series=models,
                labels=(across, up),
                ticks=size_ticks(sorted(set(found.loc[found["topic"] == topic, "responses"]))),
                top=top,
                logarithmic=True,
                width=_SMALL,
                place={"topic": topic},
            ),
        )
        for topic in ordered(manifest.topics, found["topic"])
    ]
    return make_figure(
        "saturation", [panels], model_keys(models, names), "unlinked", values={"ends": _ends(found, names)}
    )


def _board_limits(frame: pd.DataFrame, goal: str) -> tuple[float, float]:
    """From 0 to 1 where all is a share; else as far as the numbers go, around 0 where that is the goal."""
    ends = frame[["value", "low", "high"]]
    least, most = float(ends.min().min()), float(ends.max().max())
    if goal == "zero":
        far = max(abs(least), abs(most)) * _WIDER or 1.0
        return -far, far
    return (0.0, 1.0) if least >= 0 and most <= 1 else (min(0.0, least * _WIDER), max(1.0, most * _WIDER))


def number_kind(row: Row) -> str:
    """The kind of a board's numbers (`reports.numbers`): metrics of texts, differences, and rates."""
    return {"more": str(row["metric"]), "zero": "difference"}.get(row["goal"], "rate")


def _board_mark(label: str, row: Row, to: str, names: Names) -> Mark:
    found = estimate(number_kind(row), row["estimate"], row["low"], row["high"])
    rests = f"{count(row['contexts'])} {'cells' if row['goal'] == 'more' else 'contexts'}"
    doubt = f"; {row['doubt']}" if known(row["doubt"]) else ""
    return Mark(f"{names.model(row['model'])}, {label}: {found.says}; {rests}{doubt}", to=to)


def _curve_mark(row: Any, names: Names) -> Mark:
    found = estimate("diversity", row.entities, row.low, row.high)
    said = f"{found.value} items in {count(row.responses)} responses, {found.interval or found.missing}"
    return Mark(f"{names.model(row.model)}: {said}", {"model": row.model})


def _ends(found: pd.DataFrame, names: Names) -> str:
    """A sentence on the coverage at the end of the least and the most complete curve."""
    last = found.sort_values("responses").groupby(["model", "topic"]).tail(1).dropna(subset=["coverage"])
    rows = last.sort_values("coverage").to_dict("records")
    if not rows:
        return ""
    said = [
        f"{decimal(row['coverage'], 'coverage')} ({names.topic(row['topic'])}, {names.model(row['model'])})"
        for row in (rows if len(rows) < 2 else [rows[0], rows[-1]])
    ]
    return f"Coverage at the end of the curves: {' to '.join(said)}."
