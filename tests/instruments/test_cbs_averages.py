"""Averages of the Cultural Bias Score by name, genders as columns, and their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from polyculture.instruments.cbs.averages import (
    Average,
    TypeScores,
    averaged,
    averaged_draws,
    of_type,
    tally,
)
from polyculture.instruments.cbs.bias_rows import ScoreGroup, score_number
from polyculture.instruments.cbs.camel_draws import CamelDraws, lacking_columns
from polyculture.instruments.cbs.protocol import ScoreProtocol, columns_of, protocol_score
from polyculture.instruments.cbs.score_matrix import ContextCondition, Genders, ScoreMatrix
from polyculture.metrics.inference.arrays import Floats
from tests.instruments.bias_worlds import bias

SIZES = {"female": (5, 4), "male": (3, 7), "both": (1, 1)}  # native and Western names


def names(random: np.random.Generator, contexts: Sequence[str], ties: int = 1) -> ScoreMatrix:
    """Names of both genders in contexts of a gender, or of none; an entity stands only where it fits."""
    sides, genders = [], []
    for side in (0, 1):
        of_side = np.array([gender for gender, sizes in SIZES.items() for _ in range(sizes[side])])
        values = random.normal(side * 0.4, 1, (len(contexts), len(of_side))).round(ties)
        for row, gender in enumerate(contexts):
            if gender:
                values[row, ~np.isin(of_side, (gender, "both"))] = np.nan
        sides.append(values)
        genders.append(of_side)
    ids = [tuple(f"{side}{n}" for n in range(len(of_side))) for side, of_side in zip("nw", genders, strict=True)]
    places = tuple(f"c{n}" for n in range(len(contexts)))
    return ScoreMatrix(
        sides[0], sides[1], places, (), ids[0], ids[1], genders=Genders(np.array(contexts), genders[0], genders[1])
    )


def food(random: np.random.Generator) -> ScoreMatrix:
    ids = [tuple(f"{side}{n}" for n in range(6)) for side in "xy"]
    places = tuple(f"f{n}" for n in range(4))
    return ScoreMatrix(random.normal(size=(4, 6)), random.normal(0.2, 1, (4, 6)), places, (), ids[0], ids[1])


def share(native: Floats, western: Floats) -> list[bool]:
    return [b > a for a in native for b in western if not (np.isnan(a) or np.isnan(b))]


def tallies(*matrices: ScoreMatrix) -> list[TypeScores]:
    """A type each."""
    return [found for number, matrix in enumerate(matrices) if (found := tally(matrix, str(number))) is not None]


def brute(matrix: ScoreMatrix, gender: str | None = None) -> list[list[bool]]:
    """The pairs of each context, of all entities or of those of one gender."""
    of = matrix.genders
    rows = []
    for row, (native, western) in enumerate(zip(matrix.native, matrix.western, strict=True)):
        if gender is None or of is None:
            rows.append(share(native, western))
        elif of.contexts[row] in ("", gender):
            rows.append(
                share(native[np.isin(of.native, (gender, "both"))], western[np.isin(of.western, (gender, "both"))])
            )
    return rows


def mean(rows: Sequence[Sequence[bool]]) -> float:
    return float(np.mean([np.mean(row) for row in rows]))


@pytest.mark.parametrize("contexts", [["female"] * 4 + ["male"] * 3, [""] * 6, ["", "female", "male", "male", ""]])
def test_every_average_is_that_of_brute_force(contexts: list[str]) -> None:
    random = np.random.default_rng(5)
    one, other = names(random, contexts), food(random)
    found = tallies(one, other)
    assert set(found[0].genders) == {"female", "male"}
    assert not found[1].genders
    whole, female, male, foods = brute(one), brute(one, "female"), brute(one, "male"), brute(other)
    expected: dict[Average, float] = {
        "contexts": mean([*whole, *foods]),
        "types": np.mean([mean(whole), mean(foods)]).item(),
        "columns": np.mean([mean(female), mean(male), mean(foods)]).item(),
    }
    for average, value in expected.items():
        assert averaged(found, average).value == pytest.approx(value), average
    every = CamelDraws(draws=2, entities=99, seed=1)  # all there are: each draw is the average itself
    for average, value in expected.items():
        draws = averaged_draws(found, average, every)
        assert draws.runs == pytest.approx((value, value)), average


def test_a_type_of_one_column_is_that_under_every_average() -> None:
    """With one column, they are the score that they come from."""
    matrix = food(np.random.default_rng(4))
    expected = bias(matrix)
    assert expected is not None
    averages: tuple[Average, ...] = ("contexts", "types", "columns")
    for average in averages:
        other, _ = of_type(tallies(matrix), average)
        numbers = (other.value, other.variance, other.freedom, other.contexts, other.entities)
        assert numbers == pytest.approx((expected.value, expected.variance, expected.freedom, 4, 6))


def test_a_row_of_four_languages_counts_once_over_contexts() -> None:
    """Two rows in two languages and one that only the first has: the papers' averages are of languages."""
    random = np.random.default_rng(5)
    first, second = food(random), food(random)
    first = replace(
        first, native=first.native[:3], western=first.western[:3], contexts=(), context_units=("a", "b", "c")
    )
    second = replace(
        second, native=second.native[:2], western=second.western[:2], contexts=(), context_units=("a", "b")
    )
    scores = [[np.mean(row) for row in brute(matrix)] for matrix in (first, second)]
    found = [one for matrix in (first, second) if (one := tally(matrix, "food"))]
    rows = [(scores[0][0] + scores[1][0]) / 2, (scores[0][1] + scores[1][1]) / 2, scores[0][2]]
    assert averaged(found, "contexts").value == pytest.approx(np.mean(rows))
    assert averaged(found, "types").value == pytest.approx(np.mean([np.mean(one) for one in scores]))
    unit, condition = ScoreGroup("m", "d", "", "", "food", "causal"), ContextCondition("neutral", "", "")
    row = score_number("sum", unit, condition, found, "")
    assert (row.units, row.sizes["native_entities"], row.n) == (3, 6, 5 * 36)


def covered(average: Average, worlds: int) -> float:
    """How often the interval over two genders in the same contexts, and a type, holds the truth of that average."""
    random = np.random.default_rng(11)
    contexts, sizes = 8, (24, 30)
    hits = 0
    for _ in range(worlds):
        level = random.normal(0, 0.7, (contexts, 1))  # that the genders share
        sides = [random.normal(0, 1, size) + random.normal(0, 1, (contexts, size)) for size in sizes]
        genders = [np.array(["female", "male"] * (size // 2)) for size in sizes]
        ids = [tuple(f"{side}{n}" for n in range(size)) for side, size in zip("nw", sizes, strict=True)]
        places = tuple(f"c{n}" for n in range(contexts))
        known = Genders(np.array([""] * contexts), genders[0], genders[1])
        matrix = ScoreMatrix(sides[0], sides[1] + level, places, (), ids[0], ids[1], genders=known)
        found = averaged(tallies(matrix), average)
        hits += found.low <= 0.5 <= found.high
    return hits / worlds


def test_intervals_over_columns_that_share_contexts_cover_the_truth() -> None:
    """200 worlds: a true coverage of 95 % stays above 90 % with a probability of 99.9 %.

    Taken for independent, the two genders would have an interval that is too narrow, since contexts move both.
    """
    assert covered("columns", 200) >= 0.9


def test_a_context_of_two_columns_counts_once() -> None:
    """A mean over columns rests on five contexts of names and four of food, of which the former are compared twice."""
    found = tallies(names(np.random.default_rng(7), [""] * 5), food(np.random.default_rng(8)))
    for average in ("columns", "contexts"):
        score = protocol_score(found, ScoreProtocol(average=average), 1)  # type: ignore[arg-type]
        assert score.contexts == 9
    assert list(columns_of(found, ScoreProtocol(average="columns"))) == ["0, female", "0, male", "1"]


@pytest.mark.parametrize(
    ("contexts", "dropped", "told"),
    [
        (["", "male"], (), {}),
        (["", "male"], ("western",), {"female": "no Western entity of that gender"}),
        (["", "male"], ("native", "western"), {}),
        (["female", "male"], ("native", "western"), {"female": "no entity of that gender"}),
        (["male", "male"], (), {"female": "no context for that gender"}),
    ],
)
def test_a_gender_without_a_column_says_what_it_lacks(
    contexts: list[str], dropped: tuple[str, ...], told: dict[str, str]
) -> None:
    matrix = names(np.random.default_rng(8), contexts)
    assert matrix.genders is not None
    for side in dropped:
        kept = getattr(matrix.genders, side) != "female"
        genders = replace(matrix.genders, **{side: getattr(matrix.genders, side)[kept]})
        ids = tuple(np.array(getattr(matrix, f"{side}_ids"))[kept].tolist())
        matrix = replace(matrix, genders=genders, **{side: getattr(matrix, side)[:, kept], f"{side}_ids": ids})
    assert lacking_columns(matrix) == told
