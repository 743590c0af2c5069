"""Prints leaderboards as tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from polyculture.cli.tables import print_table
from polyculture.console import say

BOARD = ("task", "metric", "dataset", "language", "culture", "entity_type", "setting", "variant", "goal")
_COLUMNS = ("rank", "model", "estimate", "95 %", "contexts", "native", "western")
_GOALS = {"low": "low is good", "high": "high is good", "zero": "near zero is good"}


def print_boards(rows: Sequence[dict[str, Any]]) -> None:
    """A table per board; ranks are ranges where intervals overlap."""
    for board, group in groupby(rows, key=lambda row: tuple(row[name] for name in BOARD)):
        models = list(group)
        print_table(_COLUMNS, [_line(row) for row in models], title=_title(dict(zip(BOARD, board, strict=True))))
        for row in models:
            if row["reason"] is not None:
                say(f"{row['model']}: all {row['failed']} failed, most often: {row['reason']}")
        if not models[0]["same_items"]:
            say("these models rest on different numbers of contexts or entities")


def _line(row: dict[str, Any]) -> tuple[Any, ...]:
    interval = None if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}"
    sizes = (row["contexts"], row["native_entities"], row["western_entities"])
    return row["rank"], row["model"], row["estimate"], interval, *sizes


def _title(board: dict[str, Any]) -> str:
    of = [board["language"] or "all languages", board["culture"] or "all cultures", board["entity_type"] or "all types"]
    where = ", ".join([board["dataset"], *of, board["setting"], board["variant"]])
    return f"{board['task']}, {board['metric']} ({_GOALS[board['goal']]}): {where}"
