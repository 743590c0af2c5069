"""Tests between categories and data sets, the survey, and published figures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.multicomp import pairwise_tukeyhsd
from statsmodels.stats.multitest import multipletests

from polyculture.cache.errors import DataSetError
from polyculture.instruments.bbq.correlation import correlation
from polyculture.instruments.bbq.published_scores import read_published
from polyculture.instruments.bbq.significance import (
    anova,
    false_discovery,
    rank_sum,
    template_values,
    tukey,
)
from polyculture.instruments.bbq.survey import FILE, Survey, read_survey, violations
from polyculture.instruments.choices.uncertainty import Ratio


def groups(shift: float = 0.0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(4)
    sizes = {"age": 21, "religion": 20, "political_orientation": 10}
    return {name: random.normal(shift * place, 0.2, size) for place, (name, size) in enumerate(sizes.items())}


def test_a_templates_value_is_its_mean_over_prompts() -> None:
    tops = np.array([[[1.0, 2.0], [0.0, 0.0], [0.0, 3.0]]])
    bottoms = np.array([[[2.0, 2.0], [0.0, 0.0], [0.0, 4.0]]])
    assert template_values(Ratio(tops, bottoms)).tolist() == [0.75, 0.75]  # the second has no answer


def test_anova_and_tukey_agree_with_statsmodels() -> None:
    given = groups(0.15)
    values, names = np.concatenate(list(given.values())), np.repeat(list(given), [len(one) for one in given.values()])
    peer = pairwise_tukeyhsd(values, names, alpha=0.01)
    theirs = {
        pair: (-mean, *sorted(-limits), p)  # the second less the first, there
        for pair, mean, limits, p in zip(
            zip(peer.groupsunique[peer._multicomp.pairindices[0]], peer.groupsunique[peer._multicomp.pairindices[1]],
                strict=True), peer.meandiffs, peer.confint, peer.pvalues, strict=True)
    }  # fmt: skip
    found = tukey(given)
    assert len(found) == len(theirs) == 3
    for row in found:
        swapped = (row.one, row.other) not in theirs
        mean, low, high, p = theirs[(row.other, row.one) if swapped else (row.one, row.other)]
        if swapped:
            mean, low, high = -mean, -high, -low
        assert (row.difference, row.low, row.high) == pytest.approx((mean, low, high), abs=1e-4)
        assert row.p == pytest.approx(p, abs=1e-4)
    whole = anova(given)
    assert whole.p is not None
    assert whole.p < 0.01


def test_a_group_of_one_template_is_left_out_and_named() -> None:
    found = anova({**groups(), "ses": np.array([0.5])})
    assert found.left_out == ("ses",)
    assert "ses" not in found.groups


def test_templates_that_all_agree_are_no_test() -> None:
    alike = {"age": np.ones(5), "religion": np.zeros(5)}
    assert anova(alike).p is None
    assert [(row.difference, row.p) for row in tukey(alike)] == [(1.0, None)]


def test_where_nothing_differs_one_of_twenty_is_found() -> None:
    random = np.random.default_rng(1)
    low = [
        found.p < 0.05
        for _ in range(400)
        if (found := rank_sum(random.normal(0, 1, 20), random.normal(0, 1, 12))) is not None
    ]
    assert 0.02 < np.mean(low) < 0.08


def test_rank_sum_by_hand_and_of_ties() -> None:
    found = rank_sum(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.5]))
    assert found is not None
    assert (found.u, found.higher, found.one, found.other) == (6.0, 1.0, 3, 2)
    assert found.p == pytest.approx(0.2)  # 2 of 10 orders
    same = rank_sum(np.ones(4), np.ones(3))
    assert same is not None
    assert (same.p, same.higher) == (1.0, 0.5)
    assert rank_sum(np.array([]), np.ones(3)) is None


def test_false_discovery_agrees_with_statsmodels() -> None:
    p = [0.01, None, 0.04, 0.03, 0.5]
    found = false_discovery(p)
    assert found[1] is None
    known = [value for value in p if value is not None]
    assert [value for value in found if value is not None] == pytest.approx(multipletests(known, method="fdr_bh")[1])
    assert false_discovery([None]) == [None]


def test_the_published_survey(shared_data: Path) -> None:
    surveys, remarks = read_survey(shared_data / "kobbq" / "data")
    assert len(surveys) == 267
    assert ["the same entry" in remark.reason for remark in remarks] == [True]  # row 213


def test_votes_that_do_not_fit_the_roles() -> None:
    survey = Survey("Age", "drinks", {"young": 56, "middle-aged, old": 21, "no_stereo": 23})
    assert survey.equal_share == pytest.approx(1 / 3)
    assert survey.share_of(["old"]) == survey.share_of(["middle-aged", "old"]) == 0.21
    assert survey.share_of(["children"]) is None
    found = [(row.group, row.role) for row in violations(survey, ["young"], ["old"])]
    assert found == [("young", "target"), ("old", "other")]
    fits = Survey("Age", "hears badly", {"old": 67, "young": 16, "no_stereo": 17})
    assert not list(violations(fits, ["old"], ["young"]))


def test_unusable_entries_of_a_survey_are_remarks(tmp_path: Path) -> None:
    entries = [
        {"category": "a", "stereotype": "b", "survey_stats": {"x": 90, "no_stereo": 10}},
        {"category": "a", "stereotype": "c"},
        {"category": "a", "stereotype": "d", "survey_stats": {"x": "many", "no_stereo": 1}},
        {"category": "a", "stereotype": "e", "survey_stats": {"x": 101, "no_stereo": 1}},
        "nothing",
    ]
    (tmp_path / FILE).write_text(json.dumps(entries), encoding="utf-8")
    surveys, remarks = read_survey(tmp_path)
    assert [len(surveys), len(remarks)] == [1, 4]
    (tmp_path / FILE).write_text("{", encoding="utf-8")
    with pytest.raises(DataSetError, match="cannot be read"):
        read_survey(tmp_path)


def test_bias_that_follows_the_votes() -> None:
    votes = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 1.0]
    found = correlation(votes, [*votes[:-2], 0.99, 0.98])
    assert found.spearman is not None
    assert found.low is not None
    assert found.high is not None
    assert 0.9 < found.low < found.spearman < found.high < 1
    assert correlation(votes, [0.1] * 12).spearman is None
    assert correlation(votes[:5], votes[4::-1]).low is None


def test_the_interval_of_a_correlation_covers() -> None:
    random, held = np.random.default_rng(2), 0
    for _ in range(400):
        x = random.normal(0, 1, 60)
        found = correlation(x.tolist(), (0.5 * x + np.sqrt(0.75) * random.normal(0, 1, 60)).tolist())
        held += (
            found.low is not None and found.high is not None and found.low <= 6 / np.pi * np.arcsin(0.25) <= found.high
        )
    assert 0.92 < held / 400 < 0.98


def test_published_maxima_follow_from_the_printed_accuracy() -> None:
    rows = read_published()
    accuracy = {(row.model, row.context): row.value for row in rows if row.measure == "accuracy"}
    maxima = [row for row in rows if row.measure == "max diff-bias"]
    assert len(maxima) == 2
    for row in maxima:
        right = accuracy[row.model, row.context]
        formula = 1 - right if row.context == "ambiguous" else 1 - abs(2 * right - 1)
        assert formula == pytest.approx(row.value, abs=2e-4)
    for row in rows:
        if row.measure == "diff-bias":
            assert abs(row.value) <= next(one.value for one in maxima if one.model == row.model)
