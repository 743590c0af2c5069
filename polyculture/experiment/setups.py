"""The setups of an experiment's texts: which models answer and extract, exactly, and what their rows are known by."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyculture.cache.errors import ExperimentError
from polyculture.cache.identity import appended_id
from polyculture.cache.manifest import Manifest, setup_id
from polyculture.experiment.file import Experiment
from polyculture.generate.engines import ModelSpec
from polyculture.generate.engines.imported import PREFIX
from polyculture.generate.engines.options import SYSTEM
from polyculture.generate.engines.setup import FILES, model_setup
from polyculture.generate.sampling import IMPORTED_ID, SamplingIdentity, SamplingSettings

SAMPLE, EXTRACT = "sample ", "extract "  # how the keys of setups begin


def present_setups(experiment: Experiment, known: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The setups of an experiment's texts, by key. Files that are not here are those of the `known` setups."""
    keys = [(f"{SAMPLE}{model}", model) for model in experiment.models]
    if experiment.extract.by_model:
        keys.append((f"{EXTRACT}{experiment.extract.with_}", experiment.extract.with_))
    return {key: _setup(experiment.model_spec(model), key, known.get(key, {})) for key, model in keys}


def _setup(spec: ModelSpec, key: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """The setup of a use. The system prompt of texts is none of extraction, which has messages of its own."""
    setup = model_setup(spec, "sample", known)
    return {name: value for name, value in setup.items() if key.startswith(SAMPLE) or name != SYSTEM}


def check_same(experiment: Experiment, prepared: Manifest, file: Path) -> None:
    """Raises `ExperimentError` where a model is another one here than for the process that prepared the run."""
    for key, setup in present_setups(experiment, prepared.setups).items():
        known = prepared.setups.get(key, setup)
        # A machine that only hands out the jobs may have no files.
        here = {name: value for name, value in setup.items() if name in known or name not in FILES}
        if setup_id(here) != setup_id(known):
            what = f"{key.partition(' ')[2]} is another model on this machine than where the run began"
            remedy = "Give every machine the same files and the same experiment file, and run again."
            raise ExperimentError(what, where=file, remedy=remedy)


def identities(manifest: Manifest) -> dict[tuple[str, str], SamplingIdentity]:
    """By model and language, what is sent with a prompt and what responses are known by in a run."""
    found, ids = {}, _sampling_ids(manifest)
    for model, sampling_id in ids.items():
        setup, sentences = manifest.setups[f"{SAMPLE}{model}"], manifest.appended.get(model, {})
        for language in manifest.languages:
            sentence = sentences.get(language)
            known_as = appended_id(sampling_id, sentence)
            seeded = "seed" not in setup.get("omit", ())
            found[model, language] = SamplingIdentity(known_as, setup_id(setup), setup.get(SYSTEM), sentence, seeded)
    return found


def with_identities(manifest: Manifest) -> Manifest:
    """The manifest with the ids that the responses of its models count under."""
    return manifest.model_copy(update={"sampling_ids": _sampling_ids(manifest)})


def _sampling_ids(manifest: Manifest) -> dict[str, str]:
    """By model, the id of the sampling settings and its setup."""
    if any(model.startswith(PREFIX) for model in manifest.models):
        return dict.fromkeys(manifest.models, IMPORTED_ID)
    sampling = SamplingSettings(**manifest.sampling)
    keys = {model: f"{SAMPLE}{model}" for model in manifest.models}
    return {m: sampling.id_under(setup_id(manifest.setups[key])) for m, key in keys.items() if key in manifest.setups}
