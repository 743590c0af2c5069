"""The intervals of ratios of sums, against a second way to compute them: each formula in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from polyculture.metrics.inference.limits import FEW, Z, found_with_power
from polyculture.metrics.inference.ratios import FEW_PROMPTS, ONE_KIND, Ratio, estimate, paired

Sums = NDArray[np.float64]  # ratios, units, prompts


def number(tops: Sums, bottoms: Sums, prompt: int, left_out: int | None = None) -> float:
    """The ratio under a prompt, or the first less the second, perhaps without a unit."""
    kept = [unit for unit in range(tops.shape[1]) if unit != left_out]
    found = [
        sum(float(top[unit, prompt]) for unit in kept) / sum(float(bottom[unit, prompt]) for unit in kept)
        for top, bottom in zip(tops, bottoms, strict=True)
    ]
    return found[0] - sum(found[1:])


@dataclass
class Parts:
    """What decides an interval."""

    value: float
    size: int
    changes: list[float]  # of units, by the jackknife
    variance: float
    freedom: float


def parts_of(sides: Sequence[Ratio], *, skewed: bool = False) -> Parts:
    """The parts of one number, or of the difference of two. Each unit is asked under each prompt."""
    _, units, prompts = sides[0].numerators.shape
    signs = (1.0, -1.0)

    def theta(prompt: int, left_out: int | None = None) -> float:
        every = [number(side.numerators, side.denominators, prompt, left_out) for side in sides]
        return sum(sign * one for sign, one in zip(signs, every, strict=False))

    of_prompts = [theta(prompt) for prompt in range(prompts)]
    without = [fmean(theta(prompt, unit) for prompt in range(prompts)) for unit in range(units)]
    changes = [(fmean(without) - one) * (units - 1) / units for one in without]
    by_units = (units - 1) / units * sum((one - fmean(without)) ** 2 for one in without)
    ways = [(by_units, units - 1, changes)]
    shared = 0.0
    if prompts > 1:
        ways.append((variance(of_prompts) / prompts, prompts - 1, [one - fmean(of_prompts) for one in of_prompts]))
        cell = [[first_order(sides, unit, prompt) for prompt in range(prompts)] for unit in range(units)]
        rows = [fmean(row) for row in cell]
        columns = [fmean(row[prompt] for row in cell) for prompt in range(prompts)]
        rest = sum(
            (cell[unit][prompt] - rows[unit] - columns[prompt] + fmean(rows)) ** 2
            for unit in range(units)
            for prompt in range(prompts)
        )
        shared = rest / (units - 1) / (prompts - 1) * units / prompts
    known = [(part, by_kurtosis(influences, freedom) if skewed else freedom) for part, freedom, influences in ways]
    whole = max(sum(part for part, _ in known) - shared, *(part for part, _ in known))
    freedom = satterthwaite(whole, known)
    if skewed:
        raised = [(part * (1 + 5 / degrees), degrees) for part, degrees in known]
        beyond = sum(part * 5 / degrees for part, degrees in known)
        freedom = min(freedom, satterthwaite(whole + beyond, raised))
    weights = [side.denominators.sum(axis=2) for side in sides]
    kish = [fmean(float(one.sum() ** 2 / (one**2).sum()) for one in weight) - 1 for weight in weights]
    return Parts(fmean(of_prompts), units, changes, whole, min(freedom, *kish, freedom))


def first_order(sides: Sequence[Ratio], unit: int, prompt: int) -> float:
    """What a unit adds to the number under a prompt: the derivative by its weight, over the number of units."""
    step, total = 1e-6, 0.0
    for sign, side in zip((1.0, -1.0), sides, strict=False):
        weights = np.ones(side.numerators.shape[1])
        weights[unit] += step
        more, less = (
            number(side.numerators * w[None, :, None], side.denominators * w[None, :, None], prompt)
            for w in (weights, 2 - weights)
        )
        total += sign * (more - less) / (2 * step)
    return total


def satterthwaite(whole: float, parts: Sequence[tuple[float, float]]) -> float:
    return whole**2 / sum(part**2 / freedom for part, freedom in parts)


def by_kurtosis(influences: Sequence[float], freedom: float) -> float:
    """Box's (1953): a variance is as uncertain as the kurtosis says."""
    units = freedom + 1
    square = sum(one**2 for one in influences) * units / (units - 1)
    fourth = sum((one * math.sqrt(units / (units - 1))) ** 4 for one in influences)
    return min(freedom, 2 * units / (units * fourth / square**2 * (units + 1) / (units - 1) - 1))


def reaches(found: Parts, lowest: float, highest: float, slope: float, deviations: float) -> list[float]:
    """How far the limits are, down and up: Wilson's, or those that skewness asks for where these are farther."""
    span = highest - lowest
    size = (found.value - lowest) * (highest - found.value) / found.variance

    def far(sign: float) -> float:
        def wilson(distance: float) -> float:
            at = (found.value + sign * distance - lowest) / span
            return distance**2 - deviations**2 * span**2 * at * (1 - at) / size

        def with_slope(distance: float) -> float:
            return distance**2 - deviations**2 * (found.variance + sign * slope * distance)

        end = found.value - lowest if sign < 0 else highest - found.value
        own = optimize.brentq(wilson, 0.0, end, xtol=1e-14)
        return max(own, optimize.brentq(with_slope, 1e-9, 10.0 * span, xtol=1e-14))

    return [far(-1.0), far(1.0)]


def at_student(found: Parts, far: Sequence[float]) -> list[float]:
    """Limits that are known for 1.96 standard deviations, at Student's quantile."""
    deviations = stats.t.ppf(0.975, found.freedom)
    level, slope = far[0] * far[1] / Z**2, (far[1] - far[0]) / Z**2
    return [
        optimize.brentq(lambda d, sign=sign: d**2 - deviations**2 * (level + sign * slope * d), 1e-12, 50.0, xtol=1e-14)
        for sign in (-1.0, 1.0)
    ]


def world(seed: int, ratios: int = 1, units: int = 14, prompts: int = 2, lengths: int = 5) -> Ratio:
    random = np.random.default_rng(seed)
    bottoms = np.repeat(random.integers(1, lengths + 1, (1, units, 1)), ratios, 0).repeat(prompts, 2)
    chance = np.clip(
        random.normal(0.3, 0.15, (1, units, 1))
        + random.normal(0, 0.05, (1, 1, prompts))
        + 0.2 * np.arange(ratios)[:, None, None],
        0.02, 0.98,
    )  # fmt: skip
    return Ratio(
        random.binomial(bottoms, chance).astype(np.float64), bottoms.astype(np.float64), -1.0 if ratios > 1 else 0.0
    )


@pytest.mark.parametrize("ratios", [1, 2])
@pytest.mark.parametrize("prompts", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_a_number_has_the_limits_of_plain_formulas(ratios: int, prompts: int, seed: int) -> None:
    one = world(seed, ratios, prompts=prompts)
    found, expected = estimate(one), parts_of([one])
    assert found is not None
    assert found.value == pytest.approx(expected.value)
    if found.lacking == FEW_PROMPTS:
        assert prompts == 2
        assert expected.freedom < 2
        return
    assert found.lacking is None
    assert found.freedom == pytest.approx(expected.freedom, rel=1e-5)
    cube, square = (sum(change**power for change in expected.changes) for power in (3, 2))
    far = reaches(expected, one.lowest, 1.0, cube / square, Z)
    below, above = at_student(expected, far)
    assert found.limits(-2, 2) == pytest.approx((expected.value - below, expected.value + above), rel=1e-5)


@pytest.mark.parametrize("ratios", [1, 2])
@pytest.mark.parametrize("prompts", [1, 2, 5])
def test_a_difference_has_students_interval_of_plain_formulas(ratios: int, prompts: int) -> None:
    sides = [world(20 + prompts, ratios, prompts=prompts), world(40 + prompts, ratios, prompts=prompts)]
    found, expected = paired(*sides), parts_of(sides, skewed=True)
    assert found is not None
    if found.lacking == FEW_PROMPTS:
        return
    assert found.value == pytest.approx(expected.value)
    assert found.freedom == pytest.approx(expected.freedom, rel=1e-5)
    reach = stats.t.ppf(0.975, expected.freedom) * math.sqrt(expected.variance)
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach), rel=1e-5)
    assert found.p == pytest.approx(
        2 * stats.t.sf(abs(expected.value) / math.sqrt(expected.variance), expected.freedom), rel=1e-4
    )


def test_only_units_that_both_sides_have_are_compared() -> None:
    """A unit that one side did not answer, and one that neither did, change nothing."""
    one, other = world(3), world(4)
    gone = [np.insert(side.denominators, 0, 0.0, axis=1) for side in (one, other)]
    tops = [np.insert(side.numerators, 0, 0.0, axis=1) for side in (one, other)]
    alone = np.insert(tops[0], 0, 1.0, axis=1), np.insert(gone[0], 0, 2.0, axis=1)
    lacking = np.insert(tops[1], 0, 0.0, axis=1), np.insert(gone[1], 0, 0.0, axis=1)
    assert paired(Ratio(*alone), Ratio(*lacking)) == paired(one, other)
    assert paired(Ratio(*alone), Ratio(alone[0] * 0, alone[1] * 0)) is None


def test_a_unit_that_answers_under_a_prompt_without_a_number_alone_is_none() -> None:
    """If one of two ratios has no denominator under a prompt, the answers to that prompt are not used."""
    one = world(7, ratios=2, prompts=2)
    tops, bottoms = (np.concatenate([part, part[:, :, :1] * 0], axis=2) for part in (one.numerators, one.denominators))
    bottoms[0, :3, 2] = 1.0  # of the first ratio alone
    more = [np.concatenate([part, np.zeros((2, 1, 3))], axis=1) for part in (tops, bottoms)]
    more[1][0, -1, 2] = 1.0
    assert estimate(Ratio(more[0], more[1], -1.0)) == estimate(one)
    other = world(8, ratios=2, prompts=2)
    wide = [np.pad(part, ((0, 0), (0, 1), (0, 1))) for part in (other.numerators, other.denominators)]
    wide[1][0, -1, 2] = 1.0
    assert paired(Ratio(more[0], more[1], -1.0), Ratio(wide[0], wide[1], -1.0)) == paired(one, other)


def test_few_units_have_no_interval_and_nothing_has_no_number() -> None:
    few = world(5, units=7)
    found = estimate(few)
    assert found is not None
    assert (found.withheld(), found.limits(0, 1)) == (FEW, (None, None))
    assert found.value == pytest.approx(parts_of([few]).value)
    difference = paired(few, world(6, units=7))
    assert difference is not None
    assert (difference.lacking, difference.low) == (FEW, None)
    assert estimate(Ratio(few.numerators * 0, few.denominators * 0)) is None
    assert estimate(world(5, units=8, prompts=1)).limits(0, 1) != (None, None)  # type: ignore[union-attr]
    carried = world(5, units=9)  # without the first unit nothing is left to count
    bottoms = np.where(np.arange(9)[None, :, None] > 0, 0.0, carried.denominators)
    assert estimate(Ratio(carried.numerators * (bottoms > 0), bottoms)).withheld() == FEW  # type: ignore[union-attr]


def split(units: int, different: int, most: int = 1) -> Ratio:
    """Units of `most` answers each under one prompt, of which some are right in one answer more than the others."""
    tops = np.full((1, units, 1), most // 2, dtype=np.float64)
    tops[0, :different] += 1.0
    return Ratio(tops, np.full((1, units, 1), float(most)))


def with_exception(found: Parts, own: Sequence[float]) -> list[float]:
    """The reaches that leave room for one more unit, half as far from the others as a share can be."""
    cube, square = (sum(change**power for change in found.changes) for power in (3, 2))
    limits = []
    for far, end, third in zip(own, (found.value, 1 - found.value), (-cube, cube), strict=True):
        more = end / 2 / (found.size + 1)
        slope = (third + more**3) / (square + more**2)
        root = optimize.brentq(
            lambda d, slope=slope: d**2 - Z**2 * (found.variance + slope * d), 1e-9, 10.0, xtol=1e-14
        )
        limits.append(max(far, root))
    return limits


def test_where_few_units_differ_one_more_would_decide_and_with_many_units_there_is_room_for_it() -> None:
    seen = set()
    for units in (12, 20, 39, 40, 400):
        for different, most in (
            (1, 1),
            (2, 1),
            (units // 2, 1),
            (units - 1, 1),
            (1, 8),
            (3, 8),
            (1, 40),
            (units // 2, 40),
        ):
            one = split(units, different, most)
            found, expected = estimate(one), parts_of([one])
            assert found is not None
            cube, square = (sum(change**power for change in expected.changes) for power in (3, 2))
            plain = reaches(expected, 0.0, 1.0, cube / square, Z)
            roomy = with_exception(expected, plain)
            decides = sum(roomy) > 2 * sum(plain)
            seen.add((decides, units >= 40))
            assert found.lacking == (ONE_KIND if decides and units < 40 else None)
            if units >= 40 or not decides:
                assert found.distances(Z) == pytest.approx(roomy if decides else plain, rel=1e-6)
    assert seen == {(decides, many) for decides in (False, True) for many in (False, True)}


def test_units_that_all_say_the_same_have_wilsons_interval_at_an_end_and_none_between() -> None:
    for units, different in ((9, 0), (20, 0), (20, 20), (400, 0)):
        found = estimate(split(units, different))
        assert found is not None
        far = stats.t.ppf(0.975, units - 1) ** 2 / (units + Z**2)
        assert found.limits(0, 1) == pytest.approx((0.0, far) if different == 0 else (1 - far, 1.0))
    between = estimate(split(20, 0, 2))
    assert between is not None
    assert (between.value, between.lacking) == (0.5, ONE_KIND)
    many = estimate(split(400, 0, 2))
    assert many is not None
    exception = 0.25 / 401
    assert many.distances(Z) == pytest.approx([Z**2 * exception] * 2)


def test_the_mean_over_units_weighs_each_unit_alike_and_leaves_out_those_without_an_answer() -> None:
    tops, bottoms = np.array([[[1.0, 2.0], [0.0, 1.0], [0.0, 0.0]]]), np.array([[[1.0, 4.0], [2.0, 2.0], [0.0, 3.0]]])
    whole = Ratio(tops, bottoms, highest=2.0, graded=True).by_unit()
    assert whole.of_prompts().tolist() == pytest.approx([(1 + 0) / 2, (1 / 2 + 1 / 2 + 0) / 3])
    assert (whole.lowest, whole.highest, whole.graded) == (0.0, 2.0, True)


def test_scores_between_the_ends_may_be_alike_where_enough_of_them_differ_from_the_commonest() -> None:
    """Thirty scores of about a half: of a share such an interval would be withheld."""
    scores = np.full((1, 30, 1), 0.5)
    for different, graded, reason in ((8, True, None), (7, True, ONE_KIND), (8, False, ONE_KIND)):
        scores[0] = 0.5
        scores[0, :different, 0] += np.arange(1, different + 1) / 1000
        one = Ratio(scores.copy(), np.ones_like(scores), graded=graded)
        assert one.other_than_most() == different
        assert estimate(one).withheld() == reason  # type: ignore[union-attr]


def test_the_difference_that_is_found_is_that_of_students_test() -> None:
    """With many degrees of freedom 2.8 standard errors in place of 1.96; with few more, by the quantiles of Student."""
    assert found_with_power(Z, math.inf) == pytest.approx(Z + stats.norm.ppf(0.8), rel=1e-6)
    assert found_with_power(1.0, 4, 0.9) == pytest.approx(1 + stats.t.ppf(0.9, 4) / stats.t.ppf(0.975, 4))
