"""`polyculture demo`: the whole pipeline on the embedded model."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cache.files import store_faults
from polyculture.cli.declared import print_metrics
from polyculture.console import say
from polyculture.experiment.workspace import open_workspace
from polyculture.running.pipeline import Pipeline
from polyculture.running.results import measure_run, report_run, tell_limits

EXPERIMENT = Path(__file__).with_name("demo.toml")


def demo(
    folder: Annotated[Path, typer.Option(help="The folder for the demo's files.")] = Path("demo"),
    samples: Annotated[int | None, typer.Option(min=1, help="Samples per prompt, if not the demo's own.")] = None,
) -> None:
    """Run the whole pipeline on a small bundled model.

    Minutes on two cores; no key, and no network once it is installed.
    """
    file = folder / "demo.toml"
    with store_faults(file):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(EXPERIMENT, file)
        if samples is not None:
            file.write_text(_with_samples(file.read_text(encoding="utf-8"), samples), encoding="utf-8")
    workspace = open_workspace(file)
    pipeline = Pipeline.prepare(workspace)
    pipeline.generate(workspace.jobs)
    pipeline.extract(workspace.jobs)
    pipeline.link()
    measure_run(workspace.run, workspace.catalog)
    report = report_run(workspace.run, workspace.catalog)
    print_metrics(workspace)
    for note in workspace.experiment.notes:
        say(f"Mind: {note}")
    tell_limits(pipeline.manifest)
    typer.echo(f"Report: {report}")
    pipeline.finish()


def _with_samples(text: str, samples: int) -> str:
    lines = [f"n = {samples}" if line.startswith("n = ") else line for line in text.splitlines()]
    return "\n".join(lines) + "\n"
