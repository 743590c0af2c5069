"""Checks of an experiment whose keys fit: the names in it, models and prices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.catalog.written import WrittenNames
from polyculture.cache.errors import CatalogError, EngineError, ExperimentError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.experiment.file import Experiment
from polyculture.experiment.sections import GAZETTEER, PUBLISHED
from polyculture.generate.engines import ENGINES, ModelSpec, check_model, engine_remedy, find_kind

_SCRIPT = re.compile(r"[A-Za-z]{4}")
_OF_LANGUAGES = ("Hans", "Hant", "Jpan", "Kore")  # scripts that say a language, or several scripts at once


def with_codes(experiment: Experiment, catalog: Catalog) -> Experiment:
    """The same with the catalogue's codes: `jp` and `Japan` are JP, `english` is en. Unknown ones stay as they are."""
    names = WrittenNames(catalog)
    known = {
        "topics": (catalog.topics, names.topic),
        "languages": (catalog.languages, lambda written: _language_asked(written, names, catalog)),
        "countries": (catalog.countries, names.country),
    }
    changed: dict[str, Any] = {}
    for key, (codes, code_of) in known.items():
        asked = getattr(experiment, key)
        written = tuple(code if code in codes else code_of(code) or code for code in asked)
        if written != asked:
            changed[key] = tuple(dict.fromkeys(written))
    if "languages" in changed:
        some = experiment.languages_of.items()
        changed["languages_of"] = {
            model: tuple(_language_asked(one, names, catalog) or one for one in of) for model, of in some
        }
    return experiment.model_copy(update=changed) if changed else experiment


def _language_asked(written: str, names: WrittenNames, catalog: Catalog) -> str | None:
    """The language of a code or a name; None for a code of a script that its prompts are not in: `sr-Latn`."""
    code = names.language(written)
    script = next((part.title() for part in re.split("[-_]", written)[1:] if _SCRIPT.fullmatch(part)), None)
    if code is None or script is None or script in _OF_LANGUAGES:
        return code
    return code if script == catalog.languages[code].scripts[0] else None


def check_names(experiment: Experiment, catalog: Catalog, file: Path) -> Iterator[ExperimentError]:
    """The names that the catalogue lacks, each with the nearest one."""
    lookups = {"topics": catalog.topic, "languages": catalog.language, "countries": catalog.country}
    for key, look_up in lookups.items():
        for code in getattr(experiment, key):
            try:
                look_up(code)
            except CatalogError as fault:
                yield ExperimentError(f"{key}: {fault.what}", where=file, remedy=fault.remedy)


def check_prompted(experiment: Experiment, file: Path) -> None:
    """Raises `ExperimentError` where there are no texts to ask: the file says no languages, topics or countries.

    Imported texts came with prompts of their own, which need not name a country.
    """
    examples = {"languages": '["en"]', "topics": '["food"]', "countries": '["JP"]'}
    if experiment.imported:
        del examples["countries"]
    missing = {key: example for key, example in examples.items() if not getattr(experiment, key)}
    if missing:
        what = f"names no {', '.join(missing)}: prompts are made of them, and only instruments do without"
        lines = " and ".join(f"{key} = {example}" for key, example in missing.items())
        raise ExperimentError(what, where=file, remedy=f"Add, for example, {lines}. {_without(experiment)}")


def _without(experiment: Experiment) -> str:
    """What to write where no texts are wanted."""
    if experiment.instruments:
        return "For its instruments alone, name no topics, and leave out --only."
    return "For an instrument alone, add its section, for example [instruments.cbs]."


def check_models(experiment: Experiment, file: Path) -> Iterator[ExperimentError]:
    """Unknown models, an unknown extractor, and invalid options."""
    extractor = experiment.extract.with_
    checks = [("models", model, check_model) for model in experiment.models]
    for key, model, check in [*checks, ("extract.with", extractor, check_extractor)]:
        try:
            check(experiment.model_spec(model))
        except EngineError as fault:
            for one in (fault, *fault.others):
                yield ExperimentError(f"{one.where or key}: {one.what}", where=file, remedy=one.remedy)


def check_prices(experiment: Experiment, file: Path, *models: str) -> None:
    """Raises `ExperimentError` where `max_cost` cannot be enforced: a paid model of the experiment has no price.

    With `models`, of these, which a command names.
    """
    if experiment.max_cost is None:
        return
    asked = [one for one in models or experiment.asked if one not in experiment.prices]
    unpriced = [one for one in asked if find_kind(experiment.model_spec(one)).paid]
    if unpriced:
        raise ExperimentError(
            f"max_cost is set, and [prices] does not name {', '.join(unpriced)}",
            where=file,
            remedy=f'Add [prices."{unpriced[0]}"] with input and output per million tokens; 0 where it costs nothing.',
        )


def check_extractor(spec: ModelSpec) -> None:
    """Raises `EngineError` where `spec` is neither the gazetteer nor a model of a known engine."""
    if spec.model in (GAZETTEER, PUBLISHED):
        return
    if ":" not in spec.model:
        near = did_you_mean(spec.model, [GAZETTEER], otherwise="") if spec.engine not in ENGINES else ""
        raise EngineError(f"{spec.model!r} is no extractor", remedy=near or engine_remedy(spec))
    check_model(spec)
