"""`polyculture export`: a run as one portable folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyculture.cli.options import ExperimentFile, Runs
from polyculture.experiment.run_place import stored_run
from polyculture.instruments.questions.rules.opened import citation_of
from polyculture.reports.export.write import write_export
from polyculture.running.layout import store_layout
from polyculture.running.standings import RECORD_FACTS


def export(
    experiment: ExperimentFile,
    to: Annotated[Path, typer.Option("--to", help="The folder of Parquet files.")],
    licence: Annotated[
        str | None, typer.Option("--licence", help="The licence that you publish it under, e.g. CC-BY-4.0.")
    ] = None,
    every_eval_ever: Annotated[
        bool,
        typer.Option("--every-eval-ever", help="Also write each model's numbers as a record of Every Eval Ever."),
    ] = False,
    runs: Runs = None,
) -> None:
    """Write all tables of a run that have rows to one portable folder, with a data card.

    The folder has a Parquet file per table, README.md (schema, versions, licences, limits, how to cite),
    croissant.json, which hubs and search engines read, and manifest.json, which says what was asked.
    Views of more than a million rows that other tables give are left out; the card names them.

    With --every-eval-ever, the folder also has a JSON file for each model with its numbers, intervals, sizes and
    generation settings, where the datastore evaleval/every_eval_ever expects it.

    The folder contains no key, no address of a server and no path of this machine. An earlier export is replaced as
    soon as the new one is complete; anything else in the folder is refused.
    """
    run, layout = stored_run(experiment, runs), store_layout()
    done = write_export(
        run, layout, to, licence, citation_of, every_eval_ever=RECORD_FACTS if every_eval_ever else None
    )
    kept = [table for table in done.tables if table.left_out is None]
    typer.echo(f"{done.path}: {len(kept)} tables, {sum(table.rows for table in kept)} rows")
    for table in done.tables:
        if table.left_out is not None:
            typer.echo(f"left out: {table.name}, {table.left_out}")
    for record in done.records:
        typer.echo(f"Every Eval Ever: {record}")
