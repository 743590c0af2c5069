"""`polyculture import`: texts that somebody else generated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cli.declared import print_tables
from polyculture.cli.options import Packs, Runs
from polyculture.sources.item_scores import FIELDS, LogReader


class LinkOrigin(StrEnum):
    """Whose links a new experiment takes."""

    PUBLISHED = "published"
    OURS = "ours"


def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The texts: JSON, CSV, .xlsx, Parquet, the log of a tool, or a folder."),
    ],
    fields: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIELD=COLUMN",
            help="The column of a field: text=answer, or a path as text=messages[-1].content; language==ja sets it for "
            "all rows. Fields: text, language, topic, model, country, condition, prompt, id, seed; "
            "surface, granularity, qid, label, name, english of items; with --scores further logs, and score, metric, "
            "model, dataset, language, item, repeat, version, cluster; range=judge=1..10 scales a metric to 0 to 1.",
        ),
    ] = None,
    experiment: Annotated[
        Path | None,
        typer.Option(
            "--as",
            metavar="EXPERIMENT",
            help="The experiment file; it is written if it is not there. [required without --set]",
        ),
    ] = None,
    set_: Annotated[
        str | None,
        typer.Option("--set", metavar="SET", help="The texts are answers to this question set, as in `ask`."),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="Take the scores of items from logs of lm-evaluation-harness, Inspect, HELM or Every Eval Ever: one "
            "or more files or folders.",
        ),
    ] = False,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="With --set: the folder of its files, if they were not fetched.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", help="The format, if the content does not show it: see docs/importing.md."),
    ] = None,
    links: Annotated[
        LinkOrigin, typer.Option(help="Of a study's items: whose links a new experiment takes, the study's or ours.")
    ] = LinkOrigin.PUBLISHED,
    parts: Annotated[
        str | None,
        typer.Option(metavar="COLUMN=PATTERN", help="Fields in one column: 'custom_id={language}-{topic}-{}'."),
    ] = None,
    inputs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The requests of a batch, with the prompts.")
    ] = None,
    like: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL=TOPIC", help="A label of the topics' column that means this topic. Repeatable."),
    ] = None,
    cut: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORDS",
            help="Take texts without these words at their beginning, or without their prompt: --cut prompt. "
            "--cut nothing takes them as they are where most begin with what no model writes. Repeatable.",
        ),
    ] = None,
    catalog: Packs = None,
    replace: Annotated[bool, typer.Option("--replace", help="Import a file again that was imported before.")] = False,
    skip_rows: Annotated[
        bool,
        typer.Option("--skip-rows", help="Import the other rows if some cannot be imported; otherwise none is."),
    ] = False,
    runs: Runs = None,
) -> None:
    """Take texts that somebody else generated, to extract, link, measure and report them without a model.

    Formats are recognised by their content, and columns by their usual names; the command prints which columns it
    took and what it guessed. A value that the file does not contain stays unknown: it is never made up. If a row cannot
    be imported, none is, unless you add --skip-rows; the view import_failures then has these rows with the reason. If
    you import the same file twice, nothing changes.
    """
    for_texts = {
        "--parts": parts, "--like": like, "--cut": cut, "--catalog": catalog, "--replace": replace,
        "--links": links is not LinkOrigin.PUBLISHED,
    }  # fmt: skip
    if scores:
        others = {**for_texts, "--set": set_, "--folder": folder, "--inputs": inputs}
        _refuse(others, "not with --scores, which takes scores and no texts")
        _import_scores([str(file), *(fields or ())], experiment, runs, format, skip_rows=skip_rows)
        return
    if set_ is not None:
        _refuse(for_texts, "not with --set, where a later answer to a question and prompt replaces an earlier one")
    elif folder is not None:
        raise typer.BadParameter("--folder: only with --set, for the files of a question set")
    from polyculture.running.importing import ImportRequest, field_columns, import_file

    wanted = ImportRequest(format=format, columns=field_columns(fields or ()), parts=parts, inputs=inputs,
                    alike=_alike(like or ()), cut=tuple(cut or ()),
                    catalog=catalog or (), replace_it=replace, skip_rows=skip_rows, links=links)  # fmt: skip
    if set_ is not None:
        from polyculture.running.importing_answers import import_answers

        workspace, study = import_answers(file, set_, folder, experiment, runs, wanted)
        print_tables(workspace, [study])
        return
    if experiment is None:
        raise typer.BadParameter("name the experiment file with --as, or a question set with --set")
    import_file(file, experiment, runs, wanted)


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Raises `typer.BadParameter` if an option was given that the kind of import does not read."""
    if given := [name for name, value in options.items() if value]:
        raise typer.BadParameter(f"{', '.join(given)}: {why}")


def _import_scores(
    words: Sequence[str], experiment: Path | None, runs: Path | None, format: str | None, *, skip_rows: bool
) -> None:
    """Imports scores from logs, which stand among `FIELD=COLUMN` as they come."""
    from polyculture.running.importing import field_columns
    from polyculture.running.importing_scores import RANGE, import_scores, read_ranges

    if experiment is None:
        raise typer.BadParameter("name the experiment file with --as")
    logs = [Path(word) for word in words if Path(word).exists() or "=" not in word]
    others = [word for word in words if Path(word) not in logs]
    ranges = [word.removeprefix(RANGE) for word in others if word.startswith(RANGE)]
    told = field_columns([word for word in others if not word.startswith(RANGE)], FIELDS)
    workspace, study = import_scores(logs, experiment, runs, LogReader(told, format, skip_rows), read_ranges(ranges))
    print_tables(workspace, [study])


def _alike(words: Sequence[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in words]
    if wrong := [f"{a}{b}{c}" for a, b, c in pairs if not (a and b and c)]:
        raise typer.BadParameter(f"--like {wrong[0]} is not LABEL=TOPIC")
    return {label: topic for label, _, topic in pairs}
