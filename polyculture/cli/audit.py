"""`polyculture audit`: human judgements of a sample, and the metrics corrected by them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyculture.cli.options import ExperimentFile, Format, OutputFile, OutputFormat, Runs

app = typer.Typer(
    no_args_is_help=True,
    help="Let people judge a sample of mentions and links: export a sheet, import or remove it, show the results.",
    epilog="polyculture audit export exp.toml -o ana.csv; polyculture audit import exp.toml ana.csv ben.csv",
)


@app.command(epilog="polyculture audit export exp.toml --per 20 -o ana.csv")
def export(
    experiment: ExperimentFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The sheet; name it after its judge.")],
    per: Annotated[int, typer.Option(min=1, help="Responses of each language and topic.")] = 20,
    seed: Annotated[int, typer.Option(help="Which responses: the same seed gives the same ones.")] = 1,
    runs: Runs = None,
) -> None:
    """Write a sheet for a judge: a row per mention of a sample of responses, with its link.

    Give every judge a copy with a name of its own; docs/audit.md explains the columns.
    """
    from polyculture.cli.human_audit import export_sheet
    from polyculture.experiment.run_place import stored_run

    run = stored_run(experiment, runs)
    export_sheet(run, output, per, seed)


@app.command("import", epilog="polyculture audit import exp.toml ana.csv ben.csv cem.csv --adjudicator cem")
def import_(
    experiment: ExperimentFile,
    sheets: Annotated[list[Path] | None, typer.Argument(help="The judged sheets, one per judge.")] = None,
    adjudicator: Annotated[
        list[str] | None, typer.Option(help="A judge, of these sheets or before, who decides what others differ on.")
    ] = None,
    runs: Runs = None,
) -> None:
    """Read judged sheets back, replacing earlier judgements of the same judges, and show the results.

    Rows on which judges differ count by halves, unless an adjudicator decides.
    """
    from polyculture.cli.human_audit import import_sheets, show_audit
    from polyculture.experiment.run_place import stored_run

    if not sheets and not adjudicator:
        raise typer.BadParameter("give a sheet, or a judge who is to decide: --adjudicator JUDGE")
    run = stored_run(experiment, runs)
    import_sheets(run, sheets or [], adjudicator or [])
    show_audit(run, Format.TABLE, None)


@app.command(epilog="polyculture audit remove exp.toml ben")
def remove(
    experiment: ExperimentFile,
    judge: Annotated[str, typer.Argument(help="The judge whose import is taken back.")],
    runs: Runs = None,
) -> None:
    """Take a judge's import back: all that the judge said goes, what others said stays."""
    from polyculture.cli.human_audit import remove_judge
    from polyculture.experiment.run_place import stored_run

    run = stored_run(experiment, runs)
    remove_judge(run, judge)


@app.command(epilog="polyculture audit show exp.toml --format csv -o audit.csv")
def show(
    experiment: ExperimentFile, runs: Runs = None, format: OutputFormat = Format.TABLE, output: OutputFile = None
) -> None:
    """Show precision, recall and F1, the share of invented things and of texts on topic, and the corrected metrics.

    Disputed rows and the judges' agreement stand beside them. With --format: the shares as rows.
    """
    from polyculture.cli.human_audit import show_audit
    from polyculture.experiment.run_place import stored_run

    run = stored_run(experiment, runs)
    show_audit(run, format, output)
