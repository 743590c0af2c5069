"""`polyculture import`: texts that somebody else generated."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cli.options import Runs


class Links(StrEnum):
    """Whose links a new experiment takes."""

    PUBLISHED = "published"
    OURS = "ours"


def _column(help: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(metavar="COLUMN", help=help)
    return option


def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The texts: JSONL, CSV, Parquet, the log of a tool, or a folder.")
    ],
    experiment: Annotated[
        Path, typer.Option("--as", metavar="EXPERIMENT", help="The experiment file; it is written if it is not there.")
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="jsonl, csv, parquet, lm-eval, inspect, openai-batch or makieval, if not by its name.",
        ),
    ] = None,
    text: Annotated[str | None, _column("Where the text stands; doc.answer reaches into nested columns.")] = None,
    language: Annotated[
        str | None, _column("Where its language stands; =ja says it of all rows, as for each field.")
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
    surface: Annotated[str | None, _column("Of a study's items: where the words of an item stand.")] = None,
    granularity: Annotated[str | None, _column("Where its granularity stands: specific or general, or a kind.")] = None,
    qid: Annotated[str | None, _column("Where its QID stands.")] = None,
    label: Annotated[str | None, _column("Where its English label stands.")] = None,
    links: Annotated[
        Links, typer.Option(help="Of a study's items: whose links a new experiment takes, the study's or ours.")
    ] = Links.PUBLISHED,
    parts: Annotated[
        str | None,
        typer.Option(metavar="COLUMN=PATTERN", help="Fields in one column: 'custom_id={language}-{topic}-{}'."),
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(metavar="TOML", help="A file with the fields and their columns under [import].")
    ] = None,
    inputs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The requests of an OpenAI batch, with the prompts.")
    ] = None,
    like: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL=TOPIC", help="A topic of your own, read with the kinds of a known one. Repeatable."
        ),
    ] = None,
    add: Annotated[bool, typer.Option("--add", help="Of a file that has changed since, take what is new.")] = False,
    runs: Runs = None,
) -> None:
    """Take texts that somebody else generated, to extract, link, measure and report them without a model.

    Columns are found by their usual names; the command says which it took. What the file does not say is not known,
    and said: it is never made up. Rows that cannot be taken stand in the view import_failures, with the reason.
    The same file twice changes nothing.
    """
    from polyculture.running.importing import Wanted, import_file, read_mapping_file

    named = {
        **{"text": text, "language": language, "country": country, "topic": topic, "condition": condition},
        **{"model": model, "prompt": prompt, "id": id, "seed": seed},
        **{"surface": surface, "granularity": granularity, "qid": qid, "label": label},
    }
    columns = {} if mapping is None else read_mapping_file(mapping)
    columns |= {name: column for name, column in named.items() if column is not None}
    pairs = [one.partition("=") for one in like or ()]
    if wrong := [f"{a}{b}{c}" for a, b, c in pairs if not (a and b and c)]:
        raise typer.BadParameter(f"--like {wrong[0]} is not LABEL=TOPIC")
    alike = {label: topic_ for label, _, topic_ in pairs}
    wanted = Wanted(format=format, columns=columns, parts=parts, inputs=inputs, alike=alike, add=add, links=links)
    import_file(file, experiment, runs, wanted)
