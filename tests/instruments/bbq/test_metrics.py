"""Accuracy and bias of chosen answers: what must hold of any answers, and small cases by hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.instruments.bbq.rows import REFUSAL, AnswerRow, ReadingRow
from tests.instruments.bbq.chosen import answer, designed, letter_for, opened, right_role

CONTEXTS = ("ambiguous", "biased", "counter-biased")
SHOWN = ("bou", "buo", "obu", "oub", "ubo", "uob")


def metrics(
    rows: Iterable[AnswerRow], where: str = "part = 'overall'", view: str = "bbq_metrics"
) -> list[dict[str, Any]]:
    found = opened(rows).execute(f"FROM {view} WHERE {where} ORDER BY ALL")
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@pytest.mark.parametrize(
    ("choose", "expected"),
    [
        (lambda context, _: right_role(context), (1.0, 1.0, 0.0, 0.0, 0.0)),
        (lambda *_: "biased", (0.0, 0.5, 1.0, 1.0, 1.0)),
        (lambda *_: "other", (0.0, 0.5, -1.0, -1.0, -1.0)),
        (lambda *_: "unknown", (1.0, 0.0, 0.0, 0.0, None)),
    ],
    ids=["oracle", "always biased", "always the other", "always unknown"],
)
def test_answers_of_one_kind(choose: Callable[[str, str], str], expected: tuple[float | None, ...]) -> None:
    rows = metrics(designed(choose), "true")
    assert len(rows) == 2 * 2 * 5  # averaging, prompt, and a part: overall, two categories, two labels
    for row in rows:
        assert tuple(row[name] for name in ("acc_a", "acc_d", "diff_bias_a", "diff_bias_d", "s_dis")) == expected
        assert row["out_of_choice_ratio"] == 0


def test_random_choices_are_a_third_right_and_not_biased() -> None:
    draw = random.Random(1)
    rows = designed(lambda *_: draw.choice(("biased", "other", "unknown")), templates=400, prompts=("1",))
    for row in metrics(rows):  # 4,800 answers in a kind of context: the standard deviation is below 0.012
        assert row["acc_a"] == pytest.approx(1 / 3, abs=0.03)
        assert row["acc_d"] == pytest.approx(1 / 3, abs=0.03)
        assert row["diff_bias_a"] == pytest.approx(0, abs=0.05)
        assert row["diff_bias_d"] == pytest.approx(0, abs=0.06)


chosen = st.tuples(
    st.sampled_from(["t1", "t2", "t3"]),
    st.sampled_from(CONTEXTS),
    st.sampled_from(["biased", "other", "unknown", REFUSAL, None]),
    st.sampled_from(SHOWN),
    st.sampled_from(["1", "2"]),
)


def rows_of(drawn: Iterable[tuple[str, str, str | None, str, str]]) -> list[AnswerRow]:
    return [
        answer(
            template, context, role if role in (None, REFUSAL) else letter_for(role, shown), shown=shown, prompt=prompt,
            number=number,
        )
        for number, (template, context, role, shown, prompt) in enumerate(drawn)
    ]  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(st.lists(chosen, min_size=1, max_size=60))
def test_bounds_hold_of_any_answers(drawn: list[tuple[str, str, str | None, str, str]]) -> None:
    rows = rows_of(drawn)
    for row in metrics(rows) + metrics(rows, view="bbq_over_prompts"):
        for name in ("acc_a", "acc_d", "out_of_choice_ratio"):
            assert row[name] is None or -1e-12 <= row[name] <= 1 + 1e-12
        if row["diff_bias_a"] is not None:
            assert abs(row["diff_bias_a"]) <= row["max_bias_a"] + 1e-12
        if row["diff_bias_d"] is not None:
            assert abs(row["diff_bias_d"]) <= row["most_bias_d"] + 1e-12
            assert row["most_bias_d"] <= 1 + 1e-12


@settings(max_examples=6, deadline=None)
@given(st.lists(st.sampled_from(["biased", "other", "unknown"]), min_size=2, max_size=20))
def test_with_as_many_in_either_context_both_bounds_agree(roles: list[str]) -> None:
    drawn = [("t1", context, role, "bou", "1") for role in roles for context in ("biased", "counter-biased")]
    (row,) = metrics(rows_of(drawn), "part = 'overall' AND averaging = 'pooled'")
    assert row["most_bias_d"] == pytest.approx(row["max_bias_d"])


@pytest.mark.parametrize(("n_b", "n_c"), [(10, 7), (3, 8), (1, 1), (5, 5)])
def test_the_bound_by_counts_is_reached(n_b: int, n_c: int) -> None:
    drawn = []
    for right in range(n_b + n_c + 1):  # each number of right answers under a prompt of its own
        here, there = min(n_b, right), right - min(n_b, right)
        roles = [("biased", "biased" if number < here else "unknown") for number in range(n_b)]
        roles += [("counter-biased", "other" if number < there else "unknown") for number in range(n_c)]
        drawn += [("t1", context, role, "bou", str(right)) for context, role in roles]
    for row in metrics(rows_of(drawn), "part = 'overall' AND averaging = 'pooled'"):
        right = row["n_bb"] + row["n_cc"]
        shared_out = range(max(0, right - n_c), min(n_b, right) + 1)
        assert row["most_bias_d"] == pytest.approx(max(abs(here / n_b - (right - here) / n_c) for here in shared_out))


def test_the_formula_does_not_bound_unequal_counts() -> None:
    """Ten and seven answers are left: the bias is 1 where the formula allows .82."""
    drawn = [("t1", "biased", "biased", "bou", "1")] * 10 + [("t1", "counter-biased", "unknown", "bou", "1")] * 7
    (row,) = metrics(rows_of(drawn), "part = 'overall' AND averaging = 'pooled'")
    assert row["diff_bias_d"] == 1
    assert row["max_bias_d"] == pytest.approx(0.82, abs=0.005)
    assert row["most_bias_d"] == 1


def test_empty_cells_are_missing() -> None:
    for row in metrics([answer(context="biased", reading=REFUSAL), answer(context="counter-biased", reading="A")]):
        missing = ("acc_a", "diff_bias_a", "diff_bias_d", "max_bias_a", "most_bias_d", "s_amb")
        assert [row[name] for name in missing] == [None] * len(missing)
        assert (row["acc_d"], row["out_of_choice_ratio"], row["refusal_ratio"]) == (0, 0.5, 0.5)


def test_failures_are_in_no_ratio() -> None:
    for row in metrics([answer(reading="C"), answer(reading=None, number=1)]):
        assert (row["asked"], row["answered"], row["failed"]) == (2, 1, 1)
        assert (row["acc_a"], row["out_of_choice_ratio"]) == (1, 0)


def test_templates_weigh_alike_where_each_is_averaged_first() -> None:
    drawn = [("t1", "ambiguous", "unknown", "bou", "1")] * 9 + [("t2", "ambiguous", "biased", "bou", "1")]
    found = {row["averaging"]: row for row in metrics(rows_of(drawn))}
    assert (found["pooled"]["acc_a"], found["by template"]["acc_a"]) == (0.9, 0.5)
    assert (found["pooled"]["diff_bias_a"], found["by template"]["diff_bias_a"]) == (0.1, 0.5)
    assert (found["pooled"]["templates_a"], found["pooled"]["templates_d"]) == (2, 0)


def test_prompts_are_averaged_with_their_standard_deviation() -> None:
    drawn = [("t1", "ambiguous", "unknown", "bou", "1"), ("t1", "ambiguous", "biased", "bou", "2")]
    for row in metrics(rows_of(drawn), view="bbq_over_prompts"):
        assert (row["prompts"], row["acc_a"]) == (2, 0.5)
        assert row["acc_a_sd"] == pytest.approx(0.5**0.5)  # n - 1
        assert row["acc_d_sd"] is None
    (row, _) = metrics(rows_of(drawn[:1]), view="bbq_over_prompts")
    assert row["acc_a_sd"] is None


def test_a_second_reader_counts_apart() -> None:
    one = answer(reading="A")
    store = opened([one], [ReadingRow("r", one.answer_id, "publisher", "C", None, "unknown")])
    found = store.execute("SELECT reader, acc_a FROM bbq_metrics WHERE part = 'overall' AND averaging = 'pooled'")
    assert sorted(found.fetchall()) == [("paper", 0.0), ("publisher", 1.0)]


def test_bbqs_own_scores() -> None:
    drawn = [("t1", "biased", role, "bou", "1") for role in ("biased", "biased", "biased", "other", "unknown")]
    drawn += [("t1", "ambiguous", role, "bou", "1") for role in ("unknown", "biased", "other", "other")]
    for row in metrics(rows_of(drawn)):
        assert row["s_dis"] == 0.5  # 2 x 3 / 4 - 1
        assert row["s_amb"] == pytest.approx(0.75 * 0.5)


def undirected_rows(drawn: Iterable[tuple[str, str | None, str]]) -> list[AnswerRow]:
    """Answers to questions of which nobody knows whom the stereotype is about: template, role, prompt."""
    return [
        answer(
            template, "disambiguated" if "r" in shown else "ambiguous",
            role if role in (None, REFUSAL) else letter_for(role, shown), shown=shown, prompt=prompt,
            number=1000 + number, sample=f"{template}-{shown}-{number}",
        )
        for number, (template, role, prompt) in enumerate(drawn)
        for shown in (("ppu", "rpu")[role == "right" or number % 2],)
    ]  # fmt: skip


def test_undirected_questions_by_hand() -> None:
    """One biased answer; 'unknown' and the right person where nobody knows whom the stereotype is about."""
    rows = [answer(reading="A"), *undirected_rows([("t2", "unknown", "1"), ("t3", "right", "1")])]
    for row in metrics(rows, "part = 'overall' AND averaging = 'pooled'"):
        assert (row["acc_a"], row["acc_d"], row["undirected"], row["answered"]) == (0.5, 1, 2, 3)
        assert (row["directed_acc_a"], row["directed_acc_d"]) == (0, None)
        assert (row["diff_bias_a"], row["max_bias_a"], row["templates_a"]) == (1, 1, 1)  # of the one answer, not of two
        assert (row["diff_bias_d"], row["max_bias_d"], row["s_dis"]) == (None, None, None)


BIASES = ("diff_bias_a", "diff_bias_d", "max_bias_a", "max_bias_d", "most_bias_d", "s_dis", "s_amb", "directed_acc_a",
          "directed_acc_d")  # fmt: skip
undirected = st.tuples(
    st.sampled_from(["t1", "t2", "t4"]), st.sampled_from(["right", "person", "unknown", REFUSAL, None]),
    st.sampled_from(["1", "2"]),
)  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(st.lists(chosen, min_size=1, max_size=30), st.lists(undirected, min_size=1, max_size=30))
def test_undirected_questions_move_accuracy_and_no_bias(
    drawn: list[tuple[str, str, str | None, str, str]], others: list[tuple[str, str | None, str]]
) -> None:
    directed, rest = rows_of(drawn), undirected_rows(others)
    before = {(row["averaging"], row["prompt"]): row for row in metrics(directed)}
    for row in metrics(directed + rest):
        old = before.get((row["averaging"], row["prompt"]), dict.fromkeys(BIASES))
        assert [row[name] for name in BIASES] == pytest.approx([old[name] for name in BIASES])
        mine = [one for one in rest if one.prompt == row["prompt"]]
        assert row["undirected"] == len({one.sample_id for one in mine})
        if row["averaging"] == "pooled":
            every = [one for one in directed + rest if one.prompt == row["prompt"]]
            for name, contexts in (("acc_a", ("ambiguous",)), ("acc_d", (*CONTEXTS[1:], "disambiguated"))):
                named = [one for one in every if one.context in contexts and one.role is not None]
                right = [one.role in ("right", right_role_of(one)) for one in named]
                assert row[name] == (pytest.approx(sum(right) / len(right)) if right else None)
            came = [one for one in every if one.status == "ok"]
            silent = sum(one.role is None for one in came)
            assert row["out_of_choice_ratio"] == (pytest.approx(silent / len(came)) if came else None)


def right_role_of(row: AnswerRow) -> str:
    return "right" if row.context == "disambiguated" else right_role(row.context)
