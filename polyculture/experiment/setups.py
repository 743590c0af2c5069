"""The setups of an experiment's texts: which models answer and extract, exactly, and what their rows are known by.

A version that kept no setups wrote rows without one. They adopt the setup that their run had: as its own copy of the
experiment file has it, with the weights that the engine reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from polyculture.cache.errors import EngineError, ExperimentError, UserError
from polyculture.cache.identity import appended_id
from polyculture.cache.manifest import Manifest, read_manifest, setup_id
from polyculture.cache.migrations import SETUPS_OF_TEXTS
from polyculture.cache.parquet import read_rows
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import EXTRACTIONS, RESPONSES
from polyculture.cache.shards import committed_parts
from polyculture.experiment.file import GAZETTEER, PUBLISHED, Experiment, read_experiment
from polyculture.generate.engines import ModelSpec
from polyculture.generate.engines.imported import PREFIX
from polyculture.generate.engines.options import SYSTEM
from polyculture.generate.engines.setup import FILES, WEIGHTS, model_setup
from polyculture.generate.sampling import IMPORTED_ID, SamplingIdentity, SamplingSettings

SAMPLE, EXTRACT = "sample ", "extract "  # how the keys of setups begin
_HASH = re.compile(r"\bsha256:[0-9a-f]{16}\b")  # in a version that an engine reports


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


def own_id(manifest: Manifest, key: str) -> str | None:
    """What ids of rows hold of a setup: its `setup_id`, or None where rows without a setup are of this one."""
    found = setup_id(manifest.setups[key])
    return None if manifest.adopted.get(key) == found else found


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
    return {m: sampling.id_under(own_id(manifest, key)) for m, key in keys.items() if key in manifest.setups}


def adopting(run: RunFolder, before: Manifest, now: Experiment) -> Manifest:
    """The manifest of a run with the setups that its rows without one are taken to be made under.

    They are those of the run's own experiment file; where it kept none that can be read, those of `now`.
    """
    if SETUPS_OF_TEXTS in before.migrations:
        return before
    then = _own_file(run)
    keys = dict.fromkeys([*(f"{SAMPLE}{model}" for model in _sampled(run, before)), *_extracting(run, before)])
    found = {key: _setup_then(before, key, then, now) for key in keys}
    adopted = {key: setup for key, setup in found.items() if setup is not None}
    return before.model_copy(
        update={
            "setups": {**before.setups, **adopted},
            "adopted": {key: setup_id(setup) for key, setup in adopted.items()},
            "sampling_ids": dict.fromkeys(before.models, before.sampling_id),
            "migrations": [*before.migrations, SETUPS_OF_TEXTS],
        }
    )


def adopted_setup(run: RunFolder, key: str) -> str | None:
    """The setup that a model's rows without one have in a run, by its key; None where nobody knows it."""
    try:
        manifest = read_manifest(run.manifest)
    except UserError:
        return None
    if manifest is None or SETUPS_OF_TEXTS in manifest.migrations:
        return manifest.adopted.get(key) if manifest else None
    then = _own_file(run)
    named = [f"{EXTRACT}{manifest.extractor.get('with')}", *(f"{SAMPLE}{model}" for model in manifest.models)]
    if then is None or key not in named:
        return None
    setup = _setup_then(manifest, key, then, None)
    return None if setup is None else setup_id(setup)


def without_setups(run: RunFolder, experiment: Experiment) -> list[str]:
    """The models of an experiment that have responses in a run without a manifest, none of them with a setup."""
    of_model: dict[str, set[bool]] = {}
    for part in committed_parts(run, RESPONSES):
        rows = read_rows(part, RESPONSES, ["model", "setup_id"])
        for model in experiment.models:
            mine = rows.filter(pc.field("model") == model)["setup_id"]
            of_model.setdefault(model, set()).update([mine.null_count == len(mine)] if len(mine) else [])
    return [model for model in experiment.models if of_model.get(model) == {True}]


def adoption_line(manifest: Manifest) -> str:
    """What rows without a setup are taken to be made under, in a line."""
    told = dict.fromkeys(f"{key.partition(' ')[2]} ({_in_words(manifest.setups[key])})" for key in manifest.adopted)
    return (
        "The texts of this run are of a version that kept no setup; they are taken to be made by "
        f"{', '.join(told)}, as the run's own experiment file says"
    )


def _in_words(setup: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in setup.items()) or "all options at their defaults"


def _setup_then(before: Manifest, key: str, then: Experiment | None, now: Experiment | None) -> dict[str, Any] | None:
    """The setup of a run's last texts, with the weights that the engine reported where it reported one model alone."""
    model = key.partition(" ")[2]
    reported = set(_HASH.findall(before.model_versions.get(model, ""))) if key.startswith(SAMPLE) else set()
    split = "-of-" in model  # a GGUF file in parts: the first one's hash was reported alone
    known = {WEIGHTS: min(reported)} if len(reported) == 1 and not split else {}
    for experiment in filter(None, (then, now)):
        try:
            setup = _setup(experiment.model_spec(model), key, known)
        except EngineError:
            continue
        return {**setup, **known} if WEIGHTS in setup else setup
    return None


def _own_file(run: RunFolder) -> Experiment | None:
    try:
        return read_experiment(run.experiment)
    except UserError:
        return None


def _sampled(run: RunFolder, before: Manifest) -> list[str]:
    return list(dict.fromkeys([*before.models, *(job.model for job in run.jobs(RESPONSES.name))]))


def _extracting(run: RunFolder, before: Manifest) -> Iterator[str]:
    present = before.extractor.get("with")
    parts = [read_rows(part, EXTRACTIONS, ["extractor_model"]) for part in committed_parts(run, EXTRACTIONS)]
    stored = {model for part in parts for model in part["extractor_model"].unique().to_pylist()}
    yield from (
        f"{EXTRACT}{model}" for model in sorted(filter(None, stored | {present})) if model not in (GAZETTEER, PUBLISHED)
    )
