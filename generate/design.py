"""What prompts are asked: the built-in wordings in their order, what an experiment takes of them, and whole designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from polyculture.cache.errors import ExperimentError
from polyculture.cache.store.schema import Condition
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.cache.validation import ClosedModel

FILE = Path(__file__).with_name("wordings.toml")
STUDY_TASK = "study"
PLAIN = "plain"  # the wording that puts a country or a name on a line of its own: see `wording.Plain`


class KnownWording(ClosedModel):
    """A built-in wording: what it asks for."""

    task: str  # wordings of one task may be averaged
    length: bool  # does it say how long the text shall be?
    meaning: str


@cache
def known_wordings() -> Mapping[str, KnownWording]:
    """The built-in wordings by name, in their order."""
    return {name: parse_model(KnownWording, row, FILE) for name, row in read_toml(FILE).items()}


def study_wordings() -> tuple[str, ...]:
    """The names of the wordings of the study's task, in their order."""
    return tuple(name for name, wording in known_wordings().items() if wording.task == STUDY_TASK)


@dataclass(frozen=True, slots=True)
class PromptDesign:
    """What an experiment asks of each cell: its wordings, and the names in each of them."""

    wordings: tuple[str, ...] = ("write",)  # the first one is that of templates without a name of their own
    names: int = 1  # per country, sex and wording
    seed: int = 1  # of the draw of names


def choose_wordings(wanted: int | Sequence[str]) -> tuple[str, ...]:
    """The first ones of the study's task, or those of these names. Raises `ValueError` where there are not as many."""
    if not isinstance(wanted, int):
        if PLAIN in wanted and len(wanted) > 1:
            raise ValueError(
                f"names {PLAIN} beside others: of the same length its neutral prompts are those of write; ask "
                f"{PLAIN} in an experiment of its own"
            )
        return tuple(wanted)
    known = study_wordings()
    if not 1 <= wanted <= len(known):
        raise ValueError(
            f"the study's task has {len(known)} wordings; write a number from 1 to {len(known)}, or name them: "
            f"{', '.join(known_wordings())}"
        )
    return known[:wanted]


PRESETS = Path(__file__).with_name("presets.toml")

# For which countries the implicit conditions are asked: the language's first one, or all of the experiment's.
ImplicitCountries = Literal["first", "all"]


class PromptPreset(ClosedModel):
    """What a preset fixes of an experiment: which prompts are built."""

    languages: tuple[str, ...]
    topics: tuple[str, ...]
    countries: tuple[str, ...]
    conditions: tuple[Condition, ...]
    implicit_countries: ImplicitCountries


def read_presets() -> Mapping[str, PromptPreset]:
    """All presets by name."""
    return {name: parse_model(PromptPreset, row, PRESETS) for name, row in read_toml(PRESETS).items()}


def read_preset(name: str) -> PromptPreset:
    """The preset of this name; `ExperimentError` with the nearest name where there is none."""
    presets = read_presets()
    if name not in presets:
        raise ExperimentError(f"unknown preset {name!r}", remedy=did_you_mean(name, presets))
    return presets[name]
