"""How often 95 % intervals cover the truth, and differences are told; `bench/coverage.py` has more of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from polyculture.metrics.comparison.compare import Terms, compare
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.inference.family import HIGHER, LOWER, NEW_PROMPTS, SAME_PROMPTS
from polyculture.metrics.responses import ALL
from tests.metrics.compared_worlds import NULLS, World, compared, false_findings, told, tried
from tests.metrics.response_worlds import (
    GAINS,
    PAIRS,
    PLAIN,
    SHARES,
    companion_covered,
    consensus_covered,
    count_covered,
    gain_covered,
    share_covered,
)
from tests.simulated import data_sets, least, most

# Worlds that differ from another one in a number alone: in `make test-full`.
ALIKE = (
    "50 against 30 responses", "0% of the variance common to conditions", "30% of the variance common to conditions",
    "90% of the variance common to conditions", "topics' effects, 1 conditions", "countries' effects, 3 conditions",
)  # fmt: skip


@data_sets(30, 200)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.full if name in ALIKE else ())
        for name in NULLS
        if "diversity, nothing" not in name
    ],
)
def test_a_world_without_a_difference_has_none(name: str, count: int) -> None:
    world, metric, target, truth, texts = NULLS[name]
    found = tried(world, metric, target, count, truth=truth, selection=texts)
    assert found.covered >= least(count)
    assert found.withheld <= 0.1


@data_sets(30, 60)
def test_true_differences_of_two_and_three_standard_errors_are_told(count: int) -> None:
    shares = [told(World(), sizes, SAME_PROMPTS, count) for sizes in (2.0, 3.0)]
    assert shares[0] >= 0.4
    assert shares[1] >= 0.75


@data_sets(20, 60)
@pytest.mark.parametrize("models", [2, 5])
def test_families_without_a_difference_seldom_show_one(models: int, count: int) -> None:
    world = World(models=models, of_prompt=0.1, topics=4, countries=6, conditions=1)
    assert false_findings(world, NEW_PROMPTS, count) <= most(count)


def test_refusals_alone_are_no_difference_of_what_is_named() -> None:
    drawn = World(refused=(0.0, 0.4), countries=6).draw(np.random.default_rng(2))
    all_texts, answered = (
        compared(drawn, ("m0", "m1"), "diversity", (SAME_PROMPTS,), (selection,))[0].difference
        for selection in (ALL, "answered")
    )
    assert all_texts.p < 0.001 < answered.p


def test_models_are_compared_over_the_topics_that_both_were_asked() -> None:
    world = World(of_topic=0.3, missing={1: (0, 1)})
    row = compared(world.draw(np.random.default_rng(1)), ("m0", "m1"), "granularity", (SAME_PROMPTS,))[0].difference
    assert (row.cells, row.topics, row.left_out) == (4 * 36, 4, 2 * 36)


def test_a_language_that_one_model_was_not_asked_in_is_no_gap_in_what_both_were_asked() -> None:
    """The demo's models could not be compared: one of them writes English alone."""
    gaps = World(missing={1: (0, 1, 2, 3)})
    languages = replace(gaps, elsewhere=(0, 1, 2, 3))
    found = [
        compared(world.draw(np.random.default_rng(1)), ("m0", "m1"), "granularity", (SAME_PROMPTS,))[0].difference
        for world in (gaps, languages, replace(languages, elsewhere=(0, 1, 2)))
    ]
    assert [row.reason for row in found] == ["too few in common", None, None]
    assert [row.left_out for row in found] == [4 * 36] * 3
    assert found[1].low is not None


def test_counts_are_compared_at_the_fewest_responses() -> None:
    drawn = World(responses=(50, 30), countries=4, conditions=1).draw(np.random.default_rng(1))
    row = compared(drawn, ("m0", "m1"), "diversity", (SAME_PROMPTS,))[0].difference
    assert row.at_n == 30
    assert row.verdict not in (HIGHER, LOWER)


def test_at_temperature_nought_these_prompts_have_no_sampling() -> None:
    drawn = World(countries=5).draw(np.random.default_rng(1))
    drawn.deterministic = True
    these, others = (row.difference for row in compared(drawn, ("m0", "m1"), "granularity"))
    assert (these.low, these.reason, these.verdict) == (None, "no sampling", "untestable")
    assert others.low is not None


def test_a_metric_that_is_fixed_by_construction_is_told_apart_nowhere() -> None:
    drawn = World(shift=0.3, countries=4).draw(np.random.default_rng(1))
    terms = Terms(metrics=("granularity",), fixed={"granularity": "constant by construction"})
    rows = compare([drawn], [Sides("model", "m0", "m1")], terms)  # type: ignore[list-item]
    assert {(row.difference.verdict, row.difference.reason) for row in rows} == {
        ("untestable", "constant by construction")
    }


@pytest.mark.parametrize(
    "name", ["one mention, share 0.5, alike 0.0", "cv 0.7, share 0.5, alike 0.0", "40 % none, share 0.93, alike 1.0"]
)
@pytest.mark.parametrize("responses", [10, 50])
@data_sets(100, 250)
def test_shares_of_a_cell(name: str, responses: int, count: int) -> None:
    assert share_covered(SHARES[name], responses, count) >= least(count)


@data_sets(100, 200)
@pytest.mark.parametrize("size", [25, 50])
@pytest.mark.parametrize("name", PLAIN)
def test_counts_of_a_cell(name: str, size: int, count: int) -> None:
    assert count_covered(PLAIN[name], 50, size, count) >= least(count)


@pytest.mark.parametrize("name", ["8 items, Zipf 1.0", "cv 0.7, 2000 items, Zipf 1.6", "40 % none, 50 items, Zipf 1.0"])
@data_sets(100, 200)
def test_consensus_of_a_pair(name: str, count: int) -> None:
    assert name in PAIRS
    assert consensus_covered(name, (30, 30), count) >= least(count)


@pytest.mark.parametrize("metric", ["hill_1", "hill_2", "coverage", "dominance"])
@data_sets(100, 200)
def test_companions_of_diversity(metric: str, count: int) -> None:
    assert companion_covered(metric, PLAIN["independent"], 50, count) >= least(count)


@data_sets(100, 200)
def test_gains(count: int) -> None:
    assert gain_covered(GAINS["lists, share 0.5; 0.1"], (20, 50), count) >= least(count)
