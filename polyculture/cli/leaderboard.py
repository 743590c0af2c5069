"""`polyculture leaderboard`: the models of an experiment by task and language, with the ranks that the data support."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Any

import typer

from polyculture.cache.errors import did_you_mean
from polyculture.cache.manifest import require_run
from polyculture.cli.options import ExperimentFile, Runs
from polyculture.cli.tables import print_table
from polyculture.console import say
from polyculture.experiment.workspace import open_workspace
from polyculture.instruments import INSTRUMENTS
from polyculture.running.tables import all_tables, table_rows

BOARD = ("task", "metric", "dataset", "language", "culture", "entity_type", "setting", "variant", "goal")
_GOALS = {"low": "low is good", "high": "high is good", "zero": "near zero is good", "more": "the highest first"}
_TEXTS = "texts"  # the task of the metrics of texts


def leaderboard(
    experiment: ExperimentFile,
    task: Annotated[str | None, typer.Option(help="Only this task: texts, or the name of its command.")] = None,
    language: Annotated[str | None, typer.Option(help="Only this language.")] = None,
    type: Annotated[str | None, typer.Option(help="Of this type of entities. Default: over all types.")] = None,
    runs: Runs = None,
) -> None:
    """Rank an experiment's models by task and language, as far as paired differences tell them apart.

    Models that are not told apart share a range of ranks, such as 1-3. Each board says which direction is
    better; a difference is ranked by its size. As a file: polyculture table leaderboard.
    """
    known = [_TEXTS, *(command for entry in INSTRUMENTS for command in entry.commands)]
    if task is not None and task not in known:
        raise typer.BadParameter(f"there is no task {task!r}. {did_you_mean(task, known) or 'See polyculture --help.'}")
    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    places = {"task": task, "language": language}
    values = {"type": type, "fewest": 1, **{name: place for name, place in places.items() if place is not None}}
    with table_rows(workspace, all_tables()["leaderboard"], values) as rows:
        entries = [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]
    if not entries:
        say("no model has such a measure yet: polyculture measure, or the commands of instruments")
    print_boards(entries)


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
