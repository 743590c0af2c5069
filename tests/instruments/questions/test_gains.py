"""Numbers of questions under several conditions, by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from polyculture.instruments.questions.numbers.gains import flipped, gain_differences, gain_numbers
from tests.instruments.questions.answered import FAILED, REFUSAL, Said, opened

ROLES = ("own", "biased", "other", "other")
PICKED = {"right": 0, "biased": 1, "other": 2, "refusal": REFUSAL, "failed": FAILED}


def asked(answers: Mapping[tuple[str, str, int], str]) -> Iterator[Said]:
    """(question, condition, draw) -> what an answer comes to; the unit is the question's first letter."""
    for (question, condition, draw), role in answers.items():
        facets = {"type": "resource", "condition": condition, "pair": question, "version": str(draw)}
        if condition != "alone":
            facets |= {"model": "m", "concepts": "2", "gives_away": "yes" if condition == "probe" else "no"}
        yield Said(
            PICKED[role], question[0], facets, f"{question} {condition} {draw}", ROLES, (0,), (0, 1, 2, 3),
            dataset="relevance", language="en", numbers=("gains",),
        )  # fmt: skip


def world() -> Iterator[Said]:
    """'a1' and 'a2' are one unit about two targets. c1 lacks the probe, d1 failed: neither is compared."""
    answers: dict[tuple[str, str, int], str] = {}
    for question, alone, probe, others in (
        ("a1", "other", "right", ("right", "other", "refusal")),
        ("a2", "right", "right", ("right", "right", "right")),
        ("b1", "biased", "right", ("biased", "biased", "right")),
    ):
        answers[question, "alone", 1] = alone
        answers[question, "probe", 1] = probe
        answers |= {(question, "other-culture", draw): role for draw, role in enumerate(others, 1)}
    answers |= {("c1", "alone", 1): "right", ("d1", "alone", 1): "right", ("d1", "probe", 1): "failed"}
    answers |= {(one, "other-culture", 1): "right" for one in ("c1", "d1")}
    yield from asked(answers)


def test_shares_are_of_the_questions_that_all_conditions_have_and_of_all() -> None:
    found = {
        (row.facets["basis"], row.condition, row.metric): row for row in gain_numbers(opened(world()), "relevance", "")
    }
    metrics = ("accuracy", "biased", "others", "refusal_ratio", "out_of_choice", "gives_away", "concepts")
    for condition, expected in (
        ("alone", (1 / 3, 1 / 3, 1 / 6, 0, 0, 0, 0)),
        ("probe", (1, 0, 0, 0, 0, 1, 2)),
        ("other-culture", (5 / 9, 2 / 9, 1 / 18, 1 / 9, 0, 0, 2)),
    ):
        shares = [found["shared", condition, metric] for metric in metrics]
        assert [row.estimate for row in shares] == pytest.approx(expected)
        assert {(row.n, row.units, row.facets["type"], row.no_interval) for row in shares[:6]} == {
            (3, 2, "resource", "few units")
        }
    own = found["own", "alone", "accuracy"]
    assert (own.n, own.estimate) == (5, pytest.approx(3 / 5))
    assert found["own", "probe", "accuracy"].n == 3


def test_gains_are_paired_within_questions() -> None:
    found = {
        (row.a, row.b): row for row in gain_differences(opened(world()), "relevance", "") if row.target == "others"
    }
    assert found.keys() == {("probe", "alone"), ("other-culture", "alone"), ("probe", "other-culture")}
    assert found["probe", "alone"].difference == pytest.approx(2 / 3)
    assert found["probe", "other-culture"].difference == pytest.approx(4 / 9)
    assert found["probe", "alone"].p == 0.5  # both units differ by 1: of four ways to flip signs, two are as far
    assert {(row.units, row.left_out, row.reason, row.dimension) for row in found.values()} == {
        (2, 2, "few units", "condition")
    }


def test_open_questions_gain_in_exact_matches() -> None:
    rows = []
    for number in range(12):
        for condition, matched in (("alone", 0.0), ("probe", float(number % 3 > 0))):
            facets = {"condition": condition, "pair": str(number)}
            said = Said("match", str(number), facets, f"{number} {condition}", (), (), (), kind="open", reader="exact")
            said = replace(said, matched=matched, dataset="relevance", numbers=("gains",))
            rows += [said, replace(said, reader="f1", matched=matched / 2)]
    store = opened(rows)
    values = {(row.condition, row.metric): row.estimate for row in gain_numbers(store, "relevance", "")}
    assert values["probe", "exact_match"] == pytest.approx(8 / 12)
    assert values["probe", "f1"] == pytest.approx(4 / 12)
    gain, of_f1 = [row for row in gain_differences(store, "relevance", "") if row.target == "others"]
    assert (gain.metric, gain.difference) == ("exact_match", pytest.approx(8 / 12))
    assert (of_f1.metric, of_f1.difference) == ("f1", pytest.approx(4 / 12))
    assert gain.low is not None
    assert gain.low > 0


def test_what_was_not_asked_yet_takes_its_question_out() -> None:
    rows = [row for row in world() if not (row.unit == "b" and row.facets["condition"] == "probe")]
    missing = next(row for row in world() if row.unit == "b" and row.facets["condition"] == "probe")
    store = opened(rows)
    added = "INSERT INTO questions BY NAME SELECT * REPLACE ($id AS question_id, $facets AS facets) FROM questions "
    store.execute(f"{added} WHERE unit = 'b' LIMIT 1", {"id": "not asked", "facets": dict(missing.facets)})
    shares = [row.n for row in gain_numbers(store, "relevance", "") if row.facets["basis"] == "shared"]
    assert set(shares) == {2}


def test_p_of_flipped_signs_is_that_of_all_ways() -> None:
    assert flipped(np.array([0.0, 0.0])) is None
    assert flipped(np.array([1.0])) == 1.0
    assert flipped(np.array([1.0, 1.0, 1.0, -1.0, 0.0])) == pytest.approx(10 / 16)
    many = flipped(np.array([1.0] * 40 + [-1.0] * 20))
    assert many == pytest.approx(0.0135, abs=0.005)  # the exact sign test
