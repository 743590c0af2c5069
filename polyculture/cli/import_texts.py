"""`polyculture import`: texts that somebody else generated."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cli.options import Runs


class Again(StrEnum):
    """What to do with a file that was imported before."""

    REPLACE = "replace"
    ADD = "add"


class Links(StrEnum):
    """Whose links a new experiment takes."""

    PUBLISHED = "published"
    OURS = "ours"


def _column(help: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(metavar="COLUMN", help=help)
    return option


def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The texts: JSON, CSV, .xlsx, Parquet, the log of a tool, or a folder."),
    ],
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
    folder: Annotated[
        Path | None, typer.Option("--folder", help="With --set: the folder of its files, if they were not fetched.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="The format, where its content does not tell it: see docs/importing.md.",
        ),
    ] = None,
    text: Annotated[str | None, _column("Where the text stands: a column, or a path as messages[-1].content.")] = None,
    language: Annotated[
        str | None,
        _column("Where its language stands; =ja says it of all rows, as for each field. Else it is detected."),
    ] = None,
    country: Annotated[str | None, _column("Where its country stands, ISO 3166.")] = None,
    topic: Annotated[str | None, _column("Where its topic stands.")] = None,
    condition: Annotated[
        str | None, _column("Where its condition stands: any label; neutral and explicit give gains.")
    ] = None,
    model: Annotated[str | None, _column("Where the model's name stands.")] = None,
    prompt: Annotated[str | None, _column("Where the prompt stands.")] = None,
    id: Annotated[str | None, _column("What a row is known by; else its words.")] = None,
    seed: Annotated[str | None, _column("Where the seed stands.")] = None,
    links: Annotated[
        Links, typer.Option(help="Of a study's items: whose links a new experiment takes, the study's or ours.")
    ] = Links.PUBLISHED,
    parts: Annotated[
        str | None,
        typer.Option(metavar="COLUMN=PATTERN", help="Fields in one column: 'custom_id={language}-{topic}-{}'."),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(
            metavar="TOML", help="A file with the fields, also those of items, and their columns under [import]."
        ),
    ] = None,
    inputs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The requests of a batch, with the prompts.")
    ] = None,
    like: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL=TOPIC", help="A topic of your own, read with the kinds of a known one. Repeatable."
        ),
    ] = None,
    catalog: Annotated[
        Path | None, typer.Option("--catalog", help="Your own topics/, languages/ and countries.toml.")
    ] = None,
    again: Annotated[
        Again | None,
        typer.Option(help="Of a file that was imported before: replace its texts, or add what is new in it."),
    ] = None,
    skip_rows: Annotated[
        bool, typer.Option("--skip-rows", help="Take the rest where rows cannot be taken; else nothing is.")
    ] = False,
    runs: Runs = None,
) -> None:
    """Take texts that somebody else generated, to extract, link, measure and report them without a model.

    Formats are known by their content, columns by their usual names; the command says which it took, and what it
    guessed. What the file does not say is not known: it is never made up. Where a row cannot be taken, none is, unless
    --skip-rows says so; the view import_failures has them, with the reason. The same file twice changes nothing.
    """
    from polyculture.running.importing import Wanted, import_file, read_mapping_file

    named = {
        **{"text": text, "language": language, "country": country, "topic": topic, "condition": condition},
        **{"model": model, "prompt": prompt, "id": id, "seed": seed},
    }
    columns = {} if mapping is None else read_mapping_file(mapping)
    columns |= {name: column for name, column in named.items() if column is not None}
    pairs = [one.partition("=") for one in like or ()]
    if wrong := [f"{a}{b}{c}" for a, b, c in pairs if not (a and b and c)]:
        raise typer.BadParameter(f"--like {wrong[0]} is not LABEL=TOPIC")
    alike = {label: topic_ for label, _, topic_ in pairs}
    wanted = Wanted(format=format, columns=columns, parts=parts, inputs=inputs, alike=alike, catalog=catalog,
                    again=again, skip_rows=skip_rows, links=links)  # fmt: skip
    if set_ is not None:
        from polyculture.cli.instrument_command import print_tables
        from polyculture.running.importing_answers import import_answers

        workspace, study = import_answers(file, set_, folder, experiment, runs, wanted)
        print_tables(workspace, [study])
        return
    if experiment is None:
        raise typer.BadParameter("name the experiment file with --as, or a question set with --set")
    import_file(file, experiment, runs, wanted)
