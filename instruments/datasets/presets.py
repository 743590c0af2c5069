"""The papers' protocols: a TOML file for each paper, in `presets/`, that commands on its data set read with `--preset`.

A preset gives values to options of a command, each with the place in the paper that it is from. What the paper leaves
open begins with `ours`, and says why. What the command line or the experiment file says goes before it, and is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from polyculture.cache.catalog.read import parse_model, read_toml

PRESETS = Path(__file__).parent / "presets"
OURS = "ours"  # no paper's: what the options' defaults say
PARTS = ("language", "culture", "type", "setting", "contexts")  # options that ask a part of what the protocol asks


class Choice(NamedTuple):
    """The value of an option, and where the paper says so: a section, a table; or 'ours: why'."""

    value: Any
    where: str


class Preset(BaseModel):
    """A paper's protocol: options of each command that measures what it measured."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    source: str
    cbs: Mapping[str, Choice] = {}
    sentiment: Mapping[str, Choice] = {}
    qa: Mapping[str, Choice] = {}
    ner: Mapping[str, Choice] = {}
    prompts: Mapping[str, Any] | None = None  # in one language, about texts of all; None: ours in the text's language

    def choices(self, command: str) -> Mapping[str, Choice]:
        """The choices for a command; empty where the paper has nothing of it."""
        found: Mapping[str, Choice] = getattr(self, command)
        return found

    def values(self, command: str) -> dict[str, Any]:
        """The values of a command's options."""
        return {option: choice.value for option, choice in self.choices(command).items()}


@cache
def read_preset(name: str) -> Preset:
    """A preset by name. Raises `CatalogError` where there is none of that name."""
    path = PRESETS / f"{name}.toml"
    return parse_model(Preset, read_toml(path), path)


def with_preset(values: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Options with those of their preset behind them. A name that is no preset of the command is left to its check."""
    name = values.get("preset", OURS)
    known = name != OURS and isinstance(name, str) and (PRESETS / f"{name}.toml").is_file()
    return {**(read_preset(name).values(command) if known else {}), **values}


def told(name: str, command: str, options: Mapping[str, Any]) -> str:
    """A line about the protocol that is asked: each choice with its place, and what `options` changed of it."""
    preset = read_preset(name)
    choices = preset.choices(command)
    said = ", ".join(f"{option} {_word(choice.value)} ({choice.where})" for option, choice in choices.items())
    line = f"preset {name} ({preset.source}): {said}"
    if changed := list(_changed(choices, options)):
        line += f". You changed: {', '.join(changed)}"
    if part := parts_of(choices, options):
        line += f". Only a part is asked ({', '.join(part)})"
    return line


def parts_of(choices: Mapping[str, Choice], options: Mapping[str, Any]) -> list[str]:
    """The options that leave a part of the protocol out."""
    return [option for option in PARTS if options[option] and option not in choices]


def _changed(choices: Mapping[str, Choice], options: Mapping[str, Any]) -> Iterator[str]:
    for option, choice in choices.items():
        now = options[option]
        if (list(now) if isinstance(now, tuple) else now) != choice.value:
            yield f"{option} {_word(now)}, not {_word(choice.value)}"


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) or "nothing" if isinstance(value, (tuple, list)) else str(value)
