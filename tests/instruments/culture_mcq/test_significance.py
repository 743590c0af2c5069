"""The tests of hypotheses: the study's own figures, second opinions, and counts made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportions_ztest

from polyculture.instruments.culture_mcq.numbers import QuestionCounts, Study, model_differences
from polyculture.instruments.culture_mcq.significance import comparisons, hypothesis_rows, two_proportions

LEVELS = ("high", "mid", "low")
STUDY = Study("generated", "m", "culturescope", "en", "words", "house", "resource")
HAND = [  # answered, right, biased, other, refused, out
    QuestionCounts("Q1", "US", "high", (2, 2, 0, 0, 0, 0)),
    QuestionCounts("Q1", "Greece", "mid", (2, 1, 1, 0, 0, 0)),
    QuestionCounts("Q1", "Assam", "low", (2, 0, 2, 0, 0, 0)),
    QuestionCounts("Q2", "US", "high", (2, 1, 0, 1, 0, 0)),
    QuestionCounts("Q2", "Assam", "low", (2, 1, 1, 0, 0, 0)),
    QuestionCounts("Q3", "Assam", "low", (2, 0, 1, 0, 1, 0)),
]


def test_the_studys_check() -> None:
    _, p = two_proportions(0.43, 5050, 0.39, 1425)
    assert p == pytest.approx(0.0035, abs=5e-5)


@pytest.mark.parametrize("counts", [(50, 100, 40, 90), (3, 10, 9, 11), (430, 1000, 390, 900)])
def test_z_is_that_of_statsmodels(counts: tuple[int, int, int, int]) -> None:
    first, first_size, second, second_size = counts
    z, p = two_proportions(first / first_size, first_size, second / second_size, second_size)
    theirs = proportions_ztest([first, second], [first_size, second_size], alternative="larger")
    assert (z, p) == pytest.approx(theirs)


def test_groups_and_shares_are_those_counted_by_hand() -> None:
    found = {(one.kind, one.hypothesis, one.comparison): one for one in comparisons(HAND, LEVELS)}
    shares = {key: (one.first, one.first_size, one.second, one.second_size) for key, one in found.items()}
    assert shares["paper", "H1", "all > low"] == (5 / 12, 12, 1 / 6, 6)
    assert shares["paper", "H1", "mid > low"] == (1 / 2, 2, 1 / 6, 6)
    assert shares["sound", "H1", "all but low > low"] == (4 / 6, 6, 1 / 6, 6)
    assert shares["paper", "H2", "biased > others, all"] == (5 / 12, 12, 0.5 / 12, 12)
    assert shares["sound", "H2", "biased > 1/3 of wrong, all"] == (5 / 6, 6, 1 / 3, None)
    assert shares["paper", "H3", "low > all"] == (4 / 6, 6, 5 / 12, 12)
    assert shares["sound", "H3", "low > all but low"] == (4 / 6, 6, 1 / 6, 6)
    exact = sum(stats.binom.pmf(count, 6, 1 / 3) for count in (5, 6))
    assert found["sound", "H2", "biased > 1/3 of wrong, all"].p == pytest.approx(exact)
    assert found["paper", "H1", "all > low"].note == "one group is a part of the other"
    assert ("sound", "H2", "biased > 1/3 of wrong, high") in found
    assert not any(one.kind == "sound" and " all" in f" {one.comparison.replace('all but', '')}" and
                   one.hypothesis != "H2" for one in found.values())  # fmt: skip


def test_the_jackknife_leaves_out_one_question_at_a_time() -> None:
    found = next(one for one in comparisons(HAND, LEVELS) if one.comparison == "all but low > low")
    differences = []
    for left in ("Q1", "Q2", "Q3"):
        rest = [row for row in HAND if row.source_id != left]
        low = [row.counts for row in rest if row.level == "low"]
        more = [row.counts for row in rest if row.level != "low"]
        shares = [sum(counts[1] for counts in some) / sum(counts[0] for counts in some) for some in (more, low)]
        differences.append(shares[0] - shares[1])
    deviation = np.sqrt(2 / 3 * np.sum((np.array(differences) - np.mean(differences)) ** 2))
    assert found.statistic == pytest.approx((4 / 6 - 1 / 6) / deviation)
    assert found.p == pytest.approx(stats.t.sf(found.statistic, 2))


def test_rates_of_false_discoveries_are_by_kind() -> None:
    rows = list(hypothesis_rows([(STUDY, HAND), (STUDY._replace(question_type="region"), HAND)], LEVELS))
    for kind in ("paper", "sound"):
        mine = [row for row in rows if row.kind == kind and row.p is not None]
        assert len(mine) >= 8
        theirs = multipletests([row.p for row in mine], method="fdr_bh")[1]
        assert [row.q for row in mine] == pytest.approx(list(theirs))
    assert all(row.q is None for row in rows if row.p is None)


def test_where_nothing_varies_there_is_no_p() -> None:
    same = [QuestionCounts(f"Q{n}", "US", level, (1, 1, 0, 0, 0, 0)) for n in range(4) for level in LEVELS]
    found = list(comparisons(same, LEVELS))
    assert found
    assert all(one.p is None for one in found if one.hypothesis != "H2")
    assert list(comparisons([], LEVELS)) == []


@pytest.mark.parametrize("effect", [0.0, 0.5])
def test_a_question_that_is_hard_for_all_is_one_witness(effect: float) -> None:
    """Without a difference between levels, p below .05 in about 5 % of the worlds, though answers are no witnesses."""
    draw, below, worlds = np.random.default_rng(7), 0, 200
    for _ in range(worlds):
        rows = []
        for number in range(40):
            of_question = draw.normal(0, 1.5)
            for level, targets in (("high", 7), ("mid", 3), ("low", 4)):
                logit = of_question + (effect if level != "low" else 0.0)
                right = int((draw.random(targets) < 1 / (1 + np.exp(-logit))).sum())
                rows.append(QuestionCounts(f"Q{number}", level, level, (targets, right, 0, targets - right, 0, 0)))
        found = next(one for one in comparisons(rows, LEVELS) if one.comparison == "all but low > low")
        below += found.p is not None and found.p < 0.05
    if effect:
        assert below / worlds > 0.5
    else:
        assert 0.02 <= below / worlds <= 0.09


def test_two_models_are_compared_on_the_questions_that_both_answered() -> None:
    random = np.random.default_rng(2)

    def answers(rate: float, of: int) -> list[QuestionCounts]:
        rows = []
        for number in range(of):
            right = int(random.binomial(3, rate))
            rows.append(QuestionCounts(f"Q{number}", "US", LEVELS[number % 3], (3, right, 3 - right, 0, 0, 0)))
        return rows

    one, other = answers(0.9, 30), answers(0.4, 25)
    other[0] = other[0]._replace(counts=(0, 0, 0, 0, 0, 0))
    rows = list(model_differences({STUDY._replace(model="a"): one, STUDY._replace(model="b"): other}, "inputs"))
    assert {row.facets.get("level") for row in rows} == {None, *LEVELS}
    found = next(row for row in rows if row.metric == "accuracy" and not row.facets)
    shared = [row.counts[1] / 3 for row in one[1:25]], [row.counts[1] / 3 for row in other[1:]]
    assert (found.a_estimate, found.b_estimate) == (
        pytest.approx(np.mean(shared[0])),
        pytest.approx(np.mean(shared[1])),
    )
    assert (found.a, found.b, found.model, found.units, found.missing_b, found.left_out) == ("a", "b", "*", 24, 1, 5)
    assert found.low is not None
    assert found.low > 0
    assert not list(model_differences({STUDY: one, STUDY._replace(prompt="other"): other}, "inputs"))
