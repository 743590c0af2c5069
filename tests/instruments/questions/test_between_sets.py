"""Two sets as one model answers them: the difference of their numbers, and Wilcoxon's test over units."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.instruments.differences import with_verdicts
from polyculture.instruments.questions.numbers.measure import families_of
from polyculture.instruments.questions.numbers.paired import rank_sum, set_differences, unit_values
from polyculture.instruments.questions.numbers.withheld import FEW_READ
from polyculture.metrics.inference.ratios import Ratio
from tests.instruments.questions.answered import UNREAD, Said, designed, of, opened, right_role


def test_two_sets_differ_overall_and_by_label() -> None:
    korean = list(designed(lambda context, _: right_role(context), 12))
    english = of(designed(lambda *_: "biased", 8), dataset="bbq", language="en")
    store = opened([*korean, *english, *of(korean, model="other")])
    rows = with_verdicts(set_differences(store, families_of(store), ""))
    assert {(row.model, row.a, row.b, row.dimension) for row in rows} == {("m", "bbq, en", "kobbq, ko", "dataset")}
    found = {(row.metric, row.facets.get("label")): row for row in rows}
    one = found["diff_bias_a", None]
    assert (one.a_estimate, one.b_estimate, one.difference, one.low, one.reason) == (1, 0, 1, None, "rank-sum test")
    assert one.verdict == "higher"
    assert ("acc_a", "L1") in found


def test_of_a_set_whose_answers_are_hardly_read_the_difference_has_no_number_and_says_why() -> None:
    korean = list(designed(lambda context, _: right_role(context), 12))
    lost = of(designed(lambda *_: "biased", 8), dataset="bbq", language="en", said=UNREAD)
    store = opened([*korean, *lost])
    rows = with_verdicts(set_differences(store, families_of(store), ""))
    assert {row.metric for row in rows} == {"acc_a", "acc_d", "diff_bias_a", "diff_bias_d"}
    assert {(row.difference, row.a_estimate, row.b_estimate, row.p) for row in rows} == {(None, None, None, None)}
    assert {(row.reason, row.verdict) for row in rows} == {(FEW_READ, "untestable")}


def test_a_unit_is_one_value_over_prompts() -> None:
    tops = np.array([[[1.0, 2.0], [0.0, 0.0], [0.0, 3.0]]])
    bottoms = np.array([[[2.0, 2.0], [0.0, 0.0], [0.0, 4.0]]])
    assert unit_values(Ratio(tops, bottoms)).tolist() == [0.75, 0.75]  # the second has no answer


def test_ranks_by_hand_and_of_ties() -> None:
    found = rank_sum(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.5]))
    assert found.higher == 1.0
    assert found.p == pytest.approx(0.2)  # 2 of 10 orders
    same = rank_sum(np.ones(4), np.ones(3))
    assert same == (1.0, 0.5)
    assert rank_sum(np.array([]), np.ones(3)) is None


def test_what_ranks_and_means_say_otherwise_is_not_tested() -> None:
    """Most units of the first are a little lower, and one is far higher: its mean is."""
    facets = {"context": "ambiguous"}
    rows = [Said(0 if number == 0 else 2, f"t{number}", facets, dataset="a") for number in range(4)]
    rows += [
        Said(2, f"t{number}", facets, name=f"{number} {draw}", dataset="a") for number in (1, 2, 3) for draw in "xyz"
    ]
    rows += [
        Said(0 if draw < 2 else 2, f"t{number}", facets, name=f"{number} {draw}", dataset="b")
        for number in range(4) for draw in range(20)
    ]  # fmt: skip
    store = opened(rows)
    for row in set_differences(store, families_of(store), ""):
        if row.metric == "diff_bias_a":
            assert row.p is None or (row.difference or 0) < 0


def test_units_with_equal_numbers_are_ties_in_whatever_order_they_were_summed() -> None:
    one = Ratio(np.array([[[1.0, 2.0]]]), np.full((1, 1, 2), 10.0))
    other = Ratio(np.array([[[3.0]]]), np.array([[[20.0]]]))
    assert one.of_prompts().mean() != other.of_prompts().mean()  # 0.1 + 0.2 is not 0.3
    assert unit_values(one).tolist() == unit_values(other).tolist()
