"""The levels at which numbers of cells are averaged, and the interval of each metric in words, with its range.

A level is the columns that a mean keeps, beside the model: ('language',) is a mean over topics, conditions, countries
and wordings. No level keeps the wording. Specificity and its gain are never averaged over conditions. The consensus of
a language is its mean with all others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from polyculture.cache.schema.measured import EVERY, WITHOUT

Level = tuple[str, ...]

OF_MODEL: tuple[Level, ...] = ((), ("condition",), ("topic",), ("topic", "condition"))
OF_LANGUAGE: tuple[Level, ...] = tuple(("language", *level) for level in OF_MODEL)
OF_PAIR: tuple[Level, ...] = tuple(("language", "other_language", *level) for level in OF_MODEL)
OF_COUNTRY: tuple[Level, ...] = (("language", "condition", "country"),)
OF_WORDINGS: tuple[Level, ...] = (("language", "topic", "condition", "country"),)  # all that cells have but the wording
PAIR_OF_WORDINGS: tuple[Level, ...] = (("language", "other_language", "topic", "condition", "country"),)
PER_CONDITION = ("specificity", "specificity_gain")

_JACKKNIFE = "jackknife over responses, at least the variance of mentions alike within them; Wilson's interval"
_ASSEMBLAGE = "estimated assemblage (Chao et al. 2014), bundled items"
METHODS = {
    "granularity": (_JACKKNIFE, 0.0, 1.0),
    "granularity_defined": (_JACKKNIFE, 0.0, 1.0),
    "diversity": (_ASSEMBLAGE, 0.0, math.inf),
    "specificity": (_JACKKNIFE, 0.0, 1.0),
    "share_without_country": (_JACKKNIFE, 0.0, 1.0),
    "specificity_gain": (f"{_JACKKNIFE}, MOVER", -1.0, 1.0),
    "consensus": (f"{_ASSEMBLAGE}, Wilson's interval", 0.0, 1.0),
    "dominance": ("Wilson's interval, lower limit of items chosen by other responses", 0.0, 1.0),
    "hill_1": ("jackknife over responses", 0.0, math.inf),
    "hill_2": ("jackknife over responses", 0.0, math.inf),
    "coverage": ("Esty 1983, bundled items, Wilson's kind of interval", 0.0, 1.0),
    "rarefied": ("jackknife over responses", 0.0, math.inf),
    "at_coverage": ("jackknife over responses, logarithms", 0.0, math.inf),
}


class Place(NamedTuple):
    """What a number is of: a cell, or what is left of one after averaging. `other_language` is that of consensus."""

    model: str
    language: str
    other_language: str
    topic: str
    condition: str
    country: str
    wording: str


def levels_of(metric: str) -> tuple[Level, ...]:
    """The levels of a metric's means; of consensus without those that keep one language (`OF_LANGUAGE`)."""
    if metric == "consensus":
        return OF_MODEL + OF_PAIR + PAIR_OF_WORDINGS
    every = OF_MODEL + OF_LANGUAGE + OF_COUNTRY + OF_WORDINGS
    return by_condition(every) if metric in PER_CONDITION else every


def by_condition(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    """The levels that do not average over conditions."""
    return tuple(level for level in levels if "condition" in level)


def kept(place: Place, level: Level) -> Place:
    """What a level keeps of a cell."""
    other = EVERY if place.other_language != WITHOUT else WITHOUT
    every = Place(place.model, EVERY, other, EVERY, EVERY, EVERY, EVERY)
    return every._replace(**{column: getattr(place, column) for column in level})


def level_name(level: Level) -> str:
    """'model, language'"""
    return ", ".join(("model", *level))
