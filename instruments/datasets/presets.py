"""The papers' protocols: a TOML file for each paper, in `presets/`, that commands on its data set read with `--preset`.

A preset gives values to options of a command, each with the place in the paper that it is from. What the paper leaves
open begins with `ours`, and says why. What the command line or the experiment file says goes before it, and is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.cache.validation import ClosedModel

PRESETS = Path(__file__).parent / "presets"
OURS = "ours"  # no paper's: what the options' defaults say
PARTS = ("language", "culture", "type", "setting", "contexts")  # options that ask a part of what the protocol asks


class Choice(NamedTuple):
    """The value of an option, and where the paper says so: a section, a table; or 'ours: why'."""

    value: Any
    where: str


class PaperPart(ClosedModel):
    """A command that measures a part of what a paper measured, with options beside those of the preset itself."""

    command: str
    where: str  # the section, table or figure that says so
    name: str = ""  # how lines call it, where it is not the command: 'cbs in English'
    # Not every data set has what it asks, as a translation: without it, the part is a line, and the command succeeds.
    optional: bool = False
    # The part, by name, whose results it asks about: it is asked once these are measured, of the models that gave them.
    after: str = ""
    options: Mapping[str, Choice] = {}
    size: int | None = None  # questions that the paper has
    differs: str = ""  # what it has otherwise than the paper, unless a user gives prompts or a model of the task

    @property
    def title(self) -> str:
        """How lines call it."""
        return self.name or self.command


class PaperPreset(ClosedModel):
    """A paper's protocol: options of each command that measures what it measured."""

    title: str
    source: str
    data: str = "-"  # the data set that its published numbers are of
    parts: tuple[PaperPart, ...] = ()  # what `polyculture paper` asks
    experiment: Mapping[str, Choice] = {}  # of generated texts: keys of the experiment file, as sampling.n
    cbs: Mapping[str, Choice] = {}
    sentiment: Mapping[str, Choice] = {}
    qa: Mapping[str, Choice] = {}
    ner: Mapping[str, Choice] = {}
    prompts: Mapping[str, Any] | None = None  # in one language, about texts of all; None: ours in the text's language

    @property
    def experiment_text(self) -> str:
        """The keys of `experiment` as TOML, each with its place in the paper."""
        top = [(key, choice) for key, choice in self.experiment.items() if "." not in key]
        lines = [f"{key} = {_toml(choice.value)}  # {choice.where}" for key, choice in top]
        sections: dict[str, list[str]] = {}
        for key, choice in self.experiment.items():
            section, _, name = key.partition(".")
            if name:
                sections.setdefault(section, []).append(f"{name} = {_toml(choice.value)}  # {choice.where}")
        told = [f"\n[{section}]\n" + "\n".join(own) for section, own in sections.items()]
        return "".join(f"{line}\n" for line in [*lines, *told])

    def choices(self, command: str) -> Mapping[str, Choice]:
        """The choices for a command; empty where the paper has nothing of it."""
        found: Mapping[str, Choice] = getattr(self, command, {})
        return found

    def values(self, command: str) -> dict[str, Any]:
        """The values of a command's options."""
        return {option: choice.value for option, choice in self.choices(command).items()}


@cache
def read_preset(name: str) -> PaperPreset:
    """A preset by name. Raises `CatalogError` where there is none of that name."""
    path = PRESETS / f"{name}.toml"
    return parse_model(PaperPreset, read_toml(path), path)


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


def _toml(value: Any) -> str:
    """A number, a word or a truth, as TOML and JSON write them alike."""
    return json.dumps(value)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) or "nothing" if isinstance(value, (tuple, list)) else str(value)
