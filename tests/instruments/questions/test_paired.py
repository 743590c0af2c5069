"""Two models on the answers that both gave."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from polyculture.cache.store.schema.measured import Difference
from polyculture.instruments.questions.numbers.measure import families_of
from polyculture.instruments.questions.numbers.paired import paired_differences
from polyculture.instruments.questions.numbers.withheld import FEW_READ
from polyculture.metrics.inference.ratios import Ratio, least_reversing, paired
from tests.instruments.questions.answered import FAILED, OPEN, UNREAD, Said, designed, of, opened, right_role
from tests.instruments.questions.template_worlds import WORLDS


def differences(rows: list[Said], **where: Any) -> dict[str, Difference]:
    """The differences over other units, by metric."""
    store = opened(rows)
    found = [row for row in paired_differences(store, families_of(store), "") if row.target == "new_prompts"]
    return {row.metric: row for row in found if all(getattr(row, name) == value for name, value in where.items())}


def right(**changes: Any) -> list[Said]:
    return of(designed(lambda context, _: right_role(context), 12), **changes)


def biased(**changes: Any) -> list[Said]:
    return of(designed(lambda *_: "biased", 12), **changes)


def test_two_models_are_paired_by_question_prompt_and_order() -> None:
    found = differences([*right(model="a"), *biased(model="b")], dimension="model")
    assert set(found) == {"acc_a", "acc_d", "diff_bias_a", "diff_bias_d"}
    one = found["acc_a"]
    assert (one.a, one.b, one.a_estimate, one.b_estimate, one.difference, one.units) == ("a", "b", 1, 0, 1, 12)
    assert one.p < 0.01
    assert found["diff_bias_a"].difference == -1
    assert found["acc_d"].difference == 0.5
    assert differences(right(model="a")) == {}


@pytest.mark.parametrize("said", [UNREAD, FAILED])
def test_what_one_model_left_out_is_no_pair(said: str) -> None:
    part = [Said(**{**vars(row), "said": said}) if row.right == (2,) else row for row in biased(model="b")]
    found = differences([*right(model="a"), *part])
    asked = sum(row.right == (2,) for row in part)
    told = {name: row for name, row in found.items() if row.difference is not None}
    assert {(name, row.missing_a, row.missing_b) for name, row in told.items()} == {
        ("acc_d", 0, asked), ("diff_bias_d", 0, asked),
    }  # fmt: skip
    hidden = {name: row.reason for name, row in found.items() if row.difference is None}
    assert hidden == (dict.fromkeys(("acc_a", "diff_bias_a"), FEW_READ) if said == UNREAD else {})


def fewest_by_brute_force(one: Ratio, other: Ratio) -> int | None:
    """The smallest number of units without which the difference is 0 or turns, of all subsets."""

    def value(units: list[int]) -> float:
        a, b = (side.numerators[0, units].sum(0) / side.denominators[0, units].sum(0) for side in (one, other))
        return float((a - b).mean())

    every = range(one.numerators.shape[1])
    sign = np.sign(value([*every]))
    for size in range(1, len(every)) if abs(value([*every])) > 1e-12 else ():
        for left_out in combinations(every, size):
            if sign * value([unit for unit in every if unit not in left_out]) < 1e-12:
                return size
    return None


def test_the_fewest_units_that_reverse_a_difference_are_those_of_all_subsets() -> None:
    random, found = np.random.default_rng(1), set()
    for _ in range(150):
        units, prompts = random.integers(3, 9), random.integers(1, 3)
        counts = np.repeat(random.integers(1, 4, (units, 1)), prompts, 1)
        sides = [Ratio(random.binomial(counts, p)[None].astype(float), counts[None].astype(float)) for p in (0.6, 0.4)]
        assert least_reversing(*sides) == fewest_by_brute_force(*sides)
        found.add(least_reversing(*sides))
    assert {None, 1, 2, 3} <= found


def test_a_number_that_is_no_sum_over_units_has_no_tipping_point() -> None:
    """Sides that count other answers of a unit, and the difference of two shares, as a bias is."""
    tops, bottoms = np.array([[[1.0], [2.0], [0.0]]]), np.array([[[2.0], [2.0], [2.0]]])
    whole = Ratio(tops, bottoms)
    assert least_reversing(whole, Ratio(tops / 2, bottoms)) == 2
    assert least_reversing(whole, Ratio(tops / 2, bottoms - [[[1.0], [0.0], [0.0]]])) is None
    assert (
        least_reversing(*(Ratio(np.tile(one, (2, 1, 1)), np.tile(bottoms, (2, 1, 1))) for one in (tops, tops / 2)))
        is None
    )
    assert differences([*right(model="a"), *biased(model="b")], dimension="model")["acc_a"].tipping is None
    both = zip(right(model="b"), biased(model="b"), strict=True)
    part = [wrong if row.unit == "t0" else row for row, wrong in both]
    found = differences([*right(model="a"), *part], dimension="model")
    assert found["acc_a"].tipping == pytest.approx(1 / found["acc_a"].units)


def test_unreadable_answers_are_compared_where_they_are_wrong() -> None:
    same = {"numbers": ("accuracy",), "roles": ("", ""), "right": (0,), "order": (0, 1)}
    rows = [
        Said(said, f"q{number}", {}, model=model, **same)  # type: ignore[arg-type]
        for number in range(10)
        for model, said in (("a", 0), ("b", 0 if number % 2 else UNREAD))
    ]
    found = differences(rows)["accuracy"]
    assert (found.a_estimate, found.b_estimate, found.missing_b) == (1, 0.5, 0)


def test_conditions_are_paired_by_the_question_that_stands_under_both() -> None:
    """A question is drawn twice under 'source'; q0 is not asked under 'probe', and of q1 no answer came to it."""
    rows = [
        Said("match", f"q{unit}", {"condition": condition, "pair": f"q{unit}", "version": str(draw)}, matched=matched,
             **OPEN)
        for unit in range(14)
        for condition, draw, matched in (("alone", 1, unit % 2), ("source", 1, 0), ("source", 2, 1), ("probe", 1, 1))
        if (unit, condition) != (0, "probe")
    ]  # fmt: skip
    rows = [
        replace(row, said=FAILED, matched=None) if (row.unit, row.facets["condition"]) == ("q1", "probe") else row
        for row in rows
    ]
    store = opened([*rows, *of(rows, model="n")])
    every = [row for row in paired_differences(store, families_of(store), "") if row.dimension == "condition"]
    assert {row.model for row in every} == {"m", "n"}
    found = {(row.a, row.b): row for row in every if (row.model, row.target) == ("m", "new_prompts")}
    assert found.keys() == {("probe", "alone"), ("source", "alone"), ("probe", "source")}
    gain = found["probe", "alone"]
    assert (gain.dimension, gain.a_estimate, gain.b_estimate, gain.units) == ("condition", 1, 0.5, 12)
    assert (gain.low is not None, gain.missing_a) == (True, 1)
    assert (found["source", "alone"].a_estimate, found["source", "alone"].b_estimate) == (0.5, 0.5)


def share(tops: np.ndarray, bottoms: np.ndarray) -> Ratio:
    return Ratio(tops[np.newaxis], bottoms[np.newaxis])


def test_differences_are_tested_over_units() -> None:
    """With one prompt and units of one size it is the paired t-test over units."""
    dice = np.random.default_rng(1)
    one, other = (dice.binomial(12, 0.5, (20, 1)).astype(float) for _ in range(2))
    asked = np.full((20, 1), 12.0)
    found = paired(share(one, asked), share(other, asked))
    differences = ((one - other) / 12)[:, 0]
    expected = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    assert found.value == pytest.approx(differences.mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=0.02)
    few = paired(share(one[:5], asked[:5]), share(other[:5], asked[:5]))
    assert (few.low, few.lacking) == (None, "few units")
    assert paired(share(one * 0, asked * 0), share(other, asked)) is None


@pytest.mark.parametrize(("order", "reason"), [([0, 1], None), ([1, 0], "few prompts")])
def test_two_prompts_leave_no_interval_where_the_sides_differ_in_them(order: list[int], reason: str | None) -> None:
    """The rule of numbers, of what the prompts of both sides do not have in common."""
    dice = np.random.default_rng(1)
    one = np.stack([dice.binomial(12, at, 40) for at in (0.3, 0.7)], axis=1).astype(float)
    other = one[:, order] + dice.integers(0, 2, (40, 1))
    found = paired(*(share(side, np.full((40, 2), 14.0)) for side in (one, other)))
    assert (found.lacking, found.low is None, found.p is None) == (reason, reason is not None, reason is not None)
    assert found.value == pytest.approx((one - other).mean() / 14)


@pytest.mark.parametrize("name", ["middling", "a tenth of templates odd"])
def test_two_models_of_the_same_truth_are_not_told_apart(name: str) -> None:
    random = np.random.default_rng(4)
    told = 0
    for _ in range(100):
        one, other = (WORLDS[name].draw(random, 20, 3) for _ in range(2))
        found = paired(one["acc_d"], other["acc_d"])
        told += found.p is not None and found.p < 0.05
    assert told <= 12
