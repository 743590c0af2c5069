"""`polyculture init`: writes a commented experiment file, and the catalogue that a preset brings along."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cache.errors import ExperimentError, did_you_mean
from polyculture.cache.files import store_faults
from polyculture.console import say

TEMPLATE = Path(__file__).with_name("experiment.toml")
PRESETS = Path(__file__).with_name("presets")  # a folder each: experiment.toml, and catalog/ for beside it


def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")] = Path("experiment.toml"),
    preset: Annotated[
        str | None,
        typer.Option(help="camel-texts: the text generation of CAMeL, with a folder camel-texts beside the file."),
    ] = None,
) -> None:
    """Write a commented experiment file.

    With --preset: that of a known study, and the folder with its topics and regions.
    """
    template, catalog = (TEMPLATE, None) if preset is None else _preset(preset)
    beside = None if catalog is None else file.with_name(str(preset))
    for path in (file, beside):
        if path is not None and path.exists():
            raise ExperimentError("is there already", where=path, remedy="Choose another name, or remove it first.")
    if catalog is not None and beside is not None:
        with store_faults(beside):
            shutil.copytree(catalog, beside)
    with store_faults(file):
        shutil.copyfile(template, file)
    say(f"Wrote {file}{f' and {beside}' if beside else ''}. See what it would ask: polyculture plan {file}")


def _preset(name: str) -> tuple[Path, Path]:
    """The files of a preset. Raises `ExperimentError` where there is none of this name."""
    known = sorted(folder.name for folder in PRESETS.iterdir())
    if name not in known:
        raise ExperimentError(f"unknown preset {name!r}", remedy=did_you_mean(name, known) or f"Write {known[0]}.")
    return PRESETS / name / "experiment.toml", PRESETS / name / "catalog"
