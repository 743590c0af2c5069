"""Worlds of several languages and models with a known Cultural Bias Score.

Languages translate the rows of one sheet, and name the same entities: `common` is the share of the variance of contexts
and entities that is the same in all languages. Two models meet the same rows and entities: `alike` is the share of the
variance that is the same in both. A share of the Western names may be very probable (`famous`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from polyculture.instruments.cbs.averages import ScoreContrast, TypeScores, averaged, mean_contrast, paired, tally
from polyculture.instruments.cbs.score_matrix import ScoreMatrix

Random = np.random.Generator
OF_CONTEXT, NOISE, FAME = 0.5, 1.0, 8.0


@dataclass(frozen=True, slots=True)
class PairedWorld:
    """Sizes of each language; spreads are standard deviations, that of entities on either side is 1."""

    truth: float
    languages: int = 1
    rows: int = 10
    native: int = 20
    western: int = 30
    common: float = 0.9
    alike: float = 0.5
    gap: float = 0.0  # of the second model
    famous: float = 0.0  # the share of Western names that are more probable by `FAME`

    def shift(self, truth: float) -> float:
        return float(norm.ppf(truth)) * self._spread

    def true(self) -> float:
        """The score of the first model."""
        shift = self.shift(self.truth)
        return (1 - self.famous) * self.truth + self.famous * float(norm.cdf((shift + FAME) / self._spread))

    @property
    def _spread(self) -> float:
        return math.sqrt(2 + OF_CONTEXT**2 + 2 * NOISE**2)

    def models(self, random: Random) -> list[list[TypeScores]]:
        """The tallies of two models, one for each language."""
        sizes = (self.rows, self.native, self.western)
        base = [random.normal(0, 1, size) for size in sizes]
        fame = np.where(random.random(self.western) < self.famous, FAME, 0.0)
        found = []
        for truth in (self.truth, self.truth + self.gap):
            levels = [_mixed(random, level, self.alike) for level in base]
            shift = self.shift(truth) + fame
            matrices = [self._matrix(random, levels, shift) for _ in range(self.languages)]
            found.append([one for matrix in matrices if (one := tally(matrix)) is not None])
        return found

    def _matrix(self, random: Random, levels: list[np.ndarray], shift: np.ndarray) -> ScoreMatrix:
        common = self.common if self.languages > 1 else 1.0
        rows, native, western = (_mixed(random, level, common) for level in levels)
        ids = [
            tuple(f"{kind}{number}" for number in range(len(of)))
            for kind, of in zip("cnw", (rows, native, western), strict=True)
        ]
        return ScoreMatrix(
            native + random.normal(0, NOISE, (self.rows, self.native)),
            western + shift + OF_CONTEXT * rows[:, None] + random.normal(0, NOISE, (self.rows, self.western)),
            ids[0], ids[0], ids[1], ids[2],
        )  # fmt: skip


def _mixed(random: Random, level: np.ndarray, share: float) -> np.ndarray:
    return np.asarray(math.sqrt(share) * level + math.sqrt(1 - share) * random.normal(0, 1, len(level)))


WORLDS: Mapping[str, PairedWorld] = {
    "4 languages of one sheet; 10 rows, 30 x 30": PairedWorld(0.4, 4, 10, 30, 30),
    "4 languages, half in common; 10 rows, 30 x 30": PairedWorld(0.4, 4, 10, 30, 30, common=0.5),
    "4 languages of one sheet; 20 rows, 50 x 50": PairedWorld(0.4, 4, 20, 50, 50, common=0.8),
    "4 languages of one sheet; 5 rows, 12 x 20": PairedWorld(0.4, 4, 5, 12, 20),
    "4 languages, nothing in common; 10 rows, 20 x 30": PairedWorld(0.3, 4, common=0.0, alike=0.0),
    "two models, nothing alike": PairedWorld(0.3, alike=0.0),
    "two models, much alike": PairedWorld(0.3, alike=0.9),
    "two models near 0": PairedWorld(0.05, alike=0.5),
    "two models, few units": PairedWorld(0.08, rows=3, native=12, western=12, alike=0.9),
    "two models of 4 languages": PairedWorld(0.3, 4),
    "two models, a gap of 3 standard errors": PairedWorld(0.3, gap=0.2),
    "3 % of Western names are famous; 10 rows, 20 x 50": PairedWorld(
        0.005, rows=10, native=20, western=50, famous=0.03
    ),
    "3 % of Western names are famous; 10 rows, 30 x 30": PairedWorld(
        0.005, rows=10, native=30, western=30, famous=0.03
    ),
    "3 % of Western names are famous; 20 rows, 50 x 100": PairedWorld(
        0.005, rows=20, native=50, western=100, famous=0.03
    ),
}


@dataclass(frozen=True, slots=True)
class Found:
    """What many data sets of a world gave, as shares; and the median width of an interval."""

    covered: float  # the mean over languages
    width: float
    apart: float  # two models have intervals that do not overlap
    difference_covered: float
    told: float  # p < 0.05 between the models
    difference_width: float


def tried(world: PairedWorld, data_sets: int, seed: int = 1) -> Found:
    """How often the intervals of the mean over languages, and of the difference of two models, hold the truth."""
    random = np.random.default_rng([seed, world.languages, world.rows])
    counts, widths = np.zeros(4), []
    for _ in range(data_sets):
        models = world.models(random)
        found = [averaged(tallies, "contexts") for tallies in models]
        contrasts: list[ScoreContrast] = []
        for one, other in zip(*models, strict=True):
            contrast = paired(one, other)
            assert contrast is not None
            contrasts.append(contrast)
        apart = mean_contrast(contrasts)
        (low, high), (other_low, other_high) = ((score.low, score.high) for score in found)
        assert None not in (low, high, other_low, other_high, apart.low, apart.high, apart.p)
        counts += [
            low <= world.true() <= high,  # type: ignore[operator]
            high < other_low or other_high < low,  # type: ignore[operator]
            apart.low <= -world.gap <= apart.high,  # type: ignore[operator]
            apart.p < 0.05,  # type: ignore[operator]
        ]
        widths.append((high - low, apart.high - apart.low))  # type: ignore[operator]
    covered, disjoint, difference_covered, told = (counts / data_sets).tolist()
    width, difference_width = np.median(widths, axis=0).tolist()
    return Found(covered, width, disjoint, difference_covered, told, difference_width)
