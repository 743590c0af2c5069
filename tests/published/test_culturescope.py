"""CultureScope (Yu et al. 2025): shares, questions, intervals over cultures, stars, and numbers printed twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from scipy.stats import t

from tests.published.identities import Identity, at, linear, mean, same, slips, total


def identities_of_the_paper() -> Iterator[Identity]:
    one, four, five = at("culturescope", "1"), at("culturescope", "4"), at("culturescope", "5")
    for row in dict.fromkeys(row for row, _ in one):
        for part in ("BLEnD-Resource", "BLEnD-Region"):
            names = ("% Biased", "% Others", "Refusal")
            shares = [(-2 if name == "% Others" else -1, one[row, f"{part} {name}"]) for name in names]
            yield linear("1 less the other answers", one[row, f"{part} Acc"], shares, 1)
    for part in ("BLEnD-Resource", "BLEnD-Region"):
        addends = [cell for key, cell in four.items() if key[1] == part and key[0] != "Sum"]
        yield total(four["Sum", part], addends)
    for (row, column), cell in five.items():
        part, _, option = row.partition(": ")
        cultures, times = {"High": (7, 1), "Mid": (3, 1), "Low": (4, 1), "Others": (14, 2)}.get(option, (14, 1))
        if column == "Mean ± s.d.":
            # Every question has one option of each kind, and two of other regions.
            yield linear("questions by cultures", cell, [(Fraction(times, cultures), four["Sum", part])])
            low, high = five[row, "95% CI low"], five[row, "95% CI high"]
            yield mean(cell, [low, high], "middle of its interval")
            assert cell.spread is not None
            width = Fraction(float(t.ppf(0.975, cultures - 1)) / cultures**0.5)
            ends = linear(
                "t over cultures", replace(cell, value=cell.spread), [(Fraction(1, 2), high), (Fraction(-1, 2), low)]
            )
            yield replace(ends, expected=ends.expected / width, tolerance=ends.tolerance / width)
    eight = at("culturescope", "8")
    for (row, column), cell in at("culturescope", "2").items():
        if row in ("English", "Irrelevant"):
            yield same(cell, eight[f"{column} {row}", "BLEnD"])


def test_numbers_agree_but_for_the_papers_own_slips() -> None:
    assert slips(identities_of_the_paper()) == {
        "5: BLEnD-Resource: Mid, Mean ± s.d.: t over cultures",
        "5: BLEnD-Resource: Low, Mean ± s.d.: t over cultures",
    }


def test_stars_stand_where_the_p_of_hypothesis_2_are_below_a_twentieth() -> None:
    tested = at("culturescope", "7")
    biased = {key: cell for key, cell in at("culturescope", "1").items() if key[1].endswith("% Biased")}
    assert len(biased) == 18
    for (row, column), cell in biased.items():
        model, _, level = row.partition(" ")
        p = tested[model, f"{column.removesuffix('% Biased')}H2 {level}"]
        assert ("(**)" in cell.note) == (p.value < Decimal("0.05")), row
