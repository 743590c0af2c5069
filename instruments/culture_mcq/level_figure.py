"""Shares of answers by resource level of the target: a row per level, a mark per kind of answer, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from polyculture.reports.figures.figure import Key, Panel, key_of
from polyculture.reports.figures.kinds import dots
from polyculture.reports.names import short

KINDS = {
    "accuracy": "accuracy",
    "biased": "biased",
    "others": "others, halved",
    "refusal": "refused",
    "out_of_choice": "out of choice",
}
PARTS = ("overall", "level")
Row = Mapping[str, Any]


def level_keys() -> tuple[Key, ...]:
    """The legend of the kinds of answers."""
    return tuple(key_of(words, number) for number, words in enumerate(KINDS.values()))


def level_panel(title: str, rows: Sequence[Row]) -> Panel | None:
    """The shares of all questions and of each level, from rows of `culture_mcq.sql`; None where none was answered."""
    shown = [row for row in rows if row["part"] in PARTS and row["answered"]]
    if not shown:
        return None
    found = [
        {"row": str(number), "series": kind, "value": row[kind], "low": row[f"{kind}_low"], "high": row[f"{kind}_high"]}
        for number, row in enumerate(shown)
        for kind in KINDS
    ]
    frame = pd.DataFrame(found).astype({"value": float, "low": float, "high": float})
    said = "; ".join(f"{_name(row)}: {_in_words(row)}" for row in shown)
    chart = dots(
        frame,
        alternative=f"Shares of the answers by level: {title}. {said}",
        rows={str(number): f"{_name(row)} ({row['answered']:,})" for number, row in enumerate(shown)},
        series=list(KINDS),
        label="share of the answers",
        limits=(0.0, 1.0),
    )
    return Panel("By the target's level", chart)


def _name(row: Row) -> str:
    return "all" if row["part"] == "overall" else short(str(row["name"]))


def _in_words(row: Row) -> str:
    return ", ".join(f"{words} {row[kind]:.2f}" for kind, words in KINDS.items())
