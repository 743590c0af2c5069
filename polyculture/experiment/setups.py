"""The setups of an experiment's models: which models answer, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from polyculture.cache.errors import ExperimentError, StoreError
from polyculture.cache.store.manifest import Manifest, read_manifest, setup_id
from polyculture.cache.store.run_folder import RunFolder
from polyculture.experiment.file import Experiment
from polyculture.generate.engines import ModelSpec
from polyculture.generate.engines.options import OF_TEXTS
from polyculture.generate.engines.setup import FILES, model_setup
from polyculture.generate.request import SAMPLE

if TYPE_CHECKING:
    from polyculture.generate.engines.options import Use

Setups = Mapping[str, Mapping[str, Any]]  # 'use model' -> the setup
EXTRACT = "extract "  # how the keys of the setups of extractors begin; those of texts with `SAMPLE`


def text_setups(experiment: Experiment, known: Setups) -> dict[str, dict[str, Any]]:
    """The setups of an experiment's texts, by key. Files that are not here are those of the `known` setups."""
    keys = [(f"{SAMPLE}{model}", model) for model in experiment.models]
    if experiment.extract.by_model:
        keys.append((f"{EXTRACT}{experiment.extract.with_}", experiment.extract.with_))
    return {key: setup_of(experiment.model_spec(model), key, known) for key, model in keys}


def setup_of(spec: ModelSpec, key: str, known: Setups) -> dict[str, Any]:
    """The setup of a model for the use that its key begins with: 'sample mock:m'.

    The system prompt and the seed of texts are none of extraction, which samples too and has its own of both.
    """
    is_extraction = key.startswith(EXTRACT)
    use = cast("Use", "sample" if is_extraction else key.partition(" ")[0])
    setup = model_setup(spec, use, known.get(key, {}))
    return {name: value for name, value in setup.items() if not (is_extraction and name in OF_TEXTS)}


def setups_beside(run: RunFolder) -> dict[str, dict[str, Any]]:
    """The setups of the runs beside one that has not begun, of several the first by name.

    They say which files their models were where these are not on this machine: so answers that came along with their
    run are known for what they are.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(run.root.parent.glob("*/manifest.json"), reverse=True):
        with suppress(StoreError):  # of another version: nothing of it is reused
            beside = read_manifest(path)
            found |= beside.setups if beside else {}
    return found


def check_same(experiment: Experiment, prepared: Manifest, file: Path) -> None:
    """Raises `ExperimentError` where a model is another one here than for the process that prepared the run."""
    for key, setup in text_setups(experiment, prepared.setups).items():
        known = prepared.setups.get(key, setup)
        # A machine that only hands out the jobs may have no files.
        here = {name: value for name, value in setup.items() if name in known or name not in FILES}
        if setup_id(here) != setup_id(known):
            what = f"{key.partition(' ')[2]} is another model on this machine than where the run began"
            remedy = "Give every machine the same files and the same experiment file, and run again."
            raise ExperimentError(what, where=file, remedy=remedy)
