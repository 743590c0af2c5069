"""`polyculture audit`: human judgements of a sample, and the metrics corrected by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyculture.cache.errors import StoreError
from polyculture.cache.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import JUDGEMENTS, Judgement
from polyculture.cache.spreadsheet import require_csv
from polyculture.cache.sql_file import read_sql
from polyculture.cache.store import open_store
from polyculture.cli.audit_agreement import KAPPA_COLUMNS, Answers, against, agreement, agreement_of_all, answers_of
from polyculture.cli.options import ExperimentFile, Format, OutputFile, OutputFormat, Runs
from polyculture.cli.tables import print_table, write_records, write_sheet
from polyculture.console import say
from polyculture.experiment.run_place import stored_run
from polyculture.metrics import KEPT
from polyculture.metrics.audit.corrected import FEWEST, Corrected, corrected_metrics
from polyculture.metrics.audit.scores import Share, answer_shares, audit_scores, open_rows
from polyculture.metrics.audit.sheet import COLUMNS, read_judgements, sample
from polyculture.metrics.audit.sheet import SQL as AUDIT_SQL
from polyculture.running.layout import store_layout

if TYPE_CHECKING:
    import duckdb


DISPUTED_COLUMNS = ("", "language", "topic", "disputed", "of", "if wrong", "if right")

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
    show_audit(run, Format.TABLE, None)


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
    show_audit(stored_run(experiment, runs), format, output)


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


def show_audit(run: RunFolder, format: Format, output: Path | None) -> None:
    """Prints the results of the judgements. Raises `StoreError` where there are none."""
    judgements = _kept(run)
    if not judgements:
        remedy = "Export a sheet and import it: polyculture audit export EXPERIMENT -o JUDGE.csv"
        raise StoreError("holds no judgements", where=run.root, remedy=remedy)
    with open_store(run, store_layout(), KEPT) as store:
        shares, corrected = [*audit_scores(store), *answer_shares(store)], corrected_metrics(store)
        disputed, relinked = open_rows(store)
        automatic = _automatic_labels(store, judgements)
        if format is not Format.TABLE or output is not None:
            write_records([asdict(one) for one in shares], format, output)
            return
    print_table(("", "language", "topic", "hits", "of", "share", "low", "high"), [_share_line(one) for one in shares])
    if len({one.judge for one in judgements}) > 1:
        _show_disputed(shares, disputed)
    said = answers_of([one for one in judgements if not one.adjudicator])
    if judges := [*agreement(said), *agreement_of_all(said)]:
        title = "How far judges agree (Cohen's kappa of two, Fleiss' of more; 95 % interval)"
        print_table(KAPPA_COLUMNS, judges, title=title)
    if held := against(said, automatic):
        title = "How far judges agree with the label that linked items give a text (Cohen's kappa, 95 % interval)"
        print_table(KAPPA_COLUMNS, held, title=title)
    if corrected:
        title = f"The metrics corrected for these errors (of languages with {FEWEST} judged responses or more)"
        columns = tuple(field.name for field in fields(Corrected) if field.name != "refuted")
        print_table(columns, [tuple(getattr(one, name) for name in columns) for one in corrected], title=title)
    if relinked:
        say(f"{relinked} judged mentions have another link now: the judgements of their links do not count")
    for one in corrected:
        if one.refuted:
            place = f"the {one.metric} of {one.model} in {one.language}"
            say(f"{place} is not corrected: with the errors of its language it would leave its range")
    if any(one.reported_low is None for one in corrected):
        say(
            "numbers without an interval were not measured since the data changed: run `polyculture run --only measure`"
        )


def _share_line(one: Share) -> tuple[Any, ...]:
    return (
        one.what,
        one.language or "all",
        one.topic or "all",
        _count(one.hits),
        _count(one.of),
        one.value,
        one.low,
        one.high,
    )


def _count(cases: float) -> float:
    """A number of cases in its printed form: an integer, unless disputed cases count by halves."""
    return int(cases) if cases.is_integer() else cases


def _show_disputed(shares: Sequence[Share], rows: int) -> None:
    """The number of disputed rows, and the shares with these all wrong, and all right."""
    say(f"{rows} judged rows are disputed{'; an adjudicator may decide them (docs/audit.md)' if rows else ''}")
    lines = [
        (one.what, one.language or "all", one.topic or "all", one.disputed, _count(one.of), one.if_wrong, one.if_right)
        for one in shares
        if one.disputed
    ]
    if lines:
        print_table(
            DISPUTED_COLUMNS, lines, title="What judges differ on counts by halves; if it were all wrong or right"
        )


def _automatic_labels(store: duckdb.DuckDBPyConnection, judgements: Sequence[Judgement]) -> Answers:
    """The labels of the texts of which a judge said of which region they are; refusals have none."""
    asked = sorted({one.extraction_id for one in judgements if one.region is not None})
    rows = store.execute(read_sql(AUDIT_SQL, "text_labels"), {"extractions": asked}).fetchall() if asked else []
    return {(extraction, None, "region"): label for extraction, label in rows}


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
