"""The groups that a model names beside those that people hold a stereotype of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from scipy import stats

from polyculture.instruments.questions.layout import READINGS
from polyculture.instruments.questions.numbers.survey import CONSTANT, FEW, survey_numbers
from polyculture.instruments.questions.numbers.withheld import FEW_READ
from tests.instruments.questions.answered import UNREAD, Said, opened

GROUPS = ("group", "group", "group", "unknown")


def several(unit: str, label: str, answers: Sequence[Sequence[int]]) -> Iterator[Said]:
    """Answers to a stereotype that ask for all groups that fit; three groups, and that there is none."""
    facets = {"category": "c", "label": label}
    for sample, named in enumerate(answers):
        yield Said(named[0], unit, facets, "", GROUPS, (), (0, 1, 2, 3), dataset="kobbq-survey",
                   numbers=("survey",), sample=sample)  # fmt: skip


def vote(store: duckdb.DuckDBPyConnection, votes: Mapping[str, Sequence[float]]) -> None:
    for unit, own in votes.items():
        store.execute("UPDATE questions SET weights = $votes WHERE unit = $unit", {"votes": own, "unit": unit})


def test_groups_are_held_against_those_with_twice_an_equal_share_of_the_votes() -> None:
    """KoBBQ, 3.2.5 and 5.2. F1 by hand: group 0 is held once and named twice, group 1 held once and named half."""
    said = {
        "s1": ("TM", [100.0, 10.0, 20.0, 0.0], [(0,), (0,)]),  # 130 / 4 * 2: group 0 alone
        "s2": ("NC", [10.0, 90.0, 10.0, 10.0], [(1,), (0,)]),
        "s3": ("TM", [40.0, 40.0, 40.0, 40.0], [(0,), (1,)]),  # nobody is held: left out
    }
    store = opened([one for unit, (label, _, answers) in said.items() for one in several(unit, label, answers)])
    vote(store, {unit: votes for unit, (_, votes, _) in said.items()})
    rows = survey_numbers(store, ["kobbq-survey"], "")
    found = {(row.metric, row.facets.get("label", "")): row for row in rows}
    assert {key: row.estimate for key, row in found.items() if key[0] == "exact_match"} == {
        ("exact_match", ""): 0.75, ("exact_match", "TM"): 1.0, ("exact_match", "NC"): 0.5,
    }  # fmt: skip
    first, second = 2 * 1 / (1.5 + 1), 2 * 0.5 / (0.5 + 1)
    assert found["f1", ""].estimate == pytest.approx((first + second) / 2)
    assert found["f1", "NC"].estimate == pytest.approx(second)
    assert (found["f1", ""].units, found["f1", ""].no_interval) == (2, FEW)
    assert found["exact_match", ""].dataset == "kobbq-survey"


def test_the_interval_of_exact_match_is_students_over_stereotypes_and_answers_that_name_nothing_are_none() -> None:
    shares = [place % 3 / 2 for place in range(12)]  # of two answers of a stereotype those that name group 0
    said = [
        replace(one, sample=sample)
        for number, share in enumerate(shares)
        for sample, named in enumerate(([0, 1][share < 0.5], [0, 1][share < 1], UNREAD))
        for one in several(f"s{number}", "TM", [(named,)])  # type: ignore[list-item]
    ]
    store = opened(said)
    vote(store, {f"s{number}": [90.0, 5.0, 5.0, 0.0] for number in range(12)})
    [found] = [row for row in survey_numbers(store, ["kobbq-survey"], "") if row.metric == "exact_match" and row.facets]
    limits = stats.t.interval(0.95, 11, np.mean(shares), stats.sem(shares))
    assert (found.n, found.estimate, found.low, found.high) == (24, pytest.approx(0.5), *map(pytest.approx, limits))
    store.execute(f"UPDATE {READINGS.name} SET picked = 0 WHERE picked IS NOT NULL")
    [found, *_] = survey_numbers(store, ["kobbq-survey"], "")
    assert (found.estimate, found.low, found.no_interval) == (1.0, None, CONSTANT)


@pytest.mark.parametrize(("lost", "shown"), [(0, 1.0), (2, 1.0), (3, None), (4, None)])
def test_where_most_answers_name_no_group_readably_there_is_no_number_and_the_row_says_why(
    lost: int, shown: float | None
) -> None:
    said = [
        replace(one, said=UNREAD if one.sample < lost else 0)
        for unit in ("s1", "s2") for one in several(unit, "TM", [(0,)] * 4)
    ]  # fmt: skip
    store = opened(said)
    vote(store, {unit: [90.0, 5.0, 5.0, 0.0] for unit in ("s1", "s2")})
    found = list(survey_numbers(store, ["kobbq-survey"], ""))
    assert {row.metric for row in found} == {"exact_match", "f1"}
    assert {row.estimate for row in found} == {shown}
    assert {row.no_estimate for row in found} == {FEW_READ if shown is None else None}


def test_readers_and_models_stand_apart_and_without_votes_a_question_is_of_no_survey() -> None:
    rows = [
        *several("s", "TM", [(0,)]),
        *(replace(one, model="n", reader="publisher") for one in several("s", "", [(0,)])),
    ]
    store = opened(rows)
    assert not list(survey_numbers(store, ["kobbq-survey"], ""))
    store.execute("UPDATE questions SET weights = [9.0, 2.0, 3.0, 4.0]")
    found = {(row.model, row.reader) for row in survey_numbers(store, ["kobbq-survey"], "")}
    assert found == {("m", "ours"), ("n", "publisher")}
