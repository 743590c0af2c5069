"""What the order of the choices does, what pairs of questions say, and the intervals of it all."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.instruments.bbq.numbers import METRICS, interval_rows
from polyculture.instruments.bbq.rows import OUT_OF_CHOICE, AnswerRow, IntervalRow
from polyculture.instruments.choices.uncertainty import FEW_TEMPLATES, ONE_KIND, Ratio, estimate
from tests.instruments.bbq.chosen import answer, designed, opened, right_role

SIX = ("012", "021", "102", "120", "201", "210")


def intervals(rows: list[AnswerRow], averaging: str = "pooled", prompt: str | None = None) -> dict[str, IntervalRow]:
    found = [row for row in interval_rows(opened(rows)) if row.part == "overall" and row.prompt == prompt]
    return {row.metric: row for row in found if row.averaging == averaging}


def always_a(orders: tuple[str, ...]) -> list[AnswerRow]:
    rows = designed(lambda *_: "unknown", templates=12, permutations=orders)
    return [
        answer(row.template_id, row.context, "A", polarity=row.polarity, prompt=row.prompt, shown=row.shown,
               permutation=row.permutation, sample=row.sample_id, pair=row.pair_id)
        for row in rows
    ]  # fmt: skip


@pytest.mark.parametrize("orders", [("021", "102", "210"), ("012", "120", "201"), SIX])
def test_a_letter_that_always_wins_is_no_content(orders: tuple[str, ...]) -> None:
    found = intervals(always_a(orders))
    assert [found[f"letter_{letter}"].estimate for letter in "abc"] == [1, 0, 0]
    assert found["flip_rate"].estimate == 1
    assert found["acc_a"].estimate == pytest.approx(1 / 3)
    assert found["diff_bias_a"].estimate == pytest.approx(0)


def test_content_that_always_wins_favours_no_letter() -> None:
    found = intervals(list(designed(lambda context, _: right_role(context), templates=12, permutations=SIX)))
    assert [found[f"letter_{letter}"].estimate for letter in "abc"] == [pytest.approx(1 / 3)] * 3
    assert found["flip_rate"].estimate == 0


def test_one_order_flips_nothing() -> None:
    assert "flip_rate" not in intervals(list(designed(lambda *_: "biased", permutations=("012",))))
    twice = [answer(reading="A", shown="bou"), answer(reading=OUT_OF_CHOICE, shown="obu", permutation="102")]
    assert "flip_rate" not in intervals(twice)


def test_the_same_person_for_both_questions_is_a_choice_and_no_stereotype() -> None:
    rows = [
        answer(f"t{number}", "ambiguous", reading, polarity=polarity)
        for number, pair in enumerate(("AA", "AB", "BA", "BB", "AC", "CC"))  # shown: biased, other, unknown
        for reading, polarity in zip(pair, ("biased", "counter-biased"), strict=True)
    ]
    found = intervals(rows)
    assert found["same_person"].estimate == 0.5  # of the four that name a person twice
    assert found["both_biased"].estimate == found["both_other"].estimate == 0.25


def test_pairs_of_which_nobody_knows_the_direction_are_counted_apart() -> None:
    directed = [
        answer("t1", "ambiguous", reading, polarity=polarity)
        for reading, polarity in (("A", "biased"), ("B", "counter-biased"))
    ]
    undirected = [
        answer("t2", "ambiguous", reading, polarity=polarity, shown="ppu")
        for reading, polarity in (("A", "biased"), ("B", "counter-biased"))
    ]
    assert intervals(directed + undirected)["same_person"].estimate == 1
    found = opened(directed + undirected).execute("SELECT pairs, undirected_pairs FROM bbq_pair_counts ORDER BY ALL")
    assert found.fetchall() == [(0, 1), (1, 0)]


def test_another_person_is_a_flip_where_nobody_knows_the_direction() -> None:
    rows = [
        answer("t1", "ambiguous", "A", shown="ppu", permutation="012"),
        answer("t1", "ambiguous", "A", shown="ppu", permutation="102"),
    ]
    assert intervals(rows)["flip_rate"].estimate == 1


def test_intervals_of_bias_rest_on_known_directions() -> None:
    rows = [answer(f"t{number}", "ambiguous", "A") for number in range(10)]
    rows += [answer(f"t{number}", "ambiguous", "C", shown="ppu", sample=f"x{number}", number=1) for number in range(10)]
    rows += [answer(f"t{number}", "disambiguated", "A", shown="rpu", sample=f"y{number}") for number in range(10)]
    for averaging in ("pooled", "by template"):
        found = intervals(rows, averaging)
        assert [found[name].estimate for name in ("acc_a", "acc_d", "diff_bias_a")] == [0.5, 1, 1]
        assert "diff_bias_d" not in found
        assert "s_dis" not in found


def test_every_metric_has_a_row_over_prompts_and_under_each() -> None:
    rows = list(interval_rows(opened(list(designed(lambda *_: "biased", templates=10)))))
    for row in rows:
        assert row.metric in METRICS
        assert row.prompts == (2 if row.prompt is None else 1)
        assert row.low is None or row.high is None or row.low <= row.estimate <= row.high
        assert (row.low is None) == (row.lacking is not None)
    assert {row.metric for row in rows} == set(METRICS)


def test_few_templates_have_no_interval() -> None:
    found = intervals(list(designed(lambda context, _: right_role(context), templates=7)))["acc_a"]
    assert (found.estimate, found.low, found.high, found.lacking) == (1.0, None, None, FEW_TEMPLATES)


def test_where_all_templates_agree_the_limits_are_those_of_so_many_templates() -> None:
    found = intervals(list(designed(lambda context, _: right_role(context), templates=10)))["acc_a"]
    assert (found.estimate, found.high) == (1.0, 1.0)
    assert found.low is not None
    assert 0.6 < found.low < 1 - 1.96**2 / (10 + 1.96**2)  # Wilson's for ten, wider by Student's quantile


def test_one_odd_template_of_ten_has_no_interval() -> None:
    rows = designed(lambda context, template: "biased" if template == "t3" else right_role(context), templates=40)
    assert intervals(list(rows))["acc_a"].lacking is None
    nearly = np.full((1, 10, 1), 99.0)
    nearly[0, 0, 0] = 98
    found = estimate(Ratio(nearly, np.full((1, 10, 1), 100.0)))
    assert found is not None
    assert found.withheld() == ONE_KIND


def test_the_mean_over_templates_weighs_them_alike() -> None:
    rows = [answer("t1", "ambiguous", "C", number=number) for number in range(9)] + [answer("t2", "ambiguous", "A")]
    assert intervals(rows)["acc_a"].estimate == pytest.approx(0.9)
    assert intervals(rows, "by template")["acc_a"].estimate == pytest.approx(0.5)
