"""The shares of texts that are of a region, of several, or of none, with their uncertainty.

The label of each text is that of the view `text_regions`. A share is the mean over prompts, each with the same weight.
It has two intervals: that of other texts of these prompts, and that of new prompts like these (`inference.prompts`).
Either is withheld, with the reason, where there is too little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polyculture.cache.catalog.model import NO_REGION
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store
from polyculture.metrics.inference.jackknife import mean_share, share_of
from polyculture.metrics.inference.limits import Estimate
from polyculture.metrics.inference.prompts import prompt_mean
from polyculture.metrics.means import FEW_RESPONSES, FEWEST_RESPONSES

_OWN = Path(__file__).parent
NO_TEXTS = "no texts"  # why a number is missing


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
    wide_low: float | None  # the 95 % interval of new prompts like these
    wide_high: float | None
    no_wide: str | None
    texts: int  # with this label
    prompts: int  # with a labelled text
    counts: TextCounts


class _PromptLabels(NamedTuple):
    topic: str
    country: str | None
    wording: str
    name: str | None
    labels: Mapping[str, int]
    counts: TextCounts


def region_shares(store: Store) -> list[RegionShare]:
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


def _labels(store: Store) -> list[str]:
    """The regions in the order of maps, then those of texts that are of no single one."""
    query = "SELECT region FROM known_countries WHERE region IS NOT NULL GROUP BY region ORDER BY min(place)"
    return [*(region for (region,) in store.sql(query).fetchall()), *NO_REGION]


def _prompt(rows: Sequence[tuple[Any, ...]]) -> _PromptLabels:
    """A prompt from its rows, one for each label."""
    labels = {row[8]: row[9] for row in rows if row[8] is not None}
    topic, country, wording, name = rows[0][3:7]
    return _PromptLabels(topic, country, wording, name, labels, TextCounts(*rows[0][10:]))


def _share(place: tuple[str, str, str, str | None], label: str, prompts: Sequence[_PromptLabels]) -> RegionShare:
    read = [prompt for prompt in prompts if prompt.counts.labelled]
    counts = prompts[0].counts
    for prompt in prompts[1:]:
        counts += prompt.counts
    texts = sum(prompt.labels.get(label, 0) for prompt in read)
    if not read:
        return RegionShare(*place, label, None, None, None, NO_TEXTS, None, None, NO_TEXTS, texts, 0, counts)
    found = mean_share(_estimate(prompt, label) for prompt in read)
    low, high = found.interval()
    few = FEW_RESPONSES if counts.labelled < FEWEST_RESPONSES else None
    shares = np.array([one.labels.get(label, 0) / one.counts.labelled for one in read], dtype=np.float64)
    wide = prompt_mean([one.topic for one in read], [one.country for one in read], shares)
    return RegionShare(
        *place,
        label,
        found.value,
        None if few else low,
        None if few else high,
        few,
        *wide.within(found.value, 0.0, 1.0),
        wide.reason,
        texts,
        len(read),
        counts,
    )


def _estimate(prompt: _PromptLabels, label: str) -> Estimate:
    """The share in one prompt: texts of a prompt are independent draws."""
    texts, size = prompt.labels.get(label, 0), prompt.counts.labelled
    found = share_of(np.repeat([1.0, 0.0], [texts, size - texts]), np.ones(size))
    assert found is not None  # noqa: S101 - there are texts
    return found
