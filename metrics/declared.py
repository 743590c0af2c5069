"""The metrics of texts, each declared in one line: whoever lists metrics takes them from here.

A metric is a view, of the contributions of each response of a cell (`views/`), and a statistic of them. Its number, its
interval, its differences and what unlinked mentions could change follow from these two (`cell_changes`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Range = tuple[float, float]


class Statistic(StrEnum):
    """What is made of the contributions of a cell's responses: numerators and denominators, or items."""

    SHARE = "share"  # the sum of the numerators over that of the denominators
    GAIN = "gain"  # a share of a country where the prompt names it, less that under neutral prompts
    DISTINCT = "distinct"  # how many different items there are
    RAREFIED = "rarefied"  # how many there are in as many responses as the smallest cell has
    OVERLAP = "overlap"  # of two languages: the items of both over those of either (Jaccard)
    LARGEST_SHARE = "largest share"  # the share of responses with the item that most of them have
    HILL_1 = "Hill number of order 1"
    HILL_2 = "Hill number of order 2"
    COVERAGE = "coverage"  # Good and Turing's share of all mentions that fall on the items seen here


_COUNTS = (Statistic.DISTINCT, Statistic.RAREFIED, Statistic.HILL_1, Statistic.HILL_2)
Compared = Literal["always", "on request", "never"]
JudgedPart = Literal["labels", "links", "count"]  # the judges' labels of mentions, or links; how many items are right


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric. Those that are compared `always` are on the report's first tables, too."""

    name: str
    title: str
    contributions: str  # the view that has them
    statistic: Statistic
    compared: Compared = "always"
    per_country: bool = False  # a number of neutral prompts for each country: then a mean is of one condition
    labels_known: bool = False  # is it of the extractor's labels, which mentions have whether they are linked or not?
    of_prompts: bool = False  # has it a value for each prompt (`prompt_values`), from which `plan` says what it finds?
    judged: JudgedPart | None = None  # what a judged sample of mentions corrects it by (`audit.corrected`)

    @property
    def range(self) -> Range:
        """The lowest and the highest value."""
        if self.is_count:
            return 0.0, math.inf
        return (-1.0 if self.statistic is Statistic.GAIN else 0.0), 1.0

    @property
    def is_count(self) -> bool:
        """Whether it counts items."""
        return self.statistic in _COUNTS

    @property
    def is_share(self) -> bool:
        """Whether it is a share, from 0 to 1."""
        return self.range == (0.0, 1.0)

    @property
    def is_sum(self) -> bool:
        """Whether it is made of sums over responses; all else depends on which items several responses have."""
        return self.statistic in (Statistic.SHARE, Statistic.GAIN)


_ITEMS = "named_items"
# In the order of the report.
DECLARED = (
    Metric(
        "specificity",
        "Culture specificity",
        "country_contributions",
        Statistic.SHARE,
        per_country=True,
        of_prompts=True,
        judged="links",
    ),
    Metric("specificity_gain", "Specificity gain", "country_contributions", Statistic.GAIN, per_country=True),
    Metric("consensus", "Culture consensus", _ITEMS, Statistic.OVERLAP),
    Metric("diversity", "Diversity", _ITEMS, Statistic.DISTINCT, of_prompts=True, judged="count"),
    Metric(
        "granularity",
        "Granularity",
        "granularity_contributions",
        Statistic.SHARE,
        labels_known=True,
        of_prompts=True,
        judged="labels",
    ),
    Metric("hill_1", "Hill number of order 1", _ITEMS, Statistic.HILL_1, "on request"),
    Metric("hill_2", "Hill number of order 2", _ITEMS, Statistic.HILL_2, "on request"),
    Metric("coverage", "Coverage", _ITEMS, Statistic.COVERAGE, "on request"),
    Metric("dominance", "Dominance", _ITEMS, Statistic.LARGEST_SHARE, "on request"),
    Metric("rarefied", "Rarefied diversity", _ITEMS, Statistic.RAREFIED, "never"),
    Metric("share_without_country", "Share without a country", "countryless_contributions", Statistic.SHARE, "never"),
    Metric("linked_by_english", "Linked by English alone", "english_contributions", Statistic.SHARE, "never"),
)
METRICS = {metric.name: metric for metric in DECLARED}
COMPARED = tuple(metric.name for metric in DECLARED if metric.compared == "always")
ON_REQUEST = tuple(metric.name for metric in DECLARED if metric.compared == "on request")
RANGES = {metric.name: metric.range for metric in DECLARED}
OF_PROMPTS = tuple(metric.name for metric in DECLARED if metric.of_prompts)
# Diversity, and what can be compared between cells of unequal size.
OF_DIVERSITY = tuple(metric.name for metric in DECLARED if metric.is_count or metric.statistic is Statistic.COVERAGE)


def is_share(metric: str) -> bool:
    """Whether a name is that of a metric of texts that is a share, from 0 to 1."""
    return metric in METRICS and METRICS[metric].is_share


def is_count(metric: str) -> bool:
    """Whether a name is that of a metric of texts that counts items."""
    return metric in METRICS and METRICS[metric].is_count


def is_overlap(metric: str) -> bool:
    """Whether a name is that of a metric of texts that is of two languages."""
    return metric in METRICS and METRICS[metric].statistic is Statistic.OVERLAP


def is_gain(metric: str) -> bool:
    """Whether a name is that of a metric of texts that is a share less that of neutral prompts."""
    return metric in METRICS and METRICS[metric].statistic is Statistic.GAIN


def is_per_country(metric: str) -> bool:
    """Whether a name is that of a metric of texts whose means are of one condition each."""
    return metric in METRICS and METRICS[metric].per_country


def rows_in_sql() -> tuple[str, ...]:
    """The rows of the view `declared_metrics`."""
    return tuple(f"(SELECT {_columns(metric, place)})" for place, metric in enumerate(DECLARED))


def _columns(metric: Metric, place: int) -> str:
    words = {
        "name": metric.name,
        "title": metric.title,
        "contributions": metric.contributions,
        "statistic": metric.statistic.value,
        "compared": metric.compared,
        "judged": metric.judged or "",
    }
    facts = {
        "place": place,
        "per_country": metric.per_country,
        "of_diversity": metric.name in OF_DIVERSITY,
    }
    quoted = {name: "'" + word.replace("'", "''") + "'" for name, word in words.items()}
    return ", ".join(f"{value} AS {name}" for name, value in {**quoted, **facts}.items())
