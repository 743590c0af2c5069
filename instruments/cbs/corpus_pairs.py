"""Wins, ties and losses of pairs in a corpus (Naous et al. 2024, Figure 5): numbers beside its Cultural Bias Score.

In a corpus many entities have no probability at all, and two of these are a tie. A tie is no win of the Western entity,
so a low score says little where ties are many: the share of each outcome tells them apart. Each of them is the score of
the same pairs with other likelihoods in the place of theirs, and has the interval of a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from polyculture.cache.store.schema.measured import Number
from polyculture.instruments.cbs.averages import TypeScores, averaged, tally
from polyculture.instruments.cbs.score_interval import MeanScore
from polyculture.instruments.cbs.score_matrix import ScoreMatrix

NATIVE_MORE, TIED, UNSEEN = "native_more", "tied", "unseen"


def pair_numbers(score: Number, tallies: Sequence[TypeScores]) -> Iterator[Number]:
    """The shares of pairs that the native entity wins, that tie, and of which the corpus holds neither entity.

    `score` is the score of these pairs: the share that the Western entity wins. Ties are the rest of both, and have no
    interval of their own.
    """
    native, unseen = (_scored(tallies, change) for change in (_swapped, _unseen))
    for metric, found in ((NATIVE_MORE, native), (UNSEEN, unseen)):
        yield replace(
            score, metric=metric, estimate=found.value, low=found.low, high=found.high, no_interval=found.lacking
        )
    tied = max(0.0, 1 - (score.estimate or 0.0) - native.value)
    yield replace(
        score, metric=TIED, estimate=tied, low=None, high=None, no_interval="follows from the wins",
        method_of_interval=None,
    )  # fmt: skip


def _scored(tallies: Sequence[TypeScores], change: Callable[[ScoreMatrix], ScoreMatrix]) -> MeanScore:
    """The score of the same contexts and entities by other likelihoods."""
    changed = (tally(change(one.matrix), one.entity_type) for one in tallies)
    return averaged([one for one in changed if one is not None], "contexts")


def _swapped(matrix: ScoreMatrix) -> ScoreMatrix:
    """Either side in the place of the other: a win is one of the native entity."""
    return replace(
        matrix,
        native=matrix.western,
        western=matrix.native,
        native_ids=matrix.western_ids,
        western_ids=matrix.native_ids,
        native_units=matrix.western_units,
        western_units=matrix.native_units,
    )


def _unseen(matrix: ScoreMatrix) -> ScoreMatrix:
    """Likelihoods by which the Western entity of a pair wins where neither has a probability, and nowhere else."""
    sides = ((matrix.native, 0.0, 2.0), (matrix.western, 1.0, -1.0))
    native, western = (
        np.where(np.isnan(side), np.nan, np.where(np.isneginf(side), without, with_one))
        for side, without, with_one in sides
    )
    return replace(matrix, native=native, western=western)
