"""The families of numbers that a set is measured by, as `families.toml` declares them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from polyculture.instruments.questions.numbers.declared import DeclaredNumber, declared_numbers, is_declared

_FILE = Path(__file__).with_name("families.toml")
_CHOICES = ("accuracy", "kobbq", "bbq", "levels")  # families of sets of which one option is to be chosen
SURVEY = "survey"
SCORE = "score"  # of items that another harness scored
_MATCHES = {"f1": "f1", "soft": "soft_match", "weighted": "weighted_match"}  # by the reader that compares the answers
MATCHES = ("exact_match", *_MATCHES.values())
ALL_THAT_FIT = frozenset((SURVEY, "several"))  # families of sets of which all options that fit are to be picked
# Of all outcomes of answers to questions with options, but what failed.
ANSWERED = ("picked", "refusal", "tie", "unread")


@dataclass(frozen=True, slots=True)
class Bound:
    """A number that says what another can be at most, or by chance: without an interval of its own.

    Over prompts it is `of` the mean: what another number, averaged, leaves room for.
    """

    why: str  # it has no interval
    of: Callable[[float], float] = float


BOUNDS: Mapping[str, Bound] = {
    "chance": Bound("of guesses"),
    "max_bias_d": Bound("bound of another number", lambda right: 1 - abs(2 * right - 1)),
}


@dataclass(frozen=True, slots=True)
class Family:
    """Numbers that belong together, and how they are compared."""

    numbers: Mapping[str, DeclaredNumber]
    compared: tuple[str, ...] = ()  # numbers that are compared between models and conditions
    paired: tuple[str, ...] = ANSWERED  # outcomes that both answers of a pair need
    between_sets: bool = False  # two sets with the family are compared
    form: bool = False  # every set of its kind has it, and no set names it
    roles: tuple[str, ...] = ()  # without which there is no number

    @property
    def of_compared(self) -> dict[str, DeclaredNumber]:
        return {name: self.numbers[name] for name in self.compared}


@cache
def families() -> Mapping[str, Family]:
    """All families, by name."""
    found = {}
    for name, table in tomllib.loads(_FILE.read_text(encoding="utf-8")).items():
        numbers = declared_numbers(table.pop("numbers"))
        settings: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        found[name] = Family(numbers, **settings)
    return found


def numbers_of(own: Sequence[str]) -> dict[str, DeclaredNumber]:
    """The numbers of a set by its `numbers`: those that it declares, those of its families, and what the form of its
    answers does."""
    declared = declared_numbers(own)
    found = dict(declared)
    for name in (*own, _form(own, declared)):
        found |= families()[name].numbers if name in families() else {}
    return found


def _form(own: Sequence[str], declared: Mapping[str, DeclaredNumber]) -> str:
    """The family of what the form of answers does; '' where no option is to be chosen."""
    if not ALL_THAT_FIT.isdisjoint(own):
        return "unread"
    return "choices" if declared or not set(own).isdisjoint(_CHOICES) else ""


def compared_families(own: Sequence[str]) -> Iterator[Family]:
    """What is compared of a set: one of its families, and what it declares itself."""
    yield from [family for name, family in families().items() if name in own and family.compared][:1]
    if any(map(is_declared, own)):
        declared = declared_numbers(own)
        yield Family(declared, tuple(declared))


def named(metric: str, reader: str) -> str:
    """What a match is called: by the reader that compares the answers, 'soft_match' of 'soft'. A score: its metric."""
    if metric == SCORE:
        return reader
    return _MATCHES.get(reader, metric) if metric == "exact_match" else metric
