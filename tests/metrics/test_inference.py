"""The jackknife, its limits and the crossed variance, against brute force and against statsmodels and scipy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse import csr_array
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from polyculture.metrics.inference.jackknife import (
    COMPANIONS,
    Changes,
    Incidence,
    Prompts,
    consensus,
    distinct,
    incidence,
    moments,
    named_in,
    ratio,
)
from polyculture.metrics.inference.limits import Contrast, Estimate
from polyculture.metrics.inference.prompts import (
    FEW_COUNTRIES,
    FEW_TOPICS,
    INCOMPLETE,
    NO_SPREAD,
    PromptMean,
    prompt_mean,
)
from polyculture.metrics.inference.shares import mean_share, share_of

Named = Sequence[Sequence[int]]  # of each response the items that it names
NAMED = st.lists(st.lists(st.integers(0, 5), max_size=4, unique=True), min_size=3, max_size=7)


def cell(named: Named) -> Incidence:
    pairs = [(at, item) for at, items in enumerate(named) for item in items]
    response, item = (np.array(part, dtype=np.int64) for part in (zip(*pairs, strict=True) if pairs else ((), ())))
    return incidence(len(named), response, item)


def without_each(named: Named, value: Callable[[Incidence], float]) -> NDArray[np.float64]:
    """The value without each response."""
    return np.array(
        [value(cell([items for at, items in enumerate(named) if at != left])) for left in range(len(named))]
    )


def jackknife(values: NDArray[np.float64]) -> float:
    return float((len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum())


def variance_of(found: Incidence, changes: NDArray[np.float64]) -> float:
    every = np.zeros(found.responses)
    every[found.naming] = changes
    return jackknife(every)


@given(NAMED, st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_a_count_at_fewer_responses_is_the_mean_over_all_draws_with_its_jackknife(named: Named, size: int) -> None:
    found = cell(named)
    value, changes = distinct(found, min(size, len(named)))

    def expected(one: Incidence, draws: int) -> float:
        sets = [set(one.item[one.response == at]) for at in range(len(one.naming))]
        sets += [set()] * (one.responses - len(sets))
        return float(np.mean([len(set().union(*some)) for some in combinations(sets, draws)]))

    assert value == pytest.approx(expected(found, min(size, len(named))))
    left = min(size, len(named) - 1)
    assert variance_of(found, changes) == pytest.approx(jackknife(without_each(named, lambda one: expected(one, left))))


@given(NAMED)
@settings(max_examples=60, deadline=None)
def test_companions_change_as_they_do_without_each_response(named: Named) -> None:
    found = cell(named)
    for metric, of in COMPANIONS.items():
        left = [cell([items for at, items in enumerate(named) if at != out]) for out in range(len(named))]
        if any(not len(one.items) for one in left):
            continue
        _, changes = of(found)
        brute = np.array([of(one)[0] for one in left])
        assert variance_of(found, changes) == pytest.approx(jackknife(brute), abs=1e-9), metric


@given(NAMED, NAMED, st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_consensus_is_jaccards_and_at_fewer_responses_a_ratio_of_expectations(
    one: Named, other: Named, size: int
) -> None:
    a, b = cell(one), cell(other)
    if not len(a.items) and not len(b.items):
        assert consensus(a, b, None) is None
        return
    found = consensus(a, b, None)
    first, second = set(a.items.tolist()), set(b.items.tolist())
    assert found[0] == pytest.approx(len(first & second) / len(first | second))

    def at(one: Incidence, other: Incidence, sizes: tuple[int, int]) -> float:
        p = dict(zip(one.items.tolist(), named_in(sizes[0], one.responses, one.counts), strict=True))
        q = dict(zip(other.items.tolist(), named_in(sizes[1], other.responses, other.counts), strict=True))
        both = sum(p[item] * q.get(item, 0.0) for item in p)
        either = sum(p.values()) + sum(q.values()) - both
        return both / either if either > 0 else math.nan

    fewer = consensus(a, b, size)
    sizes = min(size, a.responses), min(size, b.responses)
    assert fewer[0] == pytest.approx(at(a, b, sizes))
    left = without_each(one, lambda less: at(less, b, (min(sizes[0], less.responses), sizes[1])))
    if not np.isnan(left).any():
        assert variance_of(a, fewer[1]) == pytest.approx(jackknife(left), abs=1e-9)


def test_responses_that_matter_to_several_cells_change_all_of_them_at_once() -> None:
    random = np.random.default_rng(4)
    tops, bottoms = random.poisson(2, (3, 8)).astype(float), 3 + random.poisson(2, 8).astype(float)
    prompts = Prompts(np.repeat([0, 1], 4), np.array([4, 4]))
    parts = [ratio(top, bottoms) for top in tops]
    found = Changes(
        np.array([value for value, _ in parts]),
        csr_array(np.stack([changes for _, changes in parts], axis=1)),
        np.full(3, 8),
        np.zeros(3, dtype=bool),
        np.zeros(3),
    )
    weights = np.array([[1.0, 1 / 3], [-1.0, 1 / 3], [0.0, 1 / 3]])
    told = moments(found, prompts, csr_array(weights))

    def theta(left: int | None) -> NDArray[np.float64]:
        kept = [at for at in range(8) if at != left]
        return np.asarray((tops[:, kept].sum(axis=1) / bottoms[kept].sum()) @ weights)

    assert told.values == pytest.approx(theta(None))
    for group in (0, 1):
        own = [[theta(left)[group] for left in some] for some in (range(4), range(4, 8))]
        parts_of = [jackknife(np.array(values)) for values in own]
        assert told.variances[group] == pytest.approx(sum(parts_of))
        assert told.freedom[group] == pytest.approx(sum(parts_of) ** 2 / sum(part**2 / 3 for part in parts_of))


def test_a_cell_that_one_response_tells_takes_the_variance_of_the_others() -> None:
    changes = csr_array(np.array([[0.1, 0.0], [-0.1, 0.0], [0.0, 0.0]]))
    found = Changes(np.array([0.5, 1.0]), changes, np.array([2, 1]), np.array([False, True]), np.zeros(2))
    told = moments(found, Prompts(np.array([0, 0, 1]), np.array([2, 1])), csr_array(np.array([[0.5], [0.5]])))
    assert told.variances[0] == pytest.approx(2 * 0.25 * jackknife(np.array([0.1, -0.1])))
    assert told.single[0] == 0.5


@pytest.mark.parametrize(("hits", "size"), [(0, 12), (3, 12), (12, 12), (40, 200)])
def test_a_share_of_independent_answers_has_wilsons_interval(hits: int, size: int) -> None:
    yes = np.repeat([1.0, 0.0], [hits, size - hits])
    found = share_of(yes, np.ones(size))
    share = hits / size
    # The jackknife's variance has size - 1 below: so many answers stand behind it.
    effective = size if share in (0.0, 1.0) else size - 1
    low, high = Estimate(share, found.variance, math.inf, size, share=True).interval()
    wilson = proportion_confint(share * effective, effective, method="wilson")
    assert (low, high) == pytest.approx(wilson, abs=1e-6)
    assert 0 <= low < high <= 1


@pytest.mark.parametrize(
    ("a", "b"), [((8, 20), (3, 25)), ((0, 20), (0, 30)), ((20, 20), (15, 15)), ((1, 400), (9, 90))]
)
def test_a_difference_of_shares_has_newcombes_interval(a: tuple[int, int], b: tuple[int, int]) -> None:
    sides = [
        Estimate(hits / size, hits / size * (1 - hits / size) / size, math.inf, size, share=True)
        for hits, size in (a, b)
    ]
    found = Contrast(*sides, sides[0].variance + sides[1].variance, math.inf)
    newcombe = confint_proportions_2indep(*a, *b, method="newcomb", compare="diff")
    assert found.interval() == pytest.approx(newcombe, abs=1e-6)
    assert -1 <= found.interval()[0] <= found.interval()[1] <= 1


@given(st.floats(0, 1), st.floats(0, 1), st.floats(1e-6, 0.05), st.floats(1e-6, 0.05), st.floats(2, 200), st.booleans())
@settings(max_examples=100, deadline=None)
def test_p_is_below_a_twentieth_if_and_only_if_the_interval_leaves_out_nought(
    a: float, b: float, va: float, vb: float, freedom: float, share: bool
) -> None:
    found = Contrast(Estimate(a, va, freedom, 20, share), Estimate(b, vb, freedom, 20, share), va + vb, freedom)
    low, high = found.interval()
    if min(abs(low), abs(high)) > 1e-9:
        assert (found.p() < 0.05) == (low > 0 or high < 0)
    assert found.p(found.value) == 1.0


def test_a_difference_is_no_wider_than_its_sides_allow() -> None:
    sides = [Estimate(0.08, 0.0004, 8, 30, share=True)] * 2
    low, high = Contrast(sides[0], sides[1], 0.0008, 4).interval()
    wide = sides[0].interval(0.99)
    assert wide[0] - wide[1] <= low < 0 < high <= wide[1] - wide[0]


def test_what_both_sides_share_narrows_the_difference() -> None:
    side = Estimate(10.0, 4.0, 30, 30, share=False)
    apart, together = (Contrast(side, side, variance, 30).interval() for variance in (8.0, 1.0))
    assert together[1] == pytest.approx(stats.t.ppf(0.975, 30))
    assert together[1] < apart[1]


def test_a_mean_of_shares_adds_up_their_variances() -> None:
    parts = [share_of(np.repeat([1.0, 0.0], [k, 20 - k]), np.ones(20)) for k in (3, 12)]
    known = [part for part in parts if part is not None]
    found = mean_share(known)
    assert found.value == pytest.approx(15 / 40)
    assert found.variance == pytest.approx(sum(part.variance for part in known) / 4)


def of_table(table: NDArray[np.float64]) -> PromptMean:
    """The mean of a table of topics by countries, one value a place; NaN: none."""
    topic, country = np.nonzero(~np.isnan(table))
    return prompt_mean(topic, country, table[topic, country])


def test_one_sampled_factor_has_students_interval() -> None:
    values = np.random.default_rng(1).normal(size=8)
    found = of_table(values[:, None])
    assert found.variance == pytest.approx(stats.sem(values) ** 2)
    assert found.freedom == pytest.approx(7)
    assert found.unit == "topic"
    assert of_table(values[None, :5]).reason == FEW_COUNTRIES


def test_crossed_factors_that_matter_each_add_their_own_variance() -> None:
    random = np.random.default_rng(3)
    topics, countries = 5 * random.normal(size=(6, 1)), 5 * random.normal(size=(1, 9))
    table = topics + countries + random.normal(size=(6, 9))
    found = of_table(table)
    own = table.mean(axis=1).var(ddof=1) / 6 + table.mean(axis=0).var(ddof=1) / 9
    assert found.variance == pytest.approx(own, rel=0.02)
    flat = of_table(random.normal(size=(6, 9)))
    assert flat.variance == pytest.approx(1 / 54, rel=0.5)


def test_a_table_that_is_too_small_uneven_or_flat_has_the_reason() -> None:
    random = np.random.default_rng(5)
    table = random.normal(size=(4, 5))
    assert of_table(table[:2]).reason == FEW_TOPICS
    assert of_table(table[:, :2]).reason == FEW_COUNTRIES
    assert of_table(np.full((4, 5), 0.3)).reason == NO_SPREAD
    one = table.copy()
    one[1, 2] = np.nan
    assert of_table(one).reason is None
    one[2, :3] = np.nan
    assert of_table(one).reason == INCOMPLETE


def test_conditions_of_a_topic_and_country_are_one_value() -> None:
    table = np.random.default_rng(6).normal(size=(4, 5))
    topic, country = (np.tile(index.ravel(), 2) for index in np.indices(table.shape))
    apart = np.concatenate([table.ravel() + 0.3, table.ravel() - 0.3])
    assert prompt_mean(topic, country, apart).variance == pytest.approx(of_table(table).variance)


def test_a_mean_that_one_topic_carries_has_the_degrees_of_one() -> None:
    random = np.random.default_rng(7)
    topic = np.repeat(np.arange(7), [400, 5, 5, 5, 5, 5, 5])
    country = np.arange(len(topic)) % 5
    assert 1 <= prompt_mean(topic, [None] * len(topic), random.normal(size=len(topic))).freedom < 1.1
    assert prompt_mean(topic, country, random.normal(size=len(topic)) + topic).freedom < 1.5


@pytest.mark.parametrize("neutral", [False, True])
@pytest.mark.parametrize("scales", [(0.05, 0.0), (0.0, 0.05), (0.05, 0.05)])
def test_means_of_unequal_numbers_of_conditions_are_covered(scales: tuple[float, float], neutral: bool) -> None:
    """Eight conditions or one of a topic and country: what is covered is the mean over cells, of 0 in all prompts."""
    random = np.random.default_rng(8)
    topics, countries = 6, 12
    covered = []
    for _ in range(300):
        conditions = np.where(random.random((topics, countries)) < 0.5, 8, 1)
        topic, country = (np.repeat(index.ravel(), conditions.ravel()) for index in np.indices(conditions.shape))
        of_topic, of_country = scales[0] * random.normal(size=topics), scales[1] * random.normal(size=countries)
        of_both = 0.05 * random.normal(size=conditions.shape)
        values = of_topic[topic] + of_country[country] + of_both[topic, country]
        named: list[object] = list(country)
        if neutral:  # prompts of a topic that name no country
            topic, named = np.concatenate([topic, np.arange(topics)]), [*named, *[None] * topics]
            values = np.concatenate([values, of_topic])
        values = values + 0.05 * random.normal(size=len(values))
        found = prompt_mean(topic, named, values)
        assert found.reason is None
        covered.append(abs(values.mean()) <= stats.t.ppf(0.975, found.freedom) * math.sqrt(found.variance))
    assert np.mean(covered) >= 0.93
