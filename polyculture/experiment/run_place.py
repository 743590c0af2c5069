"""Where the run of an experiment file stands."""

from __future__ import annotations

import tomllib
from pathlib import Path

from polyculture.cache.database import check_path
from polyculture.cache.files import is_folder_name
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.run_folder import RunFolder

RUNS = "runs"  # beside the experiment file


def run_place(name: str, file: Path, runs: Path | None = None) -> RunFolder:
    """The folder of an experiment's run, there or not. Raises `StoreError` for a path that DuckDB cannot open."""
    root = (runs or file.resolve().parent / RUNS) / name
    check_path(root)
    return RunFolder(root)


def stored_run(file: Path, runs: Path | None = None) -> RunFolder:
    """The run of an experiment file, to be read. Of the file only the name is: what the run holds is there whether the
    file asks for something else by now, or its models are not at hand. Raises a `UserError` where there is no run.
    """
    try:
        name = tomllib.loads(file.read_text(encoding="utf-8-sig")).get("name")
    except (OSError, ValueError, RecursionError):
        name = None
    if not isinstance(name, str) or not is_folder_name(name):
        from polyculture.experiment.file import read_experiment  # it says what is wrong with the file

        name = read_experiment(file).name
    run = run_place(name, file, runs)
    require_run(run)
    return run
