"""Designs of whole experiments, by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from polyculture.cache.catalog.read import parse_model, read_toml
from polyculture.cache.errors import ExperimentError, did_you_mean
from polyculture.cache.schema import Condition

FILE = Path(__file__).with_name("presets.toml")

# For which countries the implicit conditions are asked: the language's first one, or all of the experiment's.
ImplicitCountries = Literal["first", "all"]


class Preset(BaseModel):
    """What a preset fixes of an experiment: which prompts are built."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    languages: tuple[str, ...]
    topics: tuple[str, ...]
    countries: tuple[str, ...]
    conditions: tuple[Condition, ...]
    implicit_countries: ImplicitCountries


def read_presets() -> Mapping[str, Preset]:
    """All presets by name."""
    return {name: parse_model(Preset, row, FILE) for name, row in read_toml(FILE).items()}


def read_preset(name: str) -> Preset:
    """The preset of this name; `ExperimentError` with the nearest name where there is none."""
    presets = read_presets()
    if name not in presets:
        raise ExperimentError(f"unknown preset {name!r}", remedy=did_you_mean(name, presets))
    return presets[name]
