"""Worlds of a probe and an arm beside it, whose flattening and its differences are known from many studies of each.

A question has a topic, which makes some items likelier; a culture has items of its own. The arm has items of all
cultures alike ('noise'), the probe's own culture's drawn anew ('words'), or most of the probe's very items ('same').
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.probe.flattening import NumberPair, PairLimits, beside, compared, flattening, judge
from polyculture.instruments.probe.occurrences import Occurrences
from polyculture.metrics.inference.arrays import Floats

Random = np.random.Generator
Draw = Callable[[], tuple[Occurrences, Occurrences]]


@dataclass(frozen=True, slots=True)
class ArmWorld:
    """How much cultures differ (0: not at all), how far the first leans on the second, and what the arm is."""

    apart: float
    leaning: float
    arm: Literal["noise", "words", "same"]
    questions: int = 60
    cultures: int = 4
    items: int = 60
    arm_items: int = 6  # of a culture in a question, on average, one more; the probe has 6
    layers: int = 1  # at which the same item stands, on average

    def draw(self, chance: Random) -> Draw:
        """Studies of this world: cultures are as they are, questions are drawn."""
        alike = np.full((self.cultures, self.items), 1 / self.items)
        own = chance.dirichlet(np.full(self.items, 0.3), size=self.cultures) if self.apart else alike.copy()
        own[0] = (1 - self.leaning) * own[0] + self.leaning * own[1]

        def study() -> tuple[Occurrences, Occurrences]:
            topics = chance.dirichlet(np.full(self.items, 2.0), size=self.questions)
            probe = self._items(chance, own, topics, 6)
            if self.arm == "noise":
                other = self._items(chance, alike, topics, self.arm_items)
            elif self.arm == "words":
                other = self._items(chance, own, topics, self.arm_items)
            else:
                kept = chance.binomial(probe, 0.6)
                other = kept + self._items(chance, own, topics, 2)
            return self._counted(chance, probe), self._counted(chance, other)

        return study

    def _items(self, chance: Random, own: Floats, topics: Floats, volume: int) -> NDArray[np.int64]:
        weights = own[None] * topics[:, None]
        many = 1 + chance.poisson(volume, size=weights.shape[:2])
        return np.asarray(chance.multinomial(many, weights / weights.sum(-1, keepdims=True)), np.int64)

    def _counted(self, chance: Random, counts: NDArray[np.int64]) -> Occurrences:
        question, culture, item = np.nonzero(counts)
        count = counts[question, culture, item] * (1 + chance.poisson(self.layers - 1, size=len(item)))
        return Occurrences(question, culture, item, count, self.cultures)


WORLDS: Mapping[str, ArmWorld] = {
    "equal cultures, noise; 12 questions": ArmWorld(0, 0, "noise", 12),
    "equal cultures, noise; 60 questions": ArmWorld(0, 0, "noise"),
    "equal cultures, noise; 200 questions": ArmWorld(0, 0, "noise", 200),
    "one leans by half, noise; 12 questions": ArmWorld(1, 0.5, "noise", 12),
    "one leans by half, noise; 60 questions": ArmWorld(1, 0.5, "noise"),
    "one leans by half, noise; 200 questions": ArmWorld(1, 0.5, "noise", 200),
    "nobody leans, noise; 60 questions": ArmWorld(1, 0, "noise"),
    "one leans by half, a few of the same words; 60 questions": ArmWorld(1, 0.5, "words", arm_items=1),
    "one leans by half, the same items; 12 questions": ArmWorld(1, 0.5, "same", 12),
    "one leans by half, the same items; 25 questions": ArmWorld(1, 0.5, "same", 25),
    "one leans by half, the same items; 60 questions": ArmWorld(1, 0.5, "same"),
    "one leans by half, the same items; 200 questions": ArmWorld(1, 0.5, "same", 200),
    "one leans by half, the same items, items at six layers; 60 questions": ArmWorld(1, 0.5, "same", layers=6),
    "14 cultures, 1,000 items, the same items; 60 questions": ArmWorld(1, 0.5, "same", cultures=14, items=1_000),
    "14 cultures, 1,000 items, noise; 60 questions": ArmWorld(1, 0.5, "noise", cultures=14, items=1_000),
}


def _pairs(apart: float, leaning: float, questions: int, items: int = 60, layers: int = 1) -> ArmWorld:
    return ArmWorld(apart, leaning, "noise", questions, items=items, arm_items=1, layers=layers)


SIZES = (12, 25, 60, 200)
PAIR_WORLDS: Mapping[str, ArmWorld] = {
    **{f"equal cultures; {size}": _pairs(0, 0, size) for size in SIZES},
    **{f"one leans by half; {size}": _pairs(1, 0.5, size) for size in SIZES},
    **{f"nobody leans; {size}": _pairs(1, 0, size) for size in (12, 60)},
    "equal cultures, items at six layers; 60": _pairs(0, 0, 60, layers=6),
    "one leans by half, items at six layers; 60": _pairs(1, 0.5, 60, layers=6),
    "equal cultures, 2,000 items; 60": _pairs(0, 0, 60, items=2_000),
    "one leans by half, 2,000 items; 12": _pairs(1, 0.5, 12, items=2_000),
    "one leans by half, 2,000 items; 60": _pairs(1, 0.5, 60, items=2_000),
}


@dataclass(frozen=True, slots=True)
class Held:
    """Of the intervals of F and of its share: those that hold the truth, and those withheld, as shares."""

    covered: Floats
    withheld: Floats


def tried(world: ArmWorld, count: int, resamples: int = 99, worlds: int = 4) -> Held:
    """Studies of some worlds of a kind. The truth of a world is the mean of many other studies."""
    held = []
    worlds = min(worlds, count)
    for number in range(worlds):
        chance = np.random.default_rng([22, number])
        study = world.draw(chance)
        truth = np.nanmean([_found(study) for _ in range(min(200, 20 * count))], axis=0)
        studies = (compared(*study(), world.questions, resamples, seed) for seed in range(count // worlds))
        held += [_holds(truth, one) for one in studies]
    found = np.array(held)
    return Held(np.nanmean(found, axis=0), np.isnan(found).mean(0))


def _found(study: Draw) -> Floats:
    found = beside(*(one.counted() for one in study()))
    return np.asarray(found[:, 0] - found[:, 1])


def _holds(truth: Floats, numbers: tuple[NumberPair, NumberPair]) -> list[float]:
    """1: the truth is between the limits; nan without limits."""
    limits = [(one.low, one.high) for *_, one in numbers]
    return [
        float("nan") if low is None or high is None else float(low <= true <= high)
        for true, (low, high) in zip(truth, limits, strict=True)
    ]


def pairs_tried(world: ArmWorld, count: int, resamples: int = 99, worlds: int = 4) -> Held:
    """Studies of some worlds of a kind. The truth of a pair is its mean over many other studies of its world."""
    pairs = ~np.eye(world.cultures, dtype=bool)
    held = []
    for number in range(worlds):
        study = world.draw(np.random.default_rng([33, number]))
        others = [flattening(study()[0].counted()) for _ in range(min(200, 20 * count))]
        score = np.mean([one.score[pairs] for one in others], axis=0)
        share = np.nanmean([one.share[pairs] for one in others], axis=0)
        for seed in range(max(1, count // worlds)):
            found = judge(study()[0], resamples=resamples, seed=seed)
            held.append(
                [_pairs_hold(found.score_interval, score, pairs), _pairs_hold(found.share_interval, share, pairs)]
            )
    of_pairs = np.array(held)  # [studies, 2, pairs]
    told = (~np.isnan(of_pairs)).sum(axis=(0, 2))
    covered = np.divide(np.nansum(of_pairs, axis=(0, 2)), told, out=np.full(2, np.nan), where=told > 0)
    return Held(covered, np.isnan(of_pairs).mean(axis=(0, 2)))


def _pairs_hold(limits: PairLimits, truth: Floats, pairs: NDArray[np.bool_]) -> Floats:
    low, high = limits.low[pairs], limits.high[pairs]
    return np.where(np.isnan(low), np.nan, (low <= truth) & (truth <= high))
