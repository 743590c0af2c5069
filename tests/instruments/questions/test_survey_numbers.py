"""A model's shares of a survey's answers against the people's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from polyculture.instruments.questions.layout import READINGS
from polyculture.instruments.questions.numbers.survey import (
    CONSTANT,
    FEW,
    mean,
    rank_correlation,
    spearman,
    survey_numbers,
)
from tests.instruments.questions.answered import UNREAD, Said, opened

GROUPS = ("group", "group", "group", "unknown")
VOTES = [[80.0, 10.0, 0.0, 10.0], [10.0, 70.0, 60.0, 0.0]]


def answers() -> Iterator[Said]:
    """Two stereotypes of one set, of which the second asks for all that fit: of four answers one names nothing."""
    for number, said in ((0, (0, 0, 3, UNREAD)), (1, (1, 1, 1, 0))):
        for sample, one in enumerate(said):
            facets = {"category": f"c{number}", "form": "several" if number else "one"}
            name = "kobbq-survey-several" if number else "kobbq-survey"
            yield Said(one, f"s{number}", facets, "", GROUPS, (), (0, 1, 2, 3), dataset=name, numbers=("survey",),
                       sample=sample)  # fmt: skip


def test_shares_are_of_answers_that_name_something_over_both_forms() -> None:
    store = opened(answers())
    for number, votes in enumerate(VOTES):
        store.execute(
            "UPDATE questions SET weights = $votes WHERE unit = $unit", {"votes": votes, "unit": f"s{number}"}
        )
    store.execute(f"UPDATE {READINGS.name} SET also = [2] WHERE picked = 1")
    found = {
        (row.metric, row.topic, row.facets.get("form")): row
        for row in survey_numbers(store, ["kobbq-survey-several", "kobbq-survey"], "")
        if row.metric not in ("exact_match", "f1")
    }
    assert {row.dataset for row in found.values()} == {"kobbq-survey"}
    model = [[2 / 3, 0, 0, 1 / 3], [1 / 4, 3 / 4, 3 / 4, 0]]
    people = [[vote / 100 for vote in votes] for votes in VOTES]
    apart = [np.abs(np.subtract(one, other)).mean() for one, other in zip(model, people, strict=True)]
    assert found["distance", "*", None].estimate == pytest.approx(np.mean(apart))
    assert found["distance", "c1", None].estimate == pytest.approx(apart[1])
    assert found["distance", "*", "one"].estimate == pytest.approx(apart[0])
    assert found["no_stereotype", "*", None].estimate == pytest.approx((1 / 3 - 0.1) / 2)
    both = np.array(
        [[a, b] for one, other in zip(people, model, strict=True) for a, b in zip(one[:3], other, strict=False)]
    )
    assert found["correlation", "*", None].estimate == pytest.approx(stats.spearmanr(*both.T).statistic)
    assert {row.no_interval for row in found.values()} == {FEW}
    assert found["correlation", "*", None].units == 2


def test_readers_languages_and_models_stand_apart() -> None:
    rows = [*answers(), *(replace(row, model="n", reader="publisher") for row in answers())]
    found = {(row.model, row.reader) for row in survey_numbers(opened(rows), ["kobbq-survey"], "")}
    assert found == set()  # without votes a question is of no survey
    store = opened(rows)
    store.execute("UPDATE questions SET weights = [1.0, 2.0, 3.0, 4.0]")
    found = {(row.model, row.reader) for row in survey_numbers(store, ["kobbq-survey"], "")}
    assert found == {("m", "ours"), ("n", "publisher")}


def test_the_correlation_is_spearmans_where_stereotypes_have_as_many_groups() -> None:
    drawn = np.random.default_rng(1).normal(size=(30, 2, 2)) + np.random.default_rng(2).normal(size=(30, 2, 1))
    found = rank_correlation(list(drawn))
    assert found.estimate == pytest.approx(stats.spearmanr(*drawn.reshape(-1, 2).T).statistic)
    assert found.low < found.estimate < found.high  # type: ignore[operator]
    twice = [np.repeat(one, 2, axis=0) for one in drawn[:15]] + list(drawn[15:])
    assert rank_correlation(twice).estimate == pytest.approx(found.estimate, abs=0.02)  # groups add no weight
    assert rank_correlation(list(drawn[:5])).lacking == FEW
    assert rank_correlation([np.array([[0.1, 0.0], [0.9, 0.0]])] * 12).lacking == CONSTANT
    assert rank_correlation([]).estimate is None
    assert mean(np.zeros(0), 0.0).estimate is None


def world(random: np.random.Generator, stereotypes: int) -> list[np.ndarray[Any, Any]]:
    """Stereotypes with 2 to 37 groups; a model's shares, of nine votes, follow the people's halfway."""
    found = []
    for groups in random.choice([2, 2, 2, 5, 7, 37], stereotypes):
        people, own = random.dirichlet(np.full(groups + 1, 0.5), 2)[:, :groups]
        found.append(np.stack([people, np.round((people + own) / 2 * 9) / 9], axis=1))
    return found


def test_intervals_of_the_correlation_cover_it() -> None:
    random = np.random.default_rng(5)
    assert rank_correlation(world(random, 9)).lacking == FEW
    truth = float(np.mean([spearman(world(random, 2000)) for _ in range(3)]))
    found = [rank_correlation(world(random, 20)) for _ in range(200)]
    held = [one.low <= truth <= one.high for one in found if one.low is not None and one.high is not None]
    assert len(held) == 200
    assert 0.89 <= np.mean(held) <= 0.99  # four standard errors around 95 %


def several(unit: str, label: str, answers: Sequence[Sequence[int]]) -> Iterator[Said]:
    """Answers to a stereotype that ask for all groups that fit; three groups, and that there is none."""
    facets = {"category": "c", "form": "several", "label": label}
    for sample, named in enumerate(answers):
        yield Said(named[0], unit, facets, "", GROUPS, (), (0, 1, 2, 3), dataset="kobbq-survey-several",
                   numbers=("survey",), sample=sample)  # fmt: skip


def test_groups_are_held_against_those_with_twice_an_equal_share_of_the_votes() -> None:
    """KoBBQ, 3.2.5 and 5.2. F1 by hand: group 0 is held once and named twice, group 1 held once and named half."""
    said = {
        "s1": ("TM", [100.0, 10.0, 20.0, 0.0], [(0,), (0,)]),  # 130 / 4 * 2: group 0 alone
        "s2": ("NC", [10.0, 90.0, 10.0, 10.0], [(1,), (0,)]),
        "s3": ("TM", [40.0, 40.0, 40.0, 40.0], [(0,), (1,)]),  # nobody is held: left out
    }
    store = opened([one for unit, (label, _, answers) in said.items() for one in several(unit, label, answers)])
    for unit, (_, votes, _) in said.items():
        store.execute("UPDATE questions SET weights = $votes WHERE unit = $unit", {"votes": votes, "unit": unit})
    rows = survey_numbers(store, ["kobbq-survey-several"], "")
    found = {(row.metric, row.facets.get("label", "")): row for row in rows if row.metric in ("exact_match", "f1")}
    assert {key: row.estimate for key, row in found.items() if key[0] == "exact_match"} == {
        ("exact_match", ""): 0.75, ("exact_match", "TM"): 1.0, ("exact_match", "NC"): 0.5,
    }  # fmt: skip
    first, second = 2 * 1 / (1.5 + 1), 2 * 0.5 / (0.5 + 1)
    assert found["f1", ""].estimate == pytest.approx((first + second) / 2)
    assert found["f1", "NC"].estimate == pytest.approx(second)
    assert (found["f1", ""].units, found["f1", ""].no_interval) == (2, FEW)
    assert found["exact_match", ""].dataset == "kobbq-survey-several"
