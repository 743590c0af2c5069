"""The folders in which the commands of the pages run.

`exp.toml` asks the second model of the demo in three languages; its answers were recorded, and no model is loaded.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from polyculture.cli.demo import RECORDED
from tests.polyculture.test_command_line import polyculture


def empty(folder: Path) -> None:
    folder.mkdir()


def recorded(folder: Path) -> None:
    """`exp.toml`, of which nothing was run; a run has its answers."""
    shutil.copytree(RECORDED, folder / "runs" / "recorded")
    text = (RECORDED / "experiment.toml").read_text(encoding="utf-8")
    assert 'name = "recorded"' in text
    (folder / "exp.toml").write_text(text.replace('name = "recorded"', 'name = "exp"'), encoding="utf-8")


def measured(folder: Path) -> None:
    """`exp.toml` and its run, made once in a process."""
    shutil.copytree(_measured(), folder)


@cache
def _measured() -> Path:
    folder = of_all_pages() / "measured"
    recorded(folder)
    done = polyculture("run", "exp.toml", cwd=folder, POLYCULTURE_CACHE=str(of_all_pages() / "cache"))
    assert done.returncode == 0, done.stderr
    return folder


@cache
def of_all_pages() -> Path:
    """A folder for what is made once in a process."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    return folder


# Of each page whose outputs are shown. The tutorial loads a model: its test is one of the long ones.
SETTINGS: dict[str, Callable[[Path], None]] = {
    "README.md": empty,
    "docs/tutorial.md": empty,
    "docs/statistics.md": measured,
    "docs/claims.md": measured,
    "docs/gallery.md": measured,
    "docs/gate.md": measured,
    "docs/queries.md": measured,
    "docs/experiments.md": recorded,
    "docs/importing.md": empty,
    "docs/linking.md": empty,
    "docs/extraction.md": empty,
}
LONG = frozenset({"docs/tutorial.md"})
