"""Variants of a model: the same model asked in another way, under a name of its own in every table.

    [variants."openai:gpt-6-luna"]
    polite = { system = "You are a polite assistant." }

gives the model `openai:gpt-6-luna@polite`. All that the file says of a model holds for its variants, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from polyculture.cache.text.suggestions import did_you_mean

OF_MODELS = ("options", "prices", "model_facts")  # sections that say something of a model
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,49}")


def variant_name(model: str, variant: str) -> str:
    """What a variant is called in tables."""
    return f"{model}@{variant}"


def find_variant(model: str, variants: Mapping[str, Mapping[str, Any]]) -> tuple[str, str] | None:
    """The model that a name is a variant of, and the variant. None of a model itself: its own name may hold an @."""
    for base, named in variants.items():
        for variant in named:
            if model == variant_name(base, variant):
                return base, variant
    return None


def with_variants(data: dict[str, Any]) -> dict[str, Any]:
    """An experiment file's keys, with the variants among the models and in all that is said of models.

    A model's variants are asked behind it, unless `models` names them itself. What has no such form is left as it is.
    """
    variants, models = data.get("variants"), data.get("models")
    if not variants or not isinstance(variants, Mapping) or not isinstance(models, Sequence):
        return data
    if not all(isinstance(named, Mapping) for named in variants.values()):
        return data
    listed = list(models)
    for base, named in variants.items():
        if base in listed:
            place = listed.index(base) + 1
            listed[place:place] = [v for name in named if (v := variant_name(base, name)) not in listed]
    sections = {key: _inherited(data.get(key), variants, variants if key == "options" else {}) for key in OF_MODELS}
    return {**data, "models": listed, **{key: section for key, section in sections.items() if section is not None}}


def wrong_variants(variants: Mapping[str, Mapping[str, Any]], models: Sequence[str]) -> Iterator[str]:
    """A line for each variant that has no such name, and for each model of variants that the experiment lacks."""
    for base, named in variants.items():
        for name in named:
            if not _NAME.fullmatch(name):
                yield f"variants.{base}: {name!r} is no name of letters, digits, - and _"
        if base not in models and not any(variant_name(base, name) in models for name in named):
            yield f"variants.{base}: is none of the models of this experiment. {did_you_mean(base, models)}"


def _inherited(section: Any, variants: Mapping[str, Mapping[str, Any]], own: Mapping[str, Mapping[str, Any]]) -> Any:
    """A section with a table for each variant: its model's, under what the variant says itself."""
    if section is None and not own:
        return None
    if section is not None and not isinstance(section, Mapping):
        return section
    found = dict(section or {})
    for base, named in variants.items():
        for name in named:
            tables = [found.get(base), own.get(base, {}).get(name), found.get(variant_name(base, name))]
            known = [table for table in tables if isinstance(table, Mapping)]
            if known:
                found[variant_name(base, name)] = {key: value for table in known for key, value in table.items()}
    return found
