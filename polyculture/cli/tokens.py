"""`polyculture tokens`: how much of a vocabulary is a language's own, and into how many tokens entities fall."""

from __future__ import annotations

from typing import Annotated

import typer

from polyculture.cli.options import ExperimentFile, Format, Model, OutputFile, OutputFormat, Runs


def tokens(
    experiment: ExperimentFile,
    model: Model = None,
    language: Annotated[list[str] | None, typer.Option(help="These languages. Default: all that can be told.")] = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
    runs: Runs = None,
) -> None:
    """Count the tokens of a model's vocabulary that hold a language's own letters.

    Then, where `polyculture cbs` has scored: tokens per entity, native and Western, beside the Cultural Bias Score.
    """
    from polyculture.cli.tables import write_values
    from polyculture.cli.vocabulary import COLUMNS, choose_languages, print_entity_tokens, vocabulary_rows
    from polyculture.experiment.workspace import choose_models, open_workspace

    workspace = open_workspace(experiment, runs)
    models = choose_models(workspace, model)
    rows = vocabulary_rows(workspace, models, choose_languages(language))
    write_values(COLUMNS, rows, format, output)
    if format is Format.TABLE and output is None:
        print_entity_tokens(workspace)
