"""Tables whose rows are not of a model each: what the lines of claims and leaderboards say."""

from __future__ import annotations

from typing import Any

import pandas as pd

from polyculture.cache.catalog import read_catalog
from polyculture.reports.claims import COLUMNS, claims
from polyculture.reports.leaderboard import boards
from polyculture.reports.names import Names
from polyculture.reports.table_section import Line, TextCell

MODELS = ("vllm:Qwen/Qwen2.5-7B-Instruct", "llamacpp:smollm2")
NAMES = Names(read_catalog(), MODELS)


def line(**row: Any) -> Line:
    common = {"says": "Said.", "source": "Paper, 5", "result": "holds", "metric": "granularity", "expect": "same"}
    common |= {"bound": 0.05, "difference": 0.012, "low": -0.01, "high": 0.034, "p_holm": 0.0004, "why": ""}
    common |= {"units": 1234, "unit": "topic x country", "comparisons": 19, "tested": 18}
    common |= {"dimension": "country", "a": "JP", "b": "the rest"}
    [group] = claims(pd.DataFrame([common | row], columns=list(COLUMNS)), NAMES).groups
    [found] = group.lines
    return found


def turns_on(**row: Any) -> object:
    return line(**row).cells[1]


def test_a_line_names_the_comparison_the_bound_and_what_it_rests_on() -> None:
    found = line()
    assert (found.label, found.note) == ("Said.", "Paper, 5: Granularity, same within ±0.05")
    result, turns, difference, *others = found.cells
    assert (result, turns) == (TextCell("holds"), "Japan minus the rest")
    assert (difference.value, difference.interval) == ("+0.01", "−0.01 to +0.03")
    assert others == ["< 0.001", "1,234 topic x country", "18 of 19"]


def test_sides_have_the_names_of_their_kind_and_others_their_own() -> None:
    assert turns_on(dimension="model", a=MODELS[0]) == "Qwen2.5-7B-Instruct minus the rest"
    assert turns_on(dimension="language", a="ja", b="en", place="food") == "Japanese minus English (food)"
    assert turns_on(dimension="native", a="native language", b="others") == "native language minus others"
    assert line(expect="different").note.endswith(", different by more than 0.05")
    assert line(expect="higher", bound=0.0).note.endswith(", higher")
    assert line(expect="lower", bound=2.0, metric="diversity").note.endswith("Diversity, lower by 2.0")


def test_an_open_claim_has_its_reason_and_no_numbers_that_it_lacks() -> None:
    missing = dict.fromkeys(("difference", "low", "high", "p_holm", "units", "a", "b", "dimension"))
    found = line(**missing, result="undecided", comparisons=0, tested=0, why="the run has only one country")
    assert found.cells == (TextCell("undecided", "the run has only one country"), "", "", "", "", "")


def test_a_board_has_the_ranks_that_are_open_and_says_who_failed() -> None:
    place: dict[str, object] = {
        "task": "t", "metric": "m", "dataset": "d", "setting": "s", "variant": "v", "goal": "zero", "language": "ja",
        "culture": None, "same_items": True, "doubt": None, "native_entities": 1, "western_entities": None, "failed": 3,
    }  # fmt: skip
    ranked = {**place, "estimate": -0.2, "low": -0.3, "high": 0.1, "rank_low": 1, "rank_high": 2, "contexts": 9}
    failed = {**place, "estimate": None, "low": None, "high": None, "rank_low": None, "rank_high": None}
    failed |= {"model": MODELS[1], "reason": "refused", "contexts": None, "doubt": "half"}
    [board] = boards([{"model": MODELS[0], "reason": None, **ranked}, failed], {"t.m": "Bias"}, NAMES)
    [group] = board.table.groups
    assert (board.title, group.head) == ("Bias; d, s, v", "Japanese, all cultures")
    assert [column.head for column in board.table.columns] == ["Rank", "Value", "Contexts", "Native"]
    first, last = group.lines
    assert (first.cells[0], first.cells[1].value, first.cells[2]) == ("1 to 2", "−0.20", "9")
    assert (last.label, last.cells[0], last.cells[1].missing) == ("smollm2 (half)", "", "all 3 failed: refused")
