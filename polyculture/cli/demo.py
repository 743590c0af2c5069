"""`polyculture demo`: two small models, one asked on this machine and one whose answers come along."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cache.files import store_faults
from polyculture.cli.run import finish_run
from polyculture.console import say
from polyculture.experiment.jobs import JobSelection
from polyculture.running.opening import open_workspace
from polyculture.running.start import run_experiment

EXPERIMENT = Path(__file__).with_name("demo.toml")
RECORDED = Path(__file__).with_name("recorded")  # a run of the second model: the demo reuses it as any run beside it
MOST = 10  # samples that were recorded of each prompt


def demo(
    folder: Annotated[Path, typer.Option(help="The folder for the demo's files.")] = Path("demo"),
    samples: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="Samples per prompt, if not the demo's own.")
    ] = None,
) -> None:
    """Compare two small models, from prompts to the report.

    A bundled model writes in English; what another one wrote in three languages was recorded and comes along. Two
    minutes on two cores; no key, and no network once it is installed.
    """
    file, recorded = folder / "demo.toml", folder / "runs" / RECORDED.name
    with store_faults(file):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(EXPERIMENT, file)
        if samples is not None:
            file.write_text(_with_samples(file.read_text(encoding="utf-8"), samples), encoding="utf-8")
        shutil.copytree(RECORDED, recorded, dirs_exist_ok=True)  # a copy that broke off is made whole
    workspace = open_workspace(file)
    finished = run_experiment(workspace, JobSelection())
    say("Two of the smallest models, and few texts: an example of a page, and no evidence about any model")
    finish_run(workspace, finished, "polyculture init exp.toml")


def _with_samples(text: str, samples: int) -> str:
    lines = [f"n = {samples}" if line.startswith("n = ") else line for line in text.splitlines()]
    return "\n".join(lines) + "\n"
