"""`polyculture init`: writes a commented experiment file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cache.errors import ExperimentError
from polyculture.cache.files import store_faults
from polyculture.console import say

TEMPLATE = Path(__file__).with_name("experiment.toml")


def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")] = Path("experiment.toml"),
) -> None:
    """Write a commented experiment file."""
    if file.exists():
        raise ExperimentError("is there already", where=file, remedy="Choose another name, or remove it first.")
    with store_faults(file):
        shutil.copyfile(TEMPLATE, file)
    say(f"Wrote {file}. See what it would ask: polyculture plan {file}")
