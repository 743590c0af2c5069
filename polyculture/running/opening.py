"""Opens an experiment: reads its file, or what Python gave, and checks every name in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import CatalogError, ExperimentError, Mistakes, UserError, together
from polyculture.experiment.checks import check_models, check_names, check_prices, with_codes
from polyculture.experiment.file import Experiment, parse_experiment, read_keys, with_defaults
from polyculture.experiment.run_place import run_place
from polyculture.experiment.workspace import Workspace
from polyculture.running.call_list import calls_in_file, checked_options


def open_workspace(file: Path, runs: Path | None = None) -> Workspace:
    """Reads an experiment file and checks every name in it. Raises a `UserError` for an invalid file."""
    return check_workspace(read_keys(file), file, runs)


def check_workspace(data: dict[str, Any], file: Path, runs: Path | None = None, text: str | None = None) -> Workspace:
    """The experiment that keys say, read from `file` or given by Python as `text`, with every name in it checked.

    Paths in it, and the folder of runs, are relative to the folder of `file`. Raises a `UserError` with a line for each
    mistake: for those of single keys first, and once each key fits, for what they say together.
    """
    mistakes = Mistakes()
    with mistakes:
        experiment = parse_experiment(data, file)
    if mistakes.found:  # the sections of instruments have models of their own
        mistakes.found[:0] = _wrong_options(with_defaults(data), file)
    mistakes.tell()
    mistakes.found += experiment.contradictions(file)
    packs = [file.parent / name for name in experiment.catalog]
    for folder in packs:
        if not folder.exists():
            what = f"catalog: there is no file or folder {folder}"
            mistakes.found.append(ExperimentError(what, where=file, remedy="Correct the path."))
    if not all(folder.exists() for folder in packs):
        mistakes.tell()  # which names a pack brings is not known
    try:
        catalog = read_catalog(*packs)
    except CatalogError as fault:
        raise together([*mistakes.found, fault]) from fault
    experiment = with_codes(experiment, catalog)
    models = list(check_models(experiment, file))
    mistakes.found += [*check_names(experiment, catalog, file), *models]
    if not models:  # else nobody knows which of them are paid
        with mistakes:
            check_prices(experiment, file)
    workspace = Workspace(file, experiment, catalog, run_place(experiment.name, file, runs), text=text)
    if mistakes.found:  # else whoever asks instruments looks at their options
        try:
            calls_in_file(workspace)
        except UserError as fault:  # what is wrong with a model or a list of names is told already
            mistakes.found += [one for one in (fault, *fault.others) if isinstance(one, ExperimentError)]
    mistakes.tell()
    return workspace


def _wrong_options(data: Mapping[str, Any], file: Path) -> list[UserError]:
    """What is wrong with the options of instruments in the keys of a file, whatever its other keys are."""
    instruments, defaults = _tables(data.get("instruments")), _tables(data.get("defaults"))
    experiment = Experiment.model_construct(name="", models=(), instruments=instruments, defaults=defaults)
    mistakes = Mistakes()
    for command in instruments:
        with mistakes:
            checked_options(experiment, file, command, {})
    return mistakes.found


def _tables(section: object) -> dict[str, Any]:
    """The tables in a section. The check of the file's own keys reports everything else that is in it."""
    found = section if isinstance(section, dict) else {}
    return {key: value for key, value in found.items() if isinstance(value, dict)}
