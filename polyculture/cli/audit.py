"""`polyculture audit`: human judgements of a sample, and the metrics corrected by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cache.errors import StoreError
from polyculture.cache.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import JUDGEMENTS, Judgement
from polyculture.cache.spreadsheet import require_csv
from polyculture.cache.store import open_store
from polyculture.cli.audit_results import show_audit
from polyculture.cli.options import ExperimentFile, Format, OutputFile, OutputFormat, Runs
from polyculture.cli.tables import write_sheet
from polyculture.console import say
from polyculture.experiment.run_place import stored_run
from polyculture.metrics.audit.sheet import COLUMNS, read_judgements, sample
from polyculture.running.layout import store_layout

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
    require_csv(output)
    if output.exists():
        raise StoreError("is there already", where=output, remedy="Name another file: this one may hold judgements.")
    run = stored_run(experiment, runs)
    with open_store(run, store_layout()) as store:
        sampled = sample(store, per, seed)
    if not sampled.rows:
        raise StoreError(
            "holds no response to judge whose mentions were extracted and looked up",
            where=run.root,
            remedy="Run: polyculture run EXPERIMENT",
        )
    write_sheet(output, COLUMNS, [[row[name] for name in COLUMNS] for row in sampled.rows])
    mentions = len(sampled.rows) - sampled.responses
    say(f"{output}: {mentions} mentions of {sampled.responses} responses; docs/audit.md explains the columns")


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
    if not sheets and not adjudicator:
        raise typer.BadParameter("give a sheet, or a judge who is to decide: --adjudicator JUDGE")
    run = stored_run(experiment, runs)
    import_sheets(run, sheets or [], adjudicator or [])
    _show(run, Format.TABLE, None)


@app.command(epilog="polyculture audit remove exp.toml ben")
def remove(
    experiment: ExperimentFile,
    judge: Annotated[str, typer.Argument(help="The judge whose import is taken back.")],
    runs: Runs = None,
) -> None:
    """Take a judge's import back: all that the judge said goes, what others said stays."""
    run = stored_run(experiment, runs)
    judgements = _kept(run)
    _require_judges(judgements, [judge], run)
    left = [one for one in judgements if one.judge != judge]
    _keep(run, left)
    say(f"{judge}: {len(judgements) - len(left)} rows removed")


@app.command(epilog="polyculture audit show exp.toml --format csv -o audit.csv")
def show(
    experiment: ExperimentFile, runs: Runs = None, format: OutputFormat = Format.TABLE, output: OutputFile = None
) -> None:
    """Show precision, recall and F1, the share of invented things and of texts on topic, and the corrected metrics.

    Disputed rows and the judges' agreement stand beside them. With --format: the shares as rows.
    """
    _show(stored_run(experiment, runs), format, output)


def import_sheets(run: RunFolder, sheets: Sequence[Path], adjudicators: Sequence[str] = ()) -> None:
    """Writes the sheets' judgements into the run, beside those of other judges.

    An adjudicator is one of the judges, and remains one after a repeated import. Raises `StoreError` where a named
    adjudicator is no judge, or two sheets have the same name.
    """
    names = [sheet.stem for sheet in sheets]
    if len(set(names)) < len(names):
        raise StoreError("two sheets have the same name", remedy="Name each sheet after its judge.")
    before = _kept(run)
    deciding = {*adjudicators, *(one.judge for one in before if one.adjudicator)}
    with open_store(run, store_layout()) as store:
        judgements = [one for sheet in sheets for one in read_judgements(store, sheet)]
    every = [*(one for one in before if one.judge not in names), *judgements]
    _require_judges(every, adjudicators, run)
    _keep(run, [replace(one, adjudicator=one.judge in deciding) for one in every])
    for name in (*names, *(name for name in dict.fromkeys(adjudicators) if name not in names)):
        rows = sum(one.judge == name for one in every)
        say(f"{name}: {rows} rows judged{', as adjudicator' if name in deciding else ''}")


def _show(run: RunFolder, format: Format, output: Path | None) -> None:
    judgements = _kept(run)
    if not judgements:
        remedy = "Export a sheet and import it: polyculture audit export EXPERIMENT -o JUDGE.csv"
        raise StoreError("holds no judgements", where=run.root, remedy=remedy)
    show_audit(run, judgements, format, output)


def _require_judges(judgements: Sequence[Judgement], names: Sequence[str], run: RunFolder) -> None:
    there = sorted({one.judge for one in judgements})
    if missing := [name for name in names if name not in there]:
        remedy = f"Name one of {', '.join(there)}." if there else "Import a sheet: polyculture audit import"
        raise StoreError(f"has no judge {', '.join(missing)}", where=run.root, remedy=remedy)


def _keep(run: RunFolder, judgements: Sequence[Judgement]) -> None:
    write_parquet(objects_to_table(JUDGEMENTS, judgements), run.table(JUDGEMENTS.name))


def _kept(run: RunFolder) -> list[Judgement]:
    path = run.table(JUDGEMENTS.name)
    if not path.exists():
        return []
    return [Judgement(**row) for row in read_rows(path, JUDGEMENTS).to_pylist()]
