"""An installed Polyculture owns one import name: whatever else a user's folder holds harms nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store_builder import StoreBuilder
from tests.test_house import ROOMS, ROOT

EXPERIMENT = """
name = "small"
models = ["openai:any"]
languages = ["en"]
topics = ["food"]
countries = ["IT", "JP"]
[options.openai]
base_url = "http://127.0.0.1:9/v1"
"""
# The rooms, what stands in them or beside them, and what people call their own files.
OWN = (
    *(room for room in ROOMS if room != "polyculture"),
    *("bench", "tests", "cli", "running", "experiment", "cluster", "console"),
    *("run", "report", "schema", "store", "data", "models", "utils", "config", "main", "types_"),
)
RAISES = 'raise RuntimeError(f"the user\'s {__name__} was imported")\n'


def as_files(folder: Path) -> None:
    for name in OWN:
        (folder / f"{name}.py").write_text(RAISES, encoding="utf-8")


def as_packages(folder: Path) -> None:
    for name in OWN:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(RAISES, encoding="utf-8")


IMPORT_ALL = """
import importlib, pkgutil
import polyculture

def stop(name):
    raise ImportError(name)

for module in pkgutil.walk_packages(polyculture.__path__, "polyculture.", stop):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's working folder: an experiment, its run, and code of their own under all those names."""
    (tmp_path / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    builder = StoreBuilder(tmp_path / "runs" / "small", models=("openai:any",))
    builder.answer(builder.ask("en", "food", country="JP"), ["ramen"])
    builder.write()
    as_files(tmp_path)
    return tmp_path


@pytest.fixture
def only_polyculture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to import from that holds the package alone, as an installation does."""
    path = tmp_path_factory.mktemp("site")
    (path / "polyculture").symlink_to(ROOT / "polyculture", target_is_directory=True)
    return path


def python(*words: str, cwd: Path, path: Path) -> str:
    """What Python prints in the user's folder, which comes first on its search path."""
    environment = {**os.environ, "PYTHONPATH": str(path)}
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_commands_work_beside_files_of_the_same_names(folder: Path, only_polyculture: Path) -> None:
    """`metrics.py` in the working folder once ended `python -m polyculture` with a traceback."""

    def polyculture(*words: str) -> str:
        return python("-m", "polyculture", *words, cwd=folder, path=only_polyculture)

    assert "small" in polyculture("plan", "exp.toml", "--accept-changes")
    found = polyculture(
        "sql", "exp.toml", "SELECT surface, count(*) AS n FROM mentions GROUP BY ALL", "--format", "csv"
    )
    assert found.splitlines() == ["surface,n", "ramen,1"]


@pytest.mark.slow
def test_every_module_is_imported_beside_packages_of_the_same_names(tmp_path: Path, only_polyculture: Path) -> None:
    """As in a notebook: the user's folder comes first on the search path."""
    as_packages(tmp_path)
    imported = python("-c", IMPORT_ALL, cwd=tmp_path, path=only_polyculture).split()
    assert len(imported) > 300
    assert {name.split(".")[1] for name in imported} >= set(ROOMS) - {"polyculture"}
