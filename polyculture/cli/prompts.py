"""`polyculture prompts`: what will be asked, in full; and the review of prompts by speakers of their languages."""

from __future__ import annotations

from typing import Annotated

import typer

from polyculture.cli import prompt_review
from polyculture.cli.options import STAGE, ExperimentFile, Format, OutputFile, OutputFormat, Runs, StageGroup

app = typer.Typer(
    cls=StageGroup,
    no_args_is_help=True,
    help="Print what will be asked: `polyculture prompts EXPERIMENT`. Or let people review it: `prompts review`.",
    epilog="polyculture prompts exp.toml --language ja --topic food; polyculture prompts exp.toml --extractor",
)
app.add_typer(prompt_review.app, name="review")


@app.command(
    STAGE,
    hidden=True,
    epilog="polyculture prompts exp.toml --language ja --condition explicit; "
    "polyculture prompts exp.toml --glosses --topic music; polyculture prompts exp.toml --format csv -o prompts.csv",
)
def prompts(
    experiment: ExperimentFile,
    runs: Runs = None,
    model: Annotated[list[str] | None, typer.Option(help="Only as this model is asked; may be repeated.")] = None,
    language: Annotated[list[str] | None, typer.Option(help="Only this language; may be repeated.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="Only this topic; may be repeated.")] = None,
    condition: Annotated[list[str] | None, typer.Option(help="Only this condition; may be repeated.")] = None,
    wording: Annotated[list[str] | None, typer.Option(help="Only this wording; may be repeated.")] = None,
    country: Annotated[list[str] | None, typer.Option(help="Only this country; may be repeated.")] = None,
    extractor: Annotated[
        bool, typer.Option("--extractor", help="Instead: the extractor's messages and its JSON schema, by topic.")
    ] = False,
    glosses: Annotated[
        bool,
        typer.Option(
            "--glosses", help="Instead: each template that is asked, and what it says in English, by language."
        ),
    ] = False,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Print every prompt as it is sent, with the names drawn, and how many there are. Nothing is asked or loaded.

    Where models are sent different texts (a system prompt, a sentence behind the prompt), each text names its models.
    """
    from polyculture.cli.prompt_tables import print_extractor, print_glosses, print_prompts
    from polyculture.experiment.sent import PromptFilter
    from polyculture.experiment.workspace import open_workspace

    if extractor and glosses:
        raise typer.BadParameter("--extractor and --glosses are two different tables: name one of them")
    workspace = open_workspace(experiment, runs)
    asked = (model, language, topic, condition, wording, country)
    wanted = PromptFilter(*(tuple(values or ()) for values in asked))
    if extractor:
        print_extractor(workspace, wanted, format, output)
    elif glosses:
        print_glosses(workspace, wanted, format, output)
    else:
        print_prompts(workspace, wanted, format, output)
