"""`polyculture extract`: responses to mentions, and the accuracy of an extractor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyculture.cli.options import (
    STAGE,
    AcceptChanges,
    ExperimentFile,
    Format,
    JobShare,
    OnlyLanguage,
    OnlyModel,
    OnlyTopic,
    OutputFile,
    OutputFormat,
    RetryCommand,
    RetryOption,
    Runs,
    StageGroup,
)
from polyculture.cli.options import retry_failed as retry_failed_of

app = typer.Typer(
    cls=StageGroup,
    no_args_is_help=True,
    help="Find the mentions: `polyculture extract EXPERIMENT`. Or measure an extractor: `extract audit`.",
    epilog="polyculture extract exp.toml; polyculture extract audit --with gazetteer",
)


@app.command(STAGE, hidden=True, cls=RetryCommand)
def extract(
    experiment: ExperimentFile,
    runs: Runs = None,
    job: JobShare = None,
    model: OnlyModel = None,
    language: OnlyLanguage = None,
    topic: OnlyTopic = None,
    accept_changes: AcceptChanges = False,
    retry_failed: RetryOption = None,
) -> None:
    """Extract the mentions of all responses that have none yet."""
    from polyculture.experiment.workspace import choose_jobs, open_workspace
    from polyculture.running.pipeline import Pipeline

    workspace = open_workspace(experiment, runs)
    chosen = choose_jobs(workspace, job=job, model=model, language=language, topic=topic)
    pipeline = Pipeline.prepare(workspace, accept_changes=accept_changes)
    pipeline.retry = retry_failed_of(retry_failed)
    pipeline.extract(chosen)
    pipeline.finish()


@app.command(epilog="polyculture extract audit --with llamacpp:FILE.gguf --option context=4096 --language ja")
def audit(
    extractor: Annotated[str, typer.Option("--with", help="gazetteer, or a model: engine:name.")] = "gazetteer",
    gold: Annotated[Path | None, typer.Option(help="A folder of gold texts, one .jsonl a language.")] = None,
    snapshot: Annotated[str, typer.Option(help="The gazetteer's names: a snapshot's file, or starter.")] = "starter",
    language: Annotated[list[str] | None, typer.Option(help="Only this language; may be repeated.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="An option of the model's engine; may be repeated.")
    ] = None,
    prompt: Annotated[Path | None, typer.Option(help="A file with an instruction of your own to the model.")] = None,
    texts: Annotated[int, typer.Option(min=1, max=50, help="Texts in one request to the model.")] = 1,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Measure an extractor on the gold set.

    Precision, recall and F1 with 95 % intervals, by language, topic, trap and kind.
    """
    from polyculture.cli.extract_audit import audit_extractor

    audit_extractor(extractor, gold, snapshot, language, option or [], prompt, texts, format, output)
