"""Where fewer than half of the answers are read there is no number, in any place that would show one."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.cache.store.layout import compose
from polyculture.cache.store.store import open_store
from polyculture.instruments.questions.layout import LAYOUT
from polyculture.instruments.questions.numbers.withheld import FEW_READ
from polyculture.metrics import METRICS_LAYOUT
from tests.instruments.questions.answered import REFUSAL, UNREAD, Said, designed, numbers, of, right_role, stored


def mostly(lost: int | str, every: int, context: str = "") -> list[Said]:
    """Right answers of which all but each `every`-th in a context (all of them without one) are lost."""
    said = list(designed(lambda kind, _: right_role(kind), templates=10))
    return [
        one if place % every == 0 or (context and one.facets["context"] != context) else of([one], said=lost)[0]
        for place, one in enumerate(said)
    ]


def told(said: list[Said]) -> dict[str, tuple[float | None, str | None]]:
    return {
        row.metric: (row.estimate, row.no_estimate) for row in numbers(said) if (row.wording, row.topic) == ("*", "*")
        and not row.facets
    }  # fmt: skip


def test_a_share_of_answers_that_are_hardly_read_is_withheld_and_the_share_that_is_not_read_is_told() -> None:
    found = told(mostly(UNREAD, 3))
    for metric in ("acc_a", "acc_d", "diff_bias_a", "diff_bias_d", "s_amb", "s_dis", "max_bias_a"):
        assert found[metric] == (None, FEW_READ), metric
    assert found["out_of_choice_ratio"] == (pytest.approx(2 / 3, abs=0.01), None)


def test_a_model_none_of_whose_answers_is_read_has_a_row_with_the_reason_for_each_number() -> None:
    found = told(of(designed(lambda kind, _: right_role(kind), templates=4), said=UNREAD))
    for metric in ("acc_a", "acc_d", "diff_bias_a", "diff_bias_d", "s_amb", "s_dis", "max_bias_a"):
        assert found[metric] == (None, FEW_READ), metric
    assert "flip_rate" not in found
    assert found["out_of_choice_ratio"] == (1.0, None)


def test_half_of_the_answers_are_enough_and_a_refusal_is_read() -> None:
    for said in (mostly(UNREAD, 2), mostly(REFUSAL, 10)):
        assert told(said)["acc_a"] == (1.0, None)


def test_only_numbers_of_the_contexts_that_are_hardly_read_are_withheld() -> None:
    found = told(mostly(UNREAD, 4, "ambiguous"))
    assert found["acc_a"] == (None, FEW_READ)
    assert found["acc_d"] == (1.0, None)
    side = told(mostly(UNREAD, 4, "biased"))
    assert side["acc_a"] == (1.0, None)
    assert side["diff_bias_d"] == (None, FEW_READ)


def test_no_place_shows_a_number_that_is_withheld(tmp_path: Path) -> None:
    read = list(designed(lambda context, unit: right_role(context) if unit < "t5" else "biased", templates=10))
    lost = of(mostly(UNREAD, 5), model="lost")
    run = stored([*read, *of(read, model="other"), *lost], tmp_path / "run")
    with open_store(run, compose(METRICS_LAYOUT, LAYOUT)) as store:
        board = store.sql(
            "SELECT model, estimate, rank_low, reason FROM leaderboard WHERE metric = 'acc_a' ORDER BY model"
        ).fetchall()
        assert [(row[0], row[1] is None, row[2] is None) for row in board] == [
            ("lost", True, True), ("m", False, False), ("other", False, False),
        ]  # fmt: skip
        assert FEW_READ in board[0][3]
        rows = store.sql(
            "SELECT difference, a_estimate, b_estimate, p, reason FROM differences WHERE dimension = 'model' "
            "AND metric = 'acc_a' AND target = 'new_prompts' AND 'lost' IN (a, b)"
        ).fetchall()
        assert set(rows) == {(None, None, None, None, FEW_READ)}
