"""What a number is of, and the levels at which numbers are averaged."""

from __future__ import annotations

import math
from typing import NamedTuple

from polyculture.cache.schema.measured import EVERY, UNNAMED, WITHOUT

Level = tuple[str, ...]

OF_MODEL: tuple[Level, ...] = ((), ("condition",), ("topic",), ("topic", "condition"))
OF_LANGUAGE: tuple[Level, ...] = tuple(("language", *level) for level in OF_MODEL)
OF_PAIR: tuple[Level, ...] = tuple(("language", "other_language", *level) for level in OF_MODEL)
OF_COUNTRY: tuple[Level, ...] = (("language", "condition", "country"),)
OF_WORDINGS: tuple[Level, ...] = (("language", "topic", "condition", "country"),)  # all that cells have but the wording
PAIR_OF_WORDINGS: tuple[Level, ...] = (("language", "other_language", "topic", "condition", "country"),)
PER_CONDITION = ("specificity", "specificity_gain")
CONSENSUS = "consensus"
# Shares of linked items, and their differences: all else counts which items there are.
OF_ITEMS = ("granularity", "specificity", "specificity_gain", "share_without_country", "linked_by_english")

# The lowest and the highest value of each metric.
RANGES = {
    "granularity": (0.0, 1.0),
    "diversity": (0.0, math.inf),
    "specificity": (0.0, 1.0),
    "share_without_country": (0.0, 1.0),
    "linked_by_english": (0.0, 1.0),
    "specificity_gain": (-1.0, 1.0),
    "consensus": (0.0, 1.0),
    "dominance": (0.0, 1.0),
    "hill_1": (0.0, math.inf),
    "hill_2": (0.0, math.inf),
    "coverage": (0.0, 1.0),
    "rarefied": (0.0, math.inf),
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

    @property
    def named_country(self) -> str | None:
        """The country that its prompts name."""
        return None if self.country == UNNAMED else self.country


def is_share(metric: str) -> bool:
    """Whether a metric of texts is a share, from 0 to 1."""
    return RANGES.get(metric) == (0.0, 1.0)


def is_count(metric: str) -> bool:
    """Whether a metric of texts counts items."""
    return metric in RANGES and math.isinf(RANGES[metric][1])


def levels_of(metric: str) -> tuple[Level, ...]:
    """The levels of a metric's means; of consensus without those that keep one language (`OF_LANGUAGE`)."""
    if metric == CONSENSUS:
        return OF_MODEL + OF_PAIR + PAIR_OF_WORDINGS
    every = OF_MODEL + OF_LANGUAGE + OF_COUNTRY + OF_WORDINGS
    return tuple(level for level in every if "condition" in level) if metric in PER_CONDITION else every


def kept(place: Place, level: Level) -> Place:
    """What a level keeps of a cell."""
    model, language, other, topic, condition, country, wording = place
    return Place(
        model,
        language if "language" in level else EVERY,
        other if "other_language" in level or other == WITHOUT else EVERY,
        topic if "topic" in level else EVERY,
        condition if "condition" in level else EVERY,
        country if "country" in level else EVERY,
        wording if "wording" in level else EVERY,
    )


def level_name(level: Level) -> str:
    """'model, language'"""
    return ", ".join(("model", *level))
