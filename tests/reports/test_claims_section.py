"""The section on claims: what it says of each, from the rows of its table."""

from __future__ import annotations

from typing import Any

import pandas as pd

from polyculture.cache.catalog import read_catalog
from polyculture.reports.claims import COLUMNS, ClaimLine, claims
from polyculture.reports.names import Names

MODELS = ("vllm:Qwen/Qwen2.5-7B-Instruct", "llamacpp:smollm2")
NAMES = Names(read_catalog(), MODELS)


def line(**row: Any) -> ClaimLine:
    common = {"says": "Said.", "result": "holds", "metric": "granularity", "expect": "same", "bound": 0.05}
    common |= {
        "difference": 0.012,
        "low": -0.01,
        "high": 0.034,
        "p_holm": 0.0004,
        "units": 1234,
        "unit": "topic x country",
        "why": "",
    }
    common |= {"dimension": "country", "a": "JP", "b": "the rest", "comparisons": 19, "tested": 18}
    frame = pd.DataFrame([common | row], columns=list(COLUMNS))
    [found] = claims(frame, NAMES).lines
    return found


def test_a_line_names_the_comparison_the_bound_and_what_it_rests_on() -> None:
    found = line()
    assert (found.metric, found.expected, found.turns_on) == (
        "Granularity",
        "same within ±0.05",
        "Japan minus the rest",
    )
    assert (found.effect, found.interval, found.p) == ("+0.01", "−0.01 to +0.03", "< 0.001")
    assert (found.units, found.tested, found.why) == ("1,234 topic x country", "18 of 19", "")


def test_sides_have_the_names_of_their_kind_and_others_their_own() -> None:
    assert line(dimension="model", a=MODELS[0]).turns_on == "Qwen2.5-7B-Instruct minus the rest"
    assert line(dimension="language", a="ja", b="en").turns_on == "Japanese minus English"
    assert line(dimension="native", a="native language", b="others").turns_on == "native language minus others"
    assert line(expect="different").expected == "different by more than 0.05"
    assert line(expect="higher", bound=0.0).expected == "higher"
    assert line(expect="lower", bound=2.0, metric="diversity").expected == "lower by 2.0"


def test_an_open_claim_has_its_reason_and_no_numbers_that_it_lacks() -> None:
    missing = dict.fromkeys(("difference", "low", "high", "p_holm", "units", "a", "b", "dimension"))
    found = line(**missing, result="undecided", comparisons=0, tested=0, why="the run has only one country")
    assert (found.result, found.why) == ("undecided", "the run has only one country")
    assert (found.effect, found.interval, found.p, found.units, found.tested, found.turns_on) == (
        None, None, "", "", "", "",
    )  # fmt: skip
