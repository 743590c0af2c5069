"""The tests of CultureScope's hypotheses: the study's own figures, second opinions, and counts made by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from polyculture.instruments.questions.numbers.hypotheses import (
    QuestionCounts,
    comparisons,
    contrasts,
    hypothesis_numbers,
    level_differences,
    two_proportions,
)
from polyculture.instruments.questions.numbers.withheld import FEW_READ
from polyculture.metrics.inference.ratios import paired
from tests.instruments.questions.answered import FAILED, REFUSAL, UNREAD, Said, opened

LEVELS = ("high", "mid", "low")
HAND = [  # answered, right, biased, other
    QuestionCounts("Q1", "high", 2, 2, 0, 0),
    QuestionCounts("Q1", "mid", 2, 1, 1, 0),
    QuestionCounts("Q1", "low", 2, 0, 2, 0),
    QuestionCounts("Q2", "high", 2, 1, 0, 1),
    QuestionCounts("Q2", "low", 2, 1, 1, 0),
    QuestionCounts("Q3", "low", 2, 0, 1, 0),
]


def test_the_studys_check() -> None:
    assert two_proportions(0.43, 5050, 0.39, 1425) == pytest.approx(0.0035, abs=5e-5)


@pytest.mark.parametrize("counts", [(50, 100, 40, 90), (3, 10, 9, 11), (430, 1000, 390, 900)])
def test_z_is_that_of_statsmodels(counts: tuple[int, int, int, int]) -> None:
    from statsmodels.stats.proportion import proportions_ztest

    first, first_size, second, second_size = counts
    _, p = proportions_ztest([first, second], [first_size, second_size], alternative="larger")
    assert two_proportions(first / first_size, first_size, second / second_size, second_size) == pytest.approx(p)


def test_groups_and_shares_are_those_counted_by_hand() -> None:
    shares = {(one.hypothesis, one.side): (one.first, one.second, one.sizes) for one in comparisons(HAND, LEVELS)}
    assert shares["1", "avg. > low"] == (5 / 12, 1 / 6, (12, 6))
    assert shares["1", "mid > low"] == (1 / 2, 1 / 6, (2, 6))
    assert shares["1", "avg. > mid"] == (5 / 12, 1 / 2, (12, 2))
    assert shares["2", "avg."] == (5 / 12, 0.5 / 12, (12, 12))
    assert shares["3", "low > avg."] == (4 / 6, 5 / 12, (6, 12))
    assert {"avg.", "low", "mid", "high"} == {side for hypothesis, side in shares if hypothesis == "2"}


def answers() -> Iterator[Said]:
    """Twelve questions of both types about a target of each level."""
    random = np.random.default_rng(3)
    for kind in ("resource", "region"):
        for number in range(12):
            for level in LEVELS:
                said = int(random.choice(4, p=[0.4, 0.3, 0.2, 0.1]))
                facets = {"type": kind, "level": level, "levels": "; ".join(LEVELS)}
                yield answer(said if number else REFUSAL, f"q{number}", facets)
    yield answer(FAILED, "q99", {"type": "region", "level": "low", "levels": "; ".join(LEVELS)})


def answer(said: int | str, unit: str, facets: dict[str, str]) -> Said:
    return Said(said, unit, facets, "", ("own", "biased", "other", "other"), (0,), (0, 1, 2, 3), dataset="culture-mcq",
                numbers=("hypotheses",))  # fmt: skip


def test_rates_of_false_discoveries_are_over_both_types() -> None:
    from statsmodels.stats.multitest import multipletests

    rows = list(hypothesis_numbers(opened(answers()), "culture-mcq", ""))
    p, q = ([row.estimate for row in rows if row.metric.endswith(end)] for end in ("_p", "_q"))
    known = [one for one in p if one is not None]
    assert len(p) == len(q) == 18
    assert [one for one in q if one is not None] == pytest.approx(list(multipletests(known, method="fdr_bh")[1]))
    assert {row.facets["type"] for row in rows} == {"resource", "region"}
    [one] = [row for row in rows if row.metric == "accuracy_p" and row.facets
             == {"hypothesis": "1", "side": "avg. > low", "test": "paper", "type": "region"}]  # fmt: skip
    assert one.sizes == {"first": 36, "second": 12}  # what failed is in none


def test_what_is_compared_has_an_interval_over_units() -> None:
    rows = level_differences(opened(answers()), "culture-mcq", "")
    found = {(row.metric, row.a, row.b, row.facets["type"]): row for row in rows if row.target == "new_prompts"}
    levels, options = ("accuracy", "all but low", "low"), ("biased", "biased", "others")
    assert found.keys() >= {(*key, kind) for key in (levels, options) for kind in ("resource", "region")}
    picked = {level: [one.said for one in answers() if one.facets["type"] == "region" and one.facets["level"] == level
                      and one.unit != "q99"] for level in LEVELS}  # fmt: skip
    low, every = picked["low"], [one for some in picked.values() for one in some]
    rest = [one for level, some in picked.items() if level != "low" for one in some]
    of_levels, of_options = found[*levels, "region"], found[*options, "region"]
    assert of_levels.difference == pytest.approx(rest.count(0) / len(rest) - low.count(0) / len(low))
    assert of_options.difference == pytest.approx(
        every.count(1) / len(every) - (every.count(2) + every.count(3)) / 2 / len(every)
    )
    assert None not in (of_levels.low, of_options.low)
    assert of_levels.units == of_options.units == 12


def test_of_a_level_whose_answers_are_hardly_read_there_is_no_test_and_no_difference_and_both_say_why() -> None:
    rows = [
        answer(UNREAD, one.unit, dict(one.facets)) if one.facets["level"] == "low" and one.said != FAILED else one
        for one in answers()
    ]
    store = opened(rows)
    tests = {
        (row.metric, row.facets["side"]): (row.estimate, row.no_estimate)
        for row in hypothesis_numbers(store, "culture-mcq", "") if row.facets["type"] == "region"
    }  # fmt: skip
    for side in ("avg. > low", "mid > low"):
        assert tests["accuracy_p", side] == tests["accuracy_q", side] == (None, FEW_READ)
    assert tests["biased_p", "low"] == (None, FEW_READ)
    assert tests["accuracy_p", "avg. > mid"][0] is not None
    found = {
        (row.metric, row.a, row.b): (row.difference, row.a_estimate, row.p, row.reason)
        for row in level_differences(store, "culture-mcq", "") if row.facets["type"] == "region"
    }  # fmt: skip
    assert found["accuracy", "all but low", "low"] == (None, None, None, FEW_READ)
    assert found["biased", "biased", "others"][0] is not None


def test_where_nothing_varies_there_is_no_p() -> None:
    same = [QuestionCounts(f"Q{n}", level, 1, 1, 0, 0) for n in range(4) for level in LEVELS]
    found = list(comparisons(same, LEVELS))
    assert found
    assert all(one.p is None for one in found if one.hypothesis != "2")
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
                rows.append(QuestionCounts(f"Q{number}", level, targets, right, 0, targets - right))
        sides = next(
            (one.first, one.second) for one in contrasts(rows, LEVELS)
            if (one.metric, one.first.name) == ("accuracy", "all but low")
        )  # fmt: skip
        found = paired(*(side.ratio(rows) for side in sides))
        below += found is not None and found.p is not None and found.p < 0.05
    if effect:
        assert below / worlds > 0.5
    else:
        assert 0.02 <= below / worlds <= 0.09
