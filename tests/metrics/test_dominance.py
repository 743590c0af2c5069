"""Dominance: the share of a cell's responses that name its most frequent item, which it is, and its interval."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.metrics.comparison.compare import Sides, compare
from polyculture.metrics.intervals.assemblage import assemblage
from polyculture.metrics.intervals.dominance import HALVES, _halves, _scattered, dominance_estimate, held_out_share
from polyculture.metrics.intervals.estimate import mean
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.metrics.dominance_worlds import WORLDS, DominanceWorld
from tests.store_builder import StoreBuilder

DATA_SETS = 300


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """Japan in Japanese: 9 of 12 responses name sushi, 9 ramen, 1 is ambiguous; in English nothing is linked.

    Neutral prompts: every response names pizza, the first of them three times.
    """
    built = StoreBuilder(tmp_path, n=12)
    prompts = {place: built.ask(*place) for place in (("ja", "food", "JP"), ("en", "food", "JP"), ("ja", "food", None))}
    for number in range(12):
        named = ["sushi"] * (number < 9) + ["ramen"] * (number >= 3) + ["roll"] * (number == 0)
        built.answer(prompts["ja", "food", "JP"], named, sample=number)
        built.answer(prompts["en", "food", "JP"], ["a thing"], sample=number)
        built.answer(prompts["ja", "food", None], ["pizza"] * (3 if number == 0 else 1), sample=number)
    built.answer(built.ask("de", "food", "JP"), ["sushi"], extraction="failed")
    built.link("sushi", "Q46383")
    built.link("ramen", "Q234646")
    built.link("roll", "Q46383", "ambiguous")
    built.link("a thing")
    built.link("pizza", "Q177")
    for qid, label in (("Q46383", "sushi"), ("Q234646", "ramen"), ("Q177", "pizza")):
        built.entity(qid, label)
    return built.write()


def test_the_item_that_most_responses_name(run: RunFolder) -> None:
    measure(run)
    columns = "language, condition, dominance, qid, label, naming, tied, responses"
    with open_store(run, store_layout()) as store:
        rows = store.sql(f"SELECT {columns} FROM dominance ORDER BY language, condition").fetchall()
        top = store.sql("SELECT language, label, in_language, cells_of_item, cells FROM dominant_items").fetchall()
        numbers = "FROM numbers WHERE metric = 'dominance' AND level"
        models = store.sql(f"SELECT estimate, low, high {numbers} = 'model'").fetchall()
        intervals = store.sql(f"{numbers} = 'cell' AND estimate IS NOT NULL").fetchall()
        reasons = store.sql(f"SELECT DISTINCT no_interval {numbers} <> 'cell'").fetchall()
    assert rows == [
        ("de", "explicit", None, None, None, 0, 0, 0),
        ("en", "explicit", 0.0, None, None, 0, 0, 12),
        ("ja", "explicit", 0.75, "Q46383", "sushi", 9, 2, 12),  # of two as frequent, the lower number
        ("ja", "neutral", 1.0, "Q177", "pizza", 12, 1, 12),
    ]
    assert sorted(top, key=str) == [("ja", "pizza", "ja", 1, 2), (None, "pizza", "ja", 1, 2)]
    [(whole, low, high)] = models
    assert whole == pytest.approx((0.75 + 0 + 1) / 3)
    assert low < whole < high
    assert len(intervals) == 3
    assert reasons == [(None,)]


def test_it_is_compared_where_it_is_asked_for(run: RunFolder) -> None:
    with open_store(run, store_layout()) as store:
        [row] = compare(store, Sides("condition", "neutral", "explicit"), metrics=["dominance"])
    assert row.effect
    assert row.effect.difference == pytest.approx(0.25)


def test_a_selection_has_its_own(run: RunFolder) -> None:
    with open_store(run, store_layout(), selection="with_ambiguous") as store:
        [(naming, tied)] = store.sql(
            "SELECT naming, tied FROM dominance WHERE language = 'ja' AND country = 'JP'"
        ).fetchall()
    assert (naming, tied) == (9, 2)  # the first response names sushi anyway


pairs = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 6)), min_size=1, max_size=80, unique=True)


@given(pairs)
@settings(max_examples=100, deadline=None)
def test_the_held_out_share_is_that_of_the_item_that_the_other_half_chooses(named: list[tuple[int, int]]) -> None:
    found = assemblage(20, *(np.array(column) for column in zip(*named, strict=True)))
    position = {response: at for at, response in enumerate(sorted({response for response, _ in named}))}
    items = sorted({item for _, item in named})
    shares = []
    for division in range(HALVES):
        first = {at for at in range(20) if _halves(20)[at, division]}
        for chosen_by in (first, set(range(20)) - first):
            naming = [[position[r] for r, other in named if other == item] for item in items]
            chosen = max(range(len(items)), key=lambda one: (sum(r in chosen_by for r in naming[one]), -one))
            shares.append(sum(r not in chosen_by for r in naming[chosen]) / (20 - len(chosen_by)))
    assert held_out_share(found.incidence) == pytest.approx(np.mean(shares))


def test_halves_are_halves_and_always_the_same_ones() -> None:
    assert set(_halves(21).sum(axis=0)) == {10}
    assert len({tuple(column) for column in _halves(30).T}) == HALVES
    first = [0xE220A8397B1DCDAF, 0x910A2DEC89025CC1]  # SplitMix64's second and third number after seed 0 are others
    assert _scattered(np.array([0], dtype=np.uint64)).tolist() == first[:1]


@given(pairs)
@settings(max_examples=100, deadline=None)
def test_limits_hold_the_share_and_stay_within_0_and_1(named: list[tuple[int, int]]) -> None:
    found = dominance_estimate(assemblage(20, *(np.array(column) for column in zip(*named, strict=True))))
    low, high = found.limits(0.0, 1.0)
    assert low is not None
    assert high is not None
    assert 0 <= low <= found.value <= high <= 1
    assert 0 <= found.bias <= found.value


def test_nothing_named_and_a_single_response() -> None:
    none = dominance_estimate(assemblage(30, np.array([], dtype=np.int64), np.array([], dtype=np.int64)))
    assert none.value == 0
    assert none.limits(0, 1) == (0, pytest.approx(1 - 0.025 ** (1 / 30)))
    single = dominance_estimate(assemblage(1, np.array([0]), np.array([5])))
    assert (single.value, single.withheld()) == (1, "few responses")


def covered(world: DominanceWorld, responses: int, cells: int) -> float:
    random = np.random.default_rng([responses, cells])
    sets = [mean([dominance_estimate(world.draw(random, responses)) for _ in range(cells)]) for _ in range(DATA_SETS)]
    limits = [found.limits(0.0, 1.0) for found in sets]
    return float(np.mean([low is not None and high is not None and low <= world.truth <= high for low, high in limits]))


@pytest.mark.parametrize("responses", [10, 100])
@pytest.mark.parametrize("name", WORLDS)
def test_intervals_hold_the_chance_of_the_most_likely_item(name: str, responses: int) -> None:
    """Of 5,000 data sets: `python -m bench.coverage --data-sets 5000 --only dominance`."""
    assert covered(WORLDS[name], responses, 1) >= 0.92
    assert math.isclose(WORLDS[name].truth, min(1.0, WORLDS[name].truth))


@pytest.mark.parametrize("name", ["20 as frequent, independent", "8 in 80 %, independent", "2 as frequent, either"])
def test_the_bias_of_choosing_does_not_shrink_in_a_mean(name: str) -> None:
    assert covered(WORLDS[name], 10, 12) >= 0.92
