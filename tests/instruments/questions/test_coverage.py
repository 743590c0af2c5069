"""Do the intervals of accuracy and bias cover the truth? Some data sets in some of the worlds.

`bench/coverage.py --only questions` has all worlds, with more data sets; docs/evidence.md has its figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from polyculture.metrics.inference.ratios import Ratio, estimate
from tests.instruments.questions.template_worlds import CHECKED, WORLDS
from tests.simulated import data_sets, least


@cache
def truth_of(name: str) -> Mapping[str, float]:
    return WORLDS[name].truth()


@data_sets(100, 200)
@pytest.mark.parametrize("templates", [10, 44])
@pytest.mark.parametrize("name", ["middling", "biased", "accurate", "a tenth of templates odd", "prompts differ"])
def test_intervals_cover_or_are_withheld(name: str, templates: int, count: int) -> None:
    random, truth = np.random.default_rng([templates, len(name)]), truth_of(name)
    inside: dict[str, list[bool]] = {metric: [] for metric in CHECKED}
    for _ in range(count):
        for metric, number in WORLDS[name].draw(random, templates, 5).items():
            found = estimate(number)
            low, high = found.limits(number.lowest, 1.0)
            if low is not None and high is not None:
                inside[metric].append(low <= truth[metric] <= high)
    for metric, covered in inside.items():
        assert len(covered) >= count * (0.3 if templates == 10 else 0.9), metric
        assert np.mean(covered) >= least(len(covered)), metric


@pytest.mark.parametrize(("right", "reason"), [((0.5, 0.5), None), ((0.2, 0.8), "few prompts")])
def test_two_prompts_that_differ_leave_no_interval(right: tuple[float, float], reason: str | None) -> None:
    random = np.random.default_rng(1)
    counts = np.stack([random.binomial(12, share, 40) for share in right], axis=1).astype(float)
    found = estimate(Ratio(counts[np.newaxis], np.full((1, 40, 2), 12.0)))
    assert found.withheld() == reason
    assert found.value == pytest.approx(counts.mean() / 12)


@data_sets(150, 400)
@pytest.mark.parametrize(("units", "items", "mean", "alike"), [(10, 8, 0.6, 200), (30, 1, 0.97, 20), (60, 8, 0.9, 10)])
def test_graded_scores_that_are_alike_have_intervals_that_cover(
    units: int, items: int, mean: float, alike: float, count: int
) -> None:
    random = np.random.default_rng([units, items])
    inside = []
    for _ in range(count):
        scores = random.beta(mean * alike, (1 - mean) * alike, (units, items))
        sums = scores.sum(axis=1)[np.newaxis, :, np.newaxis]
        low, high = estimate(Ratio(sums, np.full_like(sums, float(items)), graded=True)).limits(0.0, 1.0)
        inside.append(low <= mean <= high)
    assert np.mean(inside) >= least(count)


@pytest.mark.parametrize(("others", "reason"), [(7, "few units differ"), (8, None)])
def test_graded_scores_have_an_interval_where_enough_differ(others: int, reason: str | None) -> None:
    scores = np.full((1, 30, 1), 1.0)
    scores[0, :others, 0] = 1 - 0.001 * np.arange(1, others + 1)
    found = estimate(Ratio(scores, np.ones_like(scores), graded=True))
    assert found.withheld() == reason


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_halved_share_has_half_of_the_share_s_interval(share: float) -> None:
    counts = np.random.default_rng(1).binomial(12, share, (40, 1)).astype(float)[np.newaxis]
    whole, half = (estimate(Ratio(counts / by, np.full((1, 40, 1), 12.0), highest=1 / by)) for by in (1, 2))
    low, high = whole.limits(0.0, 1.0)
    assert high - low > 0.01
    assert half.limits(0.0, 0.5) == pytest.approx((low / 2, high / 2))


@pytest.mark.parametrize("name", ["middling", "biased"])
def test_ten_ordinary_templates_have_intervals(name: str) -> None:
    random = np.random.default_rng(5)
    found = [estimate(WORLDS[name].draw(random, 10, 5)["diff_bias_a"]) for _ in range(100)]
    assert np.mean([one is not None and one.withheld() is None for one in found]) > 0.95
