"""The papers' protocols as presets: values of options, and prompts, in `presets/NAME.toml`.

A preset stands behind the command line and the experiment file: each option that they name overrides it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from polyculture.cache.catalog.read import parse_model, read_toml
from polyculture.cache.errors import DataSetError
from polyculture.instruments.swaps.asked_prompts import one_for_all
from polyculture.instruments.swaps.prompts import Prompts

PRESETS = Path(__file__).parent / "presets"
OURS = "ours"  # no paper's: what the options' defaults say


class Preset(BaseModel):
    """A paper's protocol."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    source: str
    choices: tuple[str, ...] = ()  # what the source leaves open, and how it is taken
    options: Mapping[str, Any] = {}  # of each command
    sentiment: Mapping[str, Any] = {}  # of one command, over these
    qa: Mapping[str, Any] = {}
    ner: Mapping[str, Any] = {}
    prompts: Mapping[str, Any] | None = None  # in one language, about texts of all; None: ours in the text's language

    def values(self, task: str) -> dict[str, Any]:
        """The options of a command."""
        return {**self.options, **getattr(self, task)}


def told(name: str, task: str, options: Mapping[str, Any]) -> str:
    """A line about the protocol that is asked, and what `options` changed of it."""
    preset = read_preset(name)
    values = preset.values(task)
    line = f"preset {name} ({preset.source}): " + ", ".join(f"{_flag(key)} {_word(values[key])}" for key in values)
    changed = [
        f"{_flag(key)} {_word(options[key])}, not {_word(values[key])}" for key in values if options[key] != values[key]
    ]
    return line + (f". You changed: {', '.join(changed)}" if changed else "")


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _word(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


@cache
def read_preset(name: str) -> Preset:
    """A preset by name."""
    file = PRESETS / f"{name}.toml"
    return parse_model(Preset, read_toml(file, DataSetError), file)


def preset_prompts(name: str) -> tuple[str, Prompts] | None:
    """A preset's name and prompts; None of one that asks by ours."""
    found = read_preset(name).prompts if name != OURS else None
    return (name, one_for_all(found, PRESETS / f"{name}.toml")) if found else None
