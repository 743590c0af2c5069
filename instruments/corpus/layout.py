"""The tables of a corpus: those of the Cultural Bias Score, and the outcomes of pairs.

What pairs of entities come to in it: wins of either side, and ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.layout import Layer, Layout, Table, compose
from polyculture.instruments.cbs.layout import CBS


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """Shares of the pairs of a native and a Western entity, averaged over contexts. The first three add up to 1."""

    model: str  # 'ngram:NAME:unsmoothed' | 'ngram:NAME:smoothed'
    dataset: str
    language: str
    culture: str
    entity_type: str | None  # None: over all types
    setting: str
    form: str
    rule: str  # 'sum': the entity's log-probability; 'mean': per token; 'probability': its tokens' mean probability
    western_more: float  # the Western entity is the more probable: the score where a tie counts as not Western
    native_more: float  # the native entity is
    tied: float  # both are equally probable; without an interval, as it follows from the other two
    tied_unseen: float  # of `tied`: both have no probability at all, as the corpus does not hold them there
    western_low: float | None  # 95 % interval over other contexts and entities; None: see `lacking`
    western_high: float | None  # as `western_low`
    native_low: float | None  # as `western_low`
    native_high: float | None  # as `western_low`
    contexts: int
    pairs: int  # native x Western, over all contexts
    lacking: str | None = None  # why there is no interval: 'few contexts' | 'few entities'


PAIR_OUTCOMES = Table("pair_outcomes", PairOutcome)


CORPUS = compose(CBS, Layout((PAIR_OUTCOMES,), Layer(()), Layer((Path(__file__).with_name("views.sql"),))))
LAYOUT = CORPUS
