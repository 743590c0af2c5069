"""`polyculture leaderboard`: the models of an experiment by task and language, with the ranks that the data support."""

from __future__ import annotations

from typing import Annotated

import typer

from polyculture.cli.options import ExperimentFile, Runs


def leaderboard(
    experiment: ExperimentFile,
    task: Annotated[str | None, typer.Option(help="Only this task: the name of its command.")] = None,
    language: Annotated[str | None, typer.Option(help="Only this language.")] = None,
    type: Annotated[str | None, typer.Option(help="Of this type of entities. Default: over all types.")] = None,
    runs: Runs = None,
) -> None:
    """Rank an experiment's models by task and language, as far as their intervals tell them apart.

    Models whose 95 % intervals overlap share a range of ranks, such as 1-3. Each board says which direction is
    better; a difference is ranked by its size. As a file: polyculture table leaderboard.
    """
    from polyculture.cache.errors import did_you_mean
    from polyculture.cache.manifest import require_run
    from polyculture.cli.boards import print_boards
    from polyculture.console import say
    from polyculture.experiment.workspace import open_workspace
    from polyculture.instruments import INSTRUMENTS
    from polyculture.running.tables import all_tables, table_rows

    known = [command for entry in INSTRUMENTS for command in entry.commands]
    if task is not None and task not in known:
        raise typer.BadParameter(f"there is no task {task!r}. {did_you_mean(task, known) or 'See polyculture --help.'}")
    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    places = {"task": task, "language": language}
    values = {"type": type, "fewest": 1, **{name: place for name, place in places.items() if place is not None}}
    with table_rows(workspace, all_tables()["leaderboard"], values) as rows:
        entries = [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]
    if not entries:
        say("no model has such a measure yet; the commands of instruments measure models: polyculture --help")
    print_boards(entries)
