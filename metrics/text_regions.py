"""The shares of texts that are of a region, of several, or of none, with their uncertainty.

The label of each text is that of the view `text_regions`. A share is the mean over prompts, each with the same weight.
It has two intervals. That of other texts of these prompts rests on the texts: Wilson's of each prompt, and of their
mean. Texts of one prompt are correlated, so it says nothing of other prompts: that one has the wording as its unit
(`metrics.intervals.wordings`), and needs three of them. Either is withheld, with the reason, where there is too little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import duckdb
import numpy as np

from polyculture.cache.catalog.model import NO_REGION
from polyculture.cache.sql_file import read_sql
from polyculture.metrics.intervals.estimate import Estimate, mean
from polyculture.metrics.intervals.ratio import ratio_estimate
from polyculture.metrics.intervals.wordings import FEWEST_WORDINGS, WordingsInterval, wordings_interval

_OWN = Path(__file__).parent
_SHARE = "specificity"  # a metric with the limits of a share
NO_TEXTS, ONE_WORDING = "no texts", "few wordings"  # why a number or an interval is missing


@dataclass(frozen=True, slots=True)
class TextCounts:
    """What became of the texts of some prompts. Those of `asked` that are in no other count are not there yet."""

    asked: int
    labelled: int
    refused: int
    empty: int
    failed: int
    unread: int  # written, and not yet, or not successfully, extracted or looked up
    off_language: int  # of the labelled ones: in another language or script than the prompt's
    unplaced: int  # of the labelled ones: neutral, as nothing was named or linked, or has a country

    def __add__(self, other: TextCounts) -> TextCounts:
        return TextCounts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class RegionShare:
    """The share of a label among the labelled texts of a model in a language, under a condition, on a topic."""

    model: str
    language: str
    condition: str
    topic: str | None  # None: over all topics
    label: str  # a region's code, 'mixed' or 'neutral'
    share: float | None  # None: no text is labelled
    low: float | None  # the 95 % interval of other texts of these prompts
    high: float | None
    no_interval: str | None  # why there is none
    wordings_low: float | None  # the 95 % interval of other wordings
    wordings_high: float | None
    no_wordings_interval: str | None
    texts: int  # with this label
    prompts: int  # with a labelled text
    counts: TextCounts


class _Prompt(NamedTuple):
    topic: str
    country: str | None
    wording: str
    name: str | None
    labels: Mapping[str, int]
    counts: TextCounts


def region_shares(store: duckdb.DuckDBPyConnection) -> list[RegionShare]:
    """All shares by model, language, condition and topic, then over the topics; a row for each label that there is.

    Empty where nothing is linked.
    """
    labels = _labels(store)
    rows = store.execute(read_sql(_OWN, "text_regions")).fetchall()
    shares: list[RegionShare] = []
    for place, group in groupby(rows, key=lambda row: row[:3]):
        prompts = [_prompt(list(own)) for _, own in groupby(group, key=lambda row: row[3:8])]
        topics = list(dict.fromkeys(prompt.topic for prompt in prompts))
        for topic in (*topics, *((None,) if len(topics) > 1 else ())):
            chosen = [prompt for prompt in prompts if topic in (None, prompt.topic)]
            shares += [_share((*place, topic), label, chosen) for label in labels]
    return shares


def _labels(store: duckdb.DuckDBPyConnection) -> list[str]:
    """The regions in the order of maps, then those of texts that are of no single one."""
    query = "SELECT region FROM known_countries WHERE region IS NOT NULL GROUP BY region ORDER BY min(place)"
    return [*(region for (region,) in store.sql(query).fetchall()), *NO_REGION]


def _prompt(rows: Sequence[tuple[Any, ...]]) -> _Prompt:
    """A prompt from its rows, one for each label."""
    labels = {row[8]: row[9] for row in rows if row[8] is not None}
    topic, country, wording, name = rows[0][3:7]
    return _Prompt(topic, country, wording, name, labels, TextCounts(*rows[0][10:]))


def _share(place: tuple[str, str, str, str | None], label: str, prompts: Sequence[_Prompt]) -> RegionShare:
    read = [prompt for prompt in prompts if prompt.counts.labelled]
    counts = prompts[0].counts
    for prompt in prompts[1:]:
        counts += prompt.counts
    texts = sum(prompt.labels.get(label, 0) for prompt in read)
    if not read:
        return RegionShare(*place, label, None, None, None, NO_TEXTS, None, None, NO_TEXTS, texts, 0, counts)
    found = mean(_estimate(prompt, label) for prompt in read)
    other = _of_wordings(found.value, label, prompts)
    return RegionShare(
        *place, label, found.value, *found.limits(0.0, 1.0), found.withheld(), other.low, other.high, other.withheld,
        texts, len(read), counts,
    )  # fmt: skip


def _estimate(prompt: _Prompt, label: str) -> Estimate:
    """The share in one prompt: texts of a prompt are independent draws."""
    texts, size = prompt.labels.get(label, 0), prompt.counts.labelled
    found = ratio_estimate(np.array([size - texts, texts], float), np.array([0.0, 1.0]), np.ones(2), size)
    assert found is not None  # noqa: S101 - there are texts
    return found


def _of_wordings(share: float, label: str, prompts: Sequence[_Prompt]) -> WordingsInterval:
    """The interval of other wordings, from the mean of each over the cells that all of them have texts in."""
    wordings = sorted({prompt.wording for prompt in prompts})
    if len(wordings) < FEWEST_WORDINGS:
        return WordingsInterval(withheld=ONE_WORDING)
    cells: dict[tuple[str, str | None], dict[str, list[float]]] = {}
    for prompt in prompts:
        if prompt.counts.labelled:
            own = cells.setdefault((prompt.topic, prompt.country), {}).setdefault(prompt.wording, [])
            own.append(prompt.labels.get(label, 0) / prompt.counts.labelled)
    whole = [found for found in cells.values() if len(found) == len(wordings)]
    known = sum(len(found) for found in cells.values())
    lacking = 1 - sum(len(found) for found in whole) / known if known else 1.0
    means = [fmean(fmean(found[wording]) for found in whole) for wording in wordings] if whole else []
    return wordings_interval(_SHARE, share, means, lacking, _names_shared(prompts))


def _names_shared(prompts: Sequence[_Prompt]) -> bool:
    """Whether a person stands in several wordings, whose means are then not independent."""
    named: Iterator[tuple[str, str]] = ((prompt.name, prompt.wording) for prompt in prompts if prompt.name)
    several = list(dict.fromkeys(named))
    return len({name for name, _ in several}) < len(several)
