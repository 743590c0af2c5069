"""The table `leaderboard` on the terminal: a board per task and language, with the ranks that the data support."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from polyculture.cli.tables import print_table
from polyculture.console import say

BOARD = ("task", "metric", "dataset", "language", "culture", "entity_type", "setting", "variant", "goal")
_GOALS = {"low": "low is good", "high": "high is good", "zero": "near zero is good", "more": "the highest first"}
_TEXTS = "texts"  # the task of the metrics of texts


def print_boards(rows: Sequence[dict[str, Any]]) -> None:
    """A table per board; ranks are ranges where models are not told apart."""
    for board, group in groupby(rows, key=lambda row: tuple(row[name] for name in BOARD)):
        models = list(group)
        lines = [_line(row) for row in models]
        columns = [name for name in lines[0] if any(line[name] is not None for line in lines)]
        title = _title(dict(zip(BOARD, board, strict=True)))
        print_table(columns, [[line[name] for name in columns] for line in lines], title=title)
        for row in models:
            if row["reason"] is not None:
                say(f"{row['model']}: all {row['failed']} failed, most often: {row['reason']}")
        if not models[0]["same_items"]:
            say("these models rest on different questions, contexts or entities")


def _line(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "rank": row["rank"],
        "model": row["model"],
        "estimate": row["estimate"],
        "95 %": None if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}",
        "cells" if row["task"] == _TEXTS else "contexts": row["contexts"],
        "native": row["native_entities"],
        "western": row["western_entities"],
        "note": row["doubt"],
    }


def _title(board: dict[str, Any]) -> str:
    of = [board["language"] or "all languages", board["culture"] or "all cultures", board["entity_type"] or "all types"]
    where = ", ".join([board["dataset"], *of, board["setting"], board["variant"]])
    return f"{board['task']}, {board['metric']} ({_GOALS[board['goal']]}): {where}"
