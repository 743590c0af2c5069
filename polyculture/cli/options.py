"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

ExperimentFile = Annotated[Path, typer.Argument(metavar="EXPERIMENT", help="The experiment file, e.g. exp.toml.")]
Runs = Annotated[
    Path | None,
    typer.Option("--runs", envvar="POLYCULTURE_RUNS", help="The folder of runs. Default: runs/ beside the file."),
]
JobShare = Annotated[
    str | None, typer.Option("--job", metavar="K/N", help="Only the K-th of N shares of the jobs (for job arrays).")
]
Model = Annotated[str | None, typer.Option(help="Only this model of the experiment.")]
OnlyModel = Annotated[str | None, typer.Option("--model", help="Only the jobs of this model.")]
OnlyLanguage = Annotated[str | None, typer.Option("--language", help="Only the jobs in this language.")]
OnlyTopic = Annotated[str | None, typer.Option("--topic", help="Only the jobs of this topic.")]
AcceptChanges = Annotated[
    bool, typer.Option("--accept-changes", help="Redo what a changed experiment file makes stale.")
]


class StoreSelection(StrEnum):
    """The selections of responses and links: the schemas of the store."""

    ALL = "main"
    RIGHT_LANGUAGE = "right_language"
    WITH_AMBIGUOUS = "with_ambiguous"
    BOTH = "right_language_with_ambiguous"


OfSelection = Annotated[
    StoreSelection,
    typer.Option(
        "--selection", help="right_language: without responses in another language; with_ambiguous: with such links."
    ),
]


class Format(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


OutputFormat = Annotated[Format, typer.Option("--format", "-f", help="How the rows are written.")]
OutputFile = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead of the terminal.")]

NEW_CLUSTER = "local"  # instead of the address of a Ray cluster: start one on this machine
