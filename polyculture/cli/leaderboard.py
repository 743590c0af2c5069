"""`polyculture leaderboard`: the models of an experiment by task and language, with the ranks that the data support."""

from __future__ import annotations

from typing import Annotated

import typer

from polyculture.cli.options import ExperimentFile, Format, OutputFile, OutputFormat, Runs


def leaderboard(
    experiment: ExperimentFile,
    task: Annotated[str | None, typer.Option(help="Only this task: the name of its command.")] = None,
    language: Annotated[str | None, typer.Option(help="Only this language.")] = None,
    type: Annotated[str | None, typer.Option(help="Of this type of entities. Default: over all types.")] = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
    runs: Runs = None,
) -> None:
    """Rank an experiment's models by task and language, as far as their intervals tell them apart.

    Models whose 95 % intervals overlap share a range of ranks, such as 1-3. Each board says which direction is
    better; a difference is ranked by its size.
    """
    from polyculture.cache.errors import did_you_mean
    from polyculture.cache.store import open_store
    from polyculture.cli.boards import QUERY, print_boards
    from polyculture.cli.tables import write_rows
    from polyculture.console import say
    from polyculture.experiment.workspace import open_workspace, require_run
    from polyculture.instruments import INSTRUMENTS
    from polyculture.running.layout import store_layout

    known = [command for entry in INSTRUMENTS for command in entry.commands]
    if task is not None and task not in known:
        raise typer.BadParameter(f"there is no task {task!r}. {did_you_mean(task, known) or 'See polyculture --help.'}")
    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    with open_store(workspace.run, store_layout()) as store:
        found = store.sql(QUERY.read_text(encoding="utf-8"), params={"task": task, "language": language, "type": type})
        if not len(found):
            say("no model has such a measure yet; the commands of instruments measure models: polyculture --help")
        elif format is Format.TABLE and output is None:
            print_boards([dict(zip(found.columns, row, strict=True)) for row in found.fetchall()])
        else:
            write_rows(found, format, output)
