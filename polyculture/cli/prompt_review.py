"""`polyculture prompts review`: speakers of a language judge its templates."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cache.catalog import read_catalog
from polyculture.cache.catalog.pack import REVIEWS
from polyculture.cache.errors import ExperimentError, StoreError
from polyculture.cache.files import replacing, store_faults
from polyculture.cache.spreadsheet import require_csv
from polyculture.cache.store.inventory import record_table, require_table
from polyculture.cache.store.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CONDITIONS, PROMPT_REVIEWS, PromptReview
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cli.options import (
    STAGE,
    ExperimentFile,
    Format,
    OutputFile,
    OutputFormat,
    Packs,
    Runs,
    StageGroup,
    UsageError,
)
from polyculture.cli.tables import print_table, write_sheet, write_values
from polyculture.console import say
from polyculture.experiment.prompts import review_prompts
from polyculture.experiment.workspace import Workspace
from polyculture.generate.review import ReviewedTemplate, templates_of
from polyculture.generate.review_sheet import COLUMNS, judge_in, read_reviews, sheet_rows
from polyculture.metrics.prompt_review import ReviewStanding, objections, review_standing, unreviewed_line
from polyculture.running.opening import open_workspace

_MANY = 8  # templates on a page: beyond, a line says how to have fewer
_OBJECTIONS = ("judge", "language", "wording", "topic", "condition", "natural", "same", "relation", "says", "note")

app = typer.Typer(
    cls=StageGroup,
    no_args_is_help=True,
    help="Let speakers of a language judge its templates: write a page or a sheet for them, import what they send "
    "back, and show the results.",
    epilog="polyculture prompts review --html ja -o review-ja.html; "
    "polyculture prompts review import exp.toml ana.ja.csv ben.ja.csv",
)


@app.command(STAGE, hidden=True, epilog="polyculture prompts review --html ja -o review-ja.html")
def page(
    language: Annotated[
        str, typer.Option("--html", metavar="LANGUAGE", help="Write a page for a speaker of this language.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page, for example review-ja.html.")],
    experiment: Annotated[
        Path | None,
        typer.Argument(metavar="EXPERIMENT", help="Whose prompts. Default: each topic's, in its first wording."),
    ] = None,
    catalog: Packs = None,
    topic: Annotated[list[str] | None, typer.Option(help="Only this topic; may be repeated.")] = None,
) -> None:
    """Write a page on which a native speaker judges the prompts of a language, on a phone or elsewhere.

    It is one file that uses no network. At its end it saves a sheet, which `import` reads.
    """
    if output.suffix.casefold() not in (".html", ".htm"):
        remedy = f"Name it {output.with_suffix('.html').name}. For a spreadsheet: polyculture prompts review export."
        raise StoreError("the page of a review ends in .html", where=output, remedy=remedy)
    if experiment is not None and catalog:
        raise UsageError("--catalog goes without an experiment: the experiment's file names its packs")
    if experiment is None:
        known = read_catalog(*catalog or ())
        templates = templates_of(review_prompts(known, language, topic or ()), known)
    else:
        workspace = open_workspace(experiment)
        known, templates = workspace.catalog, _templates_in(workspace, language)
    templates = [one for one in templates if not topic or one.topic in topic]
    if not templates:
        topics = ", ".join(workspace.experiment.topics if experiment is not None else sorted(known.topics))
        what = f"there is no prompt in {language} on {', '.join(topic or ())}"
        raise ExperimentError(what, where=experiment, remedy=f"Name another topic: {topics}.")
    conditions = {one.condition for one in templates}
    if experiment is None and (unnamed := [one for one in CONDITIONS if one not in conditions]):
        many = "such persons' names" if any(one.startswith("implicit") for one in conditions) else "persons' names"
        say(f"without {' and '.join(unnamed)}: there are no {many} in {known.language(language).name}")
    from polyculture.reports.review_page import review_page  # here: Jinja

    asked = [one.questions for one in templates]
    text = review_page(sheet_rows(templates), asked, known.language(language), known)
    with replacing(output) as temporary:
        temporary.write_text(text, encoding="utf-8")
    say(f"{output}: {_counted(templates)} in {language}. Send the page to a native speaker: it saves a sheet")
    if experiment is None and len(templates) > _MANY:
        say("For a shorter page, name an experiment: it has only what that asks, of the standard study 6 templates")


@app.command(epilog="polyculture prompts review export exp.toml --language it -o ana.it.csv")
def export(
    experiment: ExperimentFile,
    language: Annotated[str, typer.Option(help="The language of the sheet; the judge speaks it natively.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The sheet, named after its judge: ana.it.csv.")],
    runs: Runs = None,
) -> None:
    """Write a sheet for a judge: a row per template of a language, filled in, with its English to the right.

    Nothing needs to be asked before. docs/experiments.md explains the columns.
    """
    workspace = open_workspace(experiment, runs)
    require_csv(output)
    templates = _templates_in(workspace, language)
    if output.exists():
        raise StoreError("is there already", where=output, remedy="Name another file: this one may hold judgements.")
    rows = sheet_rows(templates)
    write_sheet(output, COLUMNS, [[row[name] for name in COLUMNS] for row in rows])
    say(f"{output}: {_counted(rows)} in {language}; docs/experiments.md explains the columns")


@app.command("import", epilog="polyculture prompts review import exp.toml ana.it.csv ben.it.csv ana.es.csv")
def import_(
    experiment: ExperimentFile,
    sheets: Annotated[
        list[Path] | None,
        typer.Argument(help="The judged sheets, JUDGE.csv or JUDGE.LANGUAGE.csv. Default: reviews/ of the packs."),
    ] = None,
    runs: Runs = None,
) -> None:
    """Read judged sheets back, replacing what the same judges said of the same languages, and show the results."""
    workspace = open_workspace(experiment, runs)
    sheets = sheets or _of_packs(workspace)
    templates, kept = _templates(workspace), _kept(workspace.run)
    imported: dict[tuple[str, str], Path] = {}
    for sheet in sheets:
        judge, named = _judge(sheet, workspace)
        judge = next((one.judge for one in kept if _same(one.judge, judge)), judge)
        read = read_reviews(sheet, judge, templates)
        reviews = read.reviews
        if read.gone:
            say(f"{sheet}: {_uncounted(read.gone, 'judged row')}")
        if not any(one.has_verdict for one in reviews):
            what = "holds no judgement of a template that is asked"
            raise StoreError(what, where=sheet, remedy="Fill in natural, relation or same; or export it again.")
        for language in dict.fromkeys(one.language for one in reviews):
            if named not in (None, language):
                what = f"is named after a sheet in {named}, and holds judgements in {language}"
                raise StoreError(what, where=sheet, remedy=f"Name it {judge}.{language}.csv, or after its judge alone.")
            if (judge, language) in imported:
                what = f"is a second sheet of {judge} in {language}, beside {imported[judge, language]}"
                raise StoreError(what, where=sheet, remedy="Name each sheet after its judge.")
            imported[judge, language] = sheet
            kept = [one for one in kept if not (_same(one.judge, judge) and one.language == language)]
            judged = [one for one in reviews if one.language == language]
            say(f"{judge}: {_counted([one for one in judged if one.has_verdict])} judged in {language}")
        say(f"{sheet}: {read.line}")
        kept += reviews
    _keep(workspace.run, kept)
    show_reviews(workspace, Format.TABLE, None)


@app.command(epilog="polyculture prompts review remove exp.toml ana --language it")
def remove(
    experiment: ExperimentFile,
    judge: Annotated[str, typer.Argument(help="The judge whose judgements are taken back.")],
    language: Annotated[str | None, typer.Option(help="Only those of this language.")] = None,
    runs: Runs = None,
) -> None:
    """Take a judge's import back: all that the judge said goes, what others said stays."""
    workspace = open_workspace(experiment, runs)
    kept = _kept(workspace.run)
    left = [one for one in kept if not _same(one.judge, judge) or language not in (None, one.language)]
    if len(left) == len(kept):
        there = ", ".join(sorted({one.judge for one in kept}))
        of = "" if language is None else f" in {language}"
        remedy = f"Name one of {there}." if there else "Import a sheet: polyculture prompts review import"
        raise StoreError(f"has no judge {judge}{of}", where=workspace.run.root, remedy=remedy)
    _keep(workspace.run, left)
    say(f"{judge}: {len(kept) - len(left)} judgements removed")


@app.command(epilog="polyculture prompts review show exp.toml --format csv -o review.csv")
def show(
    experiment: ExperimentFile, runs: Runs = None, format: OutputFormat = Format.TABLE, output: OutputFile = None
) -> None:
    """Show, per language, how many templates are reviewed and what judges say of them, with each objection and note.

    With --format: a row per language.
    """
    show_reviews(open_workspace(experiment, runs), format, output)


def show_reviews(workspace: Workspace, format: Format, output: Path | None) -> None:
    """Prints the review per language, then each objection."""
    templates, reviews = _templates(workspace), _kept(workspace.run)
    asked = {key: one.language for key, one in templates.items()}
    residence = [key for key, one in templates.items() if one.residence]
    standing = review_standing(asked, reviews, residence, {key: one.questions for key, one in templates.items()})
    columns = [field.name for field in fields(ReviewStanding)]
    if format is not Format.TABLE or output is not None:
        write_values(columns, [astuple(one) for one in standing], format, output)
        return
    print_table(columns, [astuple(one) for one in standing], title="How far the prompts are reviewed")
    if against := objections(asked, reviews):
        rows = [tuple(getattr(one, name) for name in _OBJECTIONS) for one in against]
        print_table(_OBJECTIONS, rows, title="Objections and notes")
    if changed := sum(one.changed for one in standing):
        say(_uncounted(changed, "judgement"))
    if line := unreviewed_line(standing):
        say(line)


def _judge(sheet: Path, workspace: Workspace) -> tuple[str, str | None]:
    """The name of a sheet's judge, in it or that of its file, and the language behind that, if there is one."""
    if named := judge_in(sheet):
        return unicodedata.normalize("NFC", named), None
    stem = sheet.name[: -len(".csv")] if sheet.name.casefold().endswith(".csv") else sheet.stem
    name, dot, last = stem.rpartition(".")
    language = last.strip().casefold() if dot and last.strip().casefold() in workspace.catalog.languages else None
    judge = unicodedata.normalize("NFC", stem if language is None else name).strip()
    if not judge.strip(". "):
        raise StoreError("names no judge", where=sheet, remedy=f"Name it after its judge: ana.{language or 'it'}.csv.")
    if judge.casefold() in workspace.experiment.languages:
        remedy = f"Name it after its judge: ana.{judge.casefold()}.csv."
        raise StoreError("is named after a language", where=sheet, remedy=remedy)
    return judge, language


def _of_packs(workspace: Workspace) -> list[Path]:
    """The sheets that the experiment's culture packs bring. Raises `StoreError` where there is none."""
    sheets = [file for pack in workspace.catalog.packs for file in sorted((pack.folder / REVIEWS).glob("*.csv"))]
    if not sheets:
        remedy = "Name the judged sheets, or keep them in reviews/ of a culture pack."
        raise StoreError(f"no pack of the experiment has sheets in {REVIEWS}/", where=workspace.file, remedy=remedy)
    return sheets


def _same(one: str, other: str) -> bool:
    """Are these two spellings of one judge's name?"""
    return (
        unicodedata.normalize("NFC", one).strip().casefold() == unicodedata.normalize("NFC", other).strip().casefold()
    )


def _uncounted(number: int, what: str) -> str:
    """What is said of judgements whose template is no longer asked: "1 judgement is of a template that ..."."""
    if number == 1:
        return f"1 {what} is of a template that changed since, or is not asked: it does not count"
    return f"{number} {what}s are of templates that changed since, or are not asked: they do not count"


def _counted(templates: Sequence[object]) -> str:
    return f"{len(templates)} {'template' if len(templates) == 1 else 'templates'}"


def _templates_in(workspace: Workspace, language: str) -> list[ReviewedTemplate]:
    """Those of a language. Raises `ExperimentError` where the experiment has not the language, or asks nothing."""
    experiment = workspace.experiment
    languages = experiment.languages
    if lacking := [name for name in ("languages", "topics") if not getattr(experiment, name)]:
        what = f"asks for no texts: it has no {' and no '.join(lacking)}"
        remedy = "Add them, or leave the experiment out to review each topic of a language."
        raise ExperimentError(what, where=workspace.file, remedy=remedy)
    if language not in languages:
        what = f"the experiment has no language {language!r}"
        raise ExperimentError(what, where=workspace.file, remedy=did_you_mean(language, languages))
    return [one for one in _templates(workspace).values() if one.language == language]


def _templates(workspace: Workspace) -> dict[str, ReviewedTemplate]:
    """The templates of an experiment's prompts by id. Raises `ExperimentError` where a file has the prompts."""
    if prompts := workspace.experiment.prompts.file:
        remedy = "Ask speakers to read that file. Templates are reviewed where the experiment names wordings or a pack."
        what = f"its prompts come from {prompts} and are asked as they are: there is no template to review"
        raise ExperimentError(what, where=workspace.file, remedy=remedy)
    return {one.template_id: one for one in templates_of(workspace.prompts, workspace.catalog)}


def _keep(run: RunFolder, reviews: Sequence[PromptReview]) -> None:
    with store_faults(run.root):
        run.root.mkdir(parents=True, exist_ok=True)
    write_parquet(objects_to_table(PROMPT_REVIEWS, reviews), run.table(PROMPT_REVIEWS.name))
    record_table(run, PROMPT_REVIEWS.name)


def _kept(run: RunFolder) -> list[PromptReview]:
    require_table(run, PROMPT_REVIEWS.name)
    path = run.table(PROMPT_REVIEWS.name)
    return [PromptReview(**row) for row in read_rows(path, PROMPT_REVIEWS).to_pylist()] if path.exists() else []
