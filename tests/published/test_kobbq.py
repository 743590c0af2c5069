"""KoBBQ (Jin et al. 2024): totals, the size of the evaluation, and the largest bias that accuracy allows."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from decimal import Decimal

from polyculture.instruments.questions.rules.opened import SETS
from tests.published.identities import Identity, at, linear, same, slips, total


def identities_of_the_paper() -> Iterator[Identity]:
    one, text = at("kobbq", "1"), at("kobbq", "text")
    for row in dict.fromkeys(row for row, _ in one):
        yield total(one[row, "# of Templates"], [one[row, label] for label in ("TM", "ST", "NC")], "TM + ST + NC")
    for (row, column), cell in one.items():
        if row == "Total":
            yield total(cell, [other for key, other in one.items() if key[1] == column and key[0] != "Total"])
    yield same(text["3.3", "templates"], one["Total", "# of Templates"])
    yield same(text["3.3", "samples"], one["Total", "# of Samples"])
    # Two contexts, their two variants, two questions; five prompts; three permutations of the choices.
    yield linear("templates x 8 x 5 x 3", text["4.1", "evaluation set"], [(8 * 5 * 3, text["3.3", "templates"])])
    for table in (at("kobbq", "3a"), at("kobbq", "3b")):
        for (row, column), cell in table.items():
            if column == "max|bias|":
                accuracy = table[row, "accuracy"]
                high = cell.metric == "max_bias_a" or accuracy.value > Decimal("0.5")
                factor = 1 if cell.metric == "max_bias_a" else 2
                yield linear("by accuracy", cell, [(-factor if high else factor, accuracy)], factor if high else 0)


def test_numbers_agree_but_for_the_papers_own_slips() -> None:
    assert slips(identities_of_the_paper()) == set()


def test_bias_is_within_what_accuracy_allows() -> None:
    for table in ("3a", "3b"):
        cells = at("kobbq", table)
        for row in dict.fromkeys(row for row, _ in cells):
            assert abs(cells[row, "diff-bias"].value) <= cells[row, "max|bias|"].value


def test_the_rules_of_the_set_have_the_size_of_the_evaluation_set() -> None:
    rules = tomllib.loads((SETS / "kobbq.toml").read_text(encoding="utf-8"))
    assert rules["published"]["questions"] * 5 * 3 == at("kobbq", "text")["4.1", "evaluation set"].value
