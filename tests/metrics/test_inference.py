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

from polyculture.metrics.inference import named_items
from polyculture.metrics.inference.jackknife import (
    Changes,
    Clusters,
    PromptsOfResponses,
    mean_share,
    moments,
    share_of,
    shares,
)
from polyculture.metrics.inference.limits import Contrast, Estimate
from polyculture.metrics.inference.named_items import (
    OF_COUNTS,
    Incidences,
    consensus,
    distinct,
    incidences,
    named_in,
)
from polyculture.metrics.inference.prompts import (
    FEW_COUNTRIES,
    FEW_TOPICS,
    INCOMPLETE,
    NO_SPREAD,
    PromptMean,
    prompt_mean,
)
from polyculture.metrics.responses import Groups

Named = Sequence[Sequence[int]]  # of each response the items that it names
NAMED = st.lists(st.lists(st.integers(0, 5), max_size=4, unique=True), min_size=3, max_size=7)


def cells(*several: Named) -> Incidences:
    """Cells whose responses name these items."""
    named = [items for cell in several for items in cell]
    pairs = [(at, item) for at, items in enumerate(named) for item in items]
    response, item = (np.array(part, dtype=np.int64) for part in (zip(*pairs, strict=True) if pairs else ((), ())))
    sizes = np.array([len(cell) for cell in several])
    return incidences(sizes, np.repeat(np.arange(len(several)), sizes), response, item)


def without_each(named: Named, value: Callable[[Named], float]) -> NDArray[np.float64]:
    """The value without each response."""
    return np.array([value([items for at, items in enumerate(named) if at != left]) for left in range(len(named))])


def jackknife(values: NDArray[np.float64]) -> float:
    return float((len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum())


def changes_of(found: Incidences, changes: NDArray[np.float64], cell: int) -> NDArray[np.float64]:
    return changes[found.cell == cell]


@given(NAMED, NAMED, st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_a_count_at_fewer_responses_is_the_mean_over_all_draws_with_its_jackknife(
    named: Named, other: Named, size: int
) -> None:
    several = (named, other)
    found = cells(*several)
    sizes = np.minimum(size, found.responses)
    values, changes = distinct(found, sizes)

    def expected(one: Named, draws: int) -> float:
        return float(np.mean([len(set().union(*some)) for some in combinations(one, draws)]))

    for at, one in enumerate(several):
        assert values[at] == pytest.approx(expected(one, min(size, len(one))))
        left = min(size, len(one) - 1)
        brute = jackknife(without_each(one, lambda less, left=left: expected(less, left)))
        assert jackknife(changes_of(found, changes, at)) == pytest.approx(brute)


@given(NAMED, NAMED)
@settings(max_examples=60, deadline=None)
def test_companions_change_as_they_do_without_each_response(named: Named, other: Named) -> None:
    several = (named, other)
    found = cells(*several)
    for at, one in enumerate(several):
        left = [[items for place, items in enumerate(one) if place != out] for out in range(len(one))]
        if not all(any(less) for less in left):
            continue
        for metric, of in OF_COUNTS.items():
            _, changes = of(found)
            brute = np.array([of(cells(less))[0][0] for less in left])
            assert jackknife(changes_of(found, changes, at)) == pytest.approx(jackknife(brute), abs=1e-9), metric


GROUPED = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.integers(0, 5), max_size=4, unique=True)), min_size=3, max_size=7
)


@given(GROUPED, GROUPED, st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_counts_change_without_a_group_as_if_its_responses_named_nothing(
    one: list[tuple[int, list[int]]], other: list[tuple[int, list[int]]], size: int
) -> None:
    both = (one, other)
    named = [(at, group, item) for at, cell in enumerate(both) for group, items in cell for item in items]
    groups = sorted({(at, group) for at, group, _ in named})
    found = incidences(
        np.array([len(one) + 1, len(other) + 1]),  # one more that names nothing: changes are less that without it
        np.array([at for at, _ in groups], dtype=np.int64),
        np.array([groups.index((at, group)) for at, group, _ in named], dtype=np.int64),
        np.array([item for _, _, item in named], dtype=np.int64),
    )

    def agreement(of: Incidences) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        of_pair = consensus(of, np.array([(0, 1)]), np.array([size]))
        return np.repeat(of_pair.values, 2), of_pair.changes.toarray().ravel()

    def count(of: Incidences) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return distinct(of, np.minimum(size, of.responses))

    for number, left in enumerate(groups):
        every = [[*(items for _, items in cell), *([[]] if at != left[0] else [])] for at, cell in enumerate(both)]
        without = [*every]
        without[left[0]] = [[] if (left[0], key) == left else items for key, items in both[left[0]]]
        if all(any(items) for items in without):
            for metric, of in {**OF_COUNTS, "distinct": count, "consensus": agreement}.items():
                expected = of(cells(*without))[0][left[0]] - of(cells(*every))[0][left[0]]
                assert of(found)[1][number] == pytest.approx(expected, abs=1e-9), metric


@given(NAMED, NAMED, NAMED, st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_consensus_is_jaccards_and_at_fewer_responses_a_ratio_of_expectations(
    one: Named, other: Named, third: Named, size: int
) -> None:
    several = (one, other, third)
    found = cells(*several)
    pairs = np.array([(0, 1), (0, 2), (2, 1)])
    whole = consensus(found, pairs, np.full(3, 9))
    fewer = consensus(found, pairs, np.full(3, size))
    changes = fewer.changes.toarray()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(named_items, "_AT_ONCE", 5)  # in parts, as those of large runs are
        parts = consensus(found, pairs, np.full(3, size))
    assert parts.values == pytest.approx(fewer.values, nan_ok=True)
    assert parts.changes.toarray() == pytest.approx(changes)

    def at(a: Named, b: Named, sizes: tuple[int, int]) -> float:
        p, q = (chances(cell, draws) for cell, draws in zip((a, b), sizes, strict=True))
        both = sum(p[item] * q.get(item, 0.0) for item in p)
        either = sum(p.values()) + sum(q.values()) - both
        return both / either if either > 0 else math.nan

    for pair, (a, b) in enumerate(pairs):
        first, second = (set().union(*several[cell]) for cell in (a, b))
        if not first | second:
            assert np.isnan(whole.values[pair])
            assert np.isnan(fewer.values[pair])
            continue
        assert whole.values[pair] == pytest.approx(len(first & second) / len(first | second))
        sizes = min(size, len(several[a])), min(size, len(several[b]))
        assert fewer.values[pair] == pytest.approx(at(several[a], several[b], sizes))
        for side, of in enumerate((a, b)):

            def value(less: Named, side: int = side, a: int = a, b: int = b, sizes: tuple[int, int] = sizes) -> float:
                two = (less, several[b]) if side == 0 else (several[a], less)
                return at(*two, (min(sizes[0], len(two[0])), min(sizes[1], len(two[1]))))

            left = without_each(several[of], value)
            if not np.isnan(left).any():
                own = jackknife(changes_of(found, changes[:, pair], of))
                assert own == pytest.approx(jackknife(left), abs=1e-9)


def chances(named: Named, draws: int) -> dict[int, float]:
    """Of each item, the chance that so many responses name it."""
    found = cells(named)
    return dict(zip(found.items.tolist(), named_in(draws, len(named), found.counts), strict=True))


def test_responses_that_matter_to_several_cells_change_all_of_them_at_once() -> None:
    random = np.random.default_rng(4)
    tops, bottoms = random.poisson(2, (3, 8)).astype(float), 3 + random.poisson(2, 8).astype(float)
    prompts = PromptsOfResponses(np.repeat([0, 1], 4), np.array([4, 4]))
    place, response = np.divmod(np.arange(24), 8)
    parts = shares(tops.ravel(), np.tile(bottoms, 3), place, 3)
    found = Changes(
        parts.values,
        csr_array((parts.changes, (response, place)), shape=(8, 3)),
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
    told = moments(
        found, PromptsOfResponses(np.array([0, 0, 1]), np.array([2, 1])), csr_array(np.array([[0.5], [0.5]]))
    )
    assert told.variances[0] == pytest.approx(2 * 0.25 * jackknife(np.array([0.1, -0.1])))
    assert told.single[0] == 0.5


def mean_of_shares(named: NDArray[np.float64], clusters: tuple[Clusters, ...]) -> tuple[float, float, float]:
    """The mean of prompts' shares (prompts x samples, 0 or 1), its variance, and the degrees of freedom.

    A response of 0 names nothing, and is no row, as in a run.
    """
    prompts, samples = named.shape
    prompt, _ = np.nonzero(named)
    change = (named.mean(axis=1)[prompt] - 1) / (samples - 1) - named.mean(axis=1)[prompt] / (samples - 1)
    matrix = csr_array((change, (np.arange(len(prompt)), prompt)), shape=(len(prompt), prompts))
    cell = np.full(prompts, samples)
    found = Changes(named.mean(axis=1), matrix, cell, np.zeros(prompts, dtype=bool), np.zeros(prompts))
    told = moments(found, PromptsOfResponses(prompt, cell, clusters), csr_array(np.full((prompts, 1), 1 / prompts)))
    return float(told.values[0]), float(told.variances[0]), float(told.freedom[0])


def seeds_of(named: NDArray[np.float64]) -> Clusters:
    """Each sample's number is a seed that all prompts share."""
    prompts, samples = named.shape
    rows = np.where(named > 0, (named > 0).cumsum().reshape(named.shape) - 1, -1)
    return Clusters(np.tile(np.arange(samples), prompts), np.repeat(np.arange(prompts), samples), rows.ravel())


def test_what_the_responses_of_a_cluster_add_is_summed_before_it_is_squared() -> None:
    """Of complete clusters the variance is that of the clusters' means."""
    random = np.random.default_rng(3)
    named = (random.random((6, 25)) + 0.6 * random.random(25) > 1).astype(float)
    _, variance, freedom = mean_of_shares(named, (seeds_of(named),))
    assert variance == pytest.approx(named.mean(axis=0).var(ddof=1) / 25)
    assert freedom == 24
    assert variance > mean_of_shares(named, ())[1]


def test_of_clusters_within_prompts_the_variance_is_that_of_their_means() -> None:
    """Records of four texts each: a prompt's mean is one of its records, and each prompt costs a degree of freedom."""
    random, prompts, records, texts = np.random.default_rng(5), 3, 7, 4
    named = np.repeat((random.random((prompts, records)) < 0.5).astype(float), texts, axis=1)
    rows = np.where(named > 0, (named > 0).cumsum().reshape(named.shape) - 1, -1).ravel()
    prompt = np.repeat(np.arange(prompts), records * texts)
    clusters = Clusters(np.repeat(np.arange(prompts * records), texts), prompt, rows)
    _, variance, freedom = mean_of_shares(named, (clusters,))
    means = named.reshape(prompts, records, texts).mean(axis=2)
    assert variance == pytest.approx(means.var(axis=1, ddof=1).sum() / records / prompts**2)
    assert freedom == prompts * (records - 1)
    one_each = Clusters(prompt, prompt, rows)
    assert mean_of_shares(named, (one_each,)) == mean_of_shares(named, ()), "nothing shows how records differ"


def test_models_that_do_not_differ_are_told_apart_in_a_twentieth_of_worlds_with_shared_seeds() -> None:
    """Without clusters a fourth of the pairs would be; where seeds say nothing, clusters cost little."""
    random, prompts, samples = np.random.default_rng(8), 12, 30

    def rejected(of_seed: float, *, clustered: bool) -> float:
        false = 0
        for _ in range(300):
            sides = []
            for _model in range(2):
                drawn = math.sqrt(of_seed) * random.normal(size=samples) + math.sqrt(1 - of_seed) * random.normal(
                    size=(prompts, samples)
                )
                named = (drawn > 0.3).astype(float)
                sides.append(mean_of_shares(named, (seeds_of(named),) if clustered else ()))
            (a, one, few), (b, other, less) = sides
            false += abs(a - b) > stats.t.ppf(0.975, min(few, less)) * math.sqrt(one + other)
        return false / 300

    assert rejected(0.4, clustered=False) > 0.2
    assert 0.02 <= rejected(0.4, clustered=True) <= 0.08
    assert 0.01 <= rejected(0.0, clustered=True) <= 0.08


def records_that_name_the_same(random: np.random.Generator) -> tuple[float, list[float]]:
    """The mean count of four cells, each of eight records of which all five texts name the same two items; and its
    variance, by texts and by whole records."""
    cells_, records, texts = 4, 8, 5
    named = np.minimum(random.pareto(0.7, (cells_ * records, 2)).astype(np.int64), 300)
    record = np.repeat(np.arange(cells_ * records), texts)
    cell, sizes = record // records, np.full(cells_, records * texts)
    pairs = np.unique(np.stack([np.repeat(np.arange(len(record)), 2), named[record].ravel()]), axis=1)
    found = incidences(sizes, cell, *pairs)
    groups = Groups(record, incidences(sizes, cell[::texts], record[pairs[0]], pairs[1]))

    def changes(of: Incidences) -> csr_array:
        return csr_array((distinct(of, sizes)[1], (np.arange(len(of.cell)), of.cell)), shape=(len(of.cell), cells_))

    values, own = distinct(found, sizes)[0], changes(found)
    clusters = (Clusters(record, cell, np.arange(len(record))),)
    variances = [
        moments(
            Changes(values, of, sizes, np.zeros(cells_, dtype=bool), named_items.rare_variance(sizes, sizes)),
            PromptsOfResponses(cell, sizes, clusters),
            csr_array(np.full((cells_, 1), 1 / cells_)),
        ).variances[0]
        for of in (own, groups.share_out(own, changes(groups.found)))
    ]
    return float(values.mean()), variances


def test_counts_of_records_that_name_the_same_items_vary_by_whole_records() -> None:
    """Left out one by one, the texts of a record hide one another: two fifths of equal pairs would be told apart."""
    random = np.random.default_rng(4)
    worlds = [records_that_name_the_same(random) for _ in range(200)]
    true = np.var([value for value, _ in worlds])
    by_texts, by_records = np.mean([variances for _, variances in worlds], axis=0)
    assert by_texts < true / 3
    assert true < by_records < 2 * true


@pytest.mark.parametrize(("hits", "size"), [(0, 12), (3, 12), (12, 12), (40, 200)])
def test_a_share_of_independent_answers_has_wilsons_interval(hits: int, size: int) -> None:
    from statsmodels.stats.proportion import proportion_confint

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
    from statsmodels.stats.proportion import confint_proportions_2indep

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


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)).map(sorted), min_size=1, max_size=8))
@settings(max_examples=60)
def test_a_share_over_responses_of_unequal_length_has_their_jackknife_and_that_of_an_exception(
    pairs: list[list[int]],
) -> None:
    tops, bottoms = np.array(pairs, dtype=np.float64).T
    found = share_of(tops, bottoms)
    telling = bottoms > 0  # the others say nothing, and are not counted
    if not telling.any():
        assert found is None
        return
    tops, bottoms = tops[telling], bottoms[telling]
    value, size, longest = tops.sum() / bottoms.sum(), len(tops), bottoms.max()
    left = [
        (tops.sum() - top) / (bottoms.sum() - bottom) for top, bottom in zip(tops, bottoms, strict=True) if size > 1
    ]
    exception = longest * max(value, 1 - value) / (bottoms.sum() + longest)
    variance = (jackknife(np.array(left)) if left else 0.0) + (0.1 * exception**2 if longest > 1 else 0.0)
    assert found is not None
    assert (found.value, found.variance) == (pytest.approx(value), pytest.approx(variance, abs=1e-12))
    assert (found.freedom, found.told, found.share) == (max(size - 1, 1), size, True)


def test_a_mean_of_shares_takes_the_variance_of_those_that_one_response_tells_from_the_others() -> None:
    parts = [Estimate(0.2, 0.01, 4, 5, True), Estimate(0.6, 0.0, 1, 1, True), Estimate(0.4, 0.03, 9, 2, True)]
    found = mean_share(parts)
    freedom = 0.04**2 / (0.01**2 / 4 + 0.03**2 / 9)
    assert (found.value, found.variance) == (pytest.approx(0.4), pytest.approx(0.04 / 9 * 3 / 2))
    assert (found.freedom, found.told, found.share) == (pytest.approx(freedom), 8, True)
    single = mean_share([Estimate(0.2, 0.01, 1, 1, True), Estimate(1.0, 0.0, 1, 1, True)])
    assert (single.value, single.variance, single.told) == (pytest.approx(0.6), 0.0, 2)


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
    assert of_table(values[None, :4]).reason == FEW_COUNTRIES


def test_crossed_factors_that_matter_each_add_their_own_variance() -> None:
    random = np.random.default_rng(3)
    topics, countries = 5 * random.normal(size=(6, 1)), 5 * random.normal(size=(1, 9))
    table = topics + countries + random.normal(size=(6, 9))
    found = of_table(table)
    own = table.mean(axis=1).var(ddof=1) / 6 + table.mean(axis=0).var(ddof=1) / 9
    assert found.variance == pytest.approx(own, rel=0.02)
    flat = of_table(random.normal(size=(6, 9)))
    assert flat.variance == pytest.approx(1 / 54, rel=0.5)


@pytest.mark.parametrize("missing", [(), ((1, 2), (4, 7))])
@pytest.mark.parametrize("scale", [0.2, 3.0])
def test_the_interaction_is_that_of_an_additive_model_of_the_values_that_are_there(
    missing: Sequence[tuple[int, int]], scale: float
) -> None:
    """V_T and V_C by their formula, V_I by least squares: the residuals of topic and country, over their degrees."""
    random = np.random.default_rng(11)
    shape = topics, countries = 5, 8
    table = scale * (random.normal(size=(topics, 1)) + random.normal(size=(1, countries))) + random.normal(size=shape)
    for place in missing:
        table[place] = np.nan
    topic, country = np.nonzero(~np.isnan(table))
    values, size = table[topic, country], len(topic)
    dummies = np.hstack([np.eye(topics)[topic], np.eye(countries)[country]])
    residuals = values - dummies @ np.linalg.lstsq(dummies, values)[0]
    freedom = size - topics - countries + 1
    interaction = float(residuals @ residuals) / freedom / size

    def of_factor(unit: NDArray[np.int64], units: int) -> float:
        weights = np.bincount(unit) / size
        means = np.array([values[unit == one].mean() for one in range(units)])
        return float((weights**2 * (means - values.mean()) ** 2 / (1 - 2 * weights + (weights**2).sum())).sum())

    by_topic, by_country = of_factor(topic, topics), of_factor(country, countries)
    found = of_table(table)
    variance = max(by_topic + by_country - interaction, by_topic, by_country)
    assert found.variance == pytest.approx(variance, rel=1e-6)
    if not missing:
        squares = by_topic**2 / 4 + by_country**2 / 7 + interaction**2 / 28
        assert found.freedom == pytest.approx(max(variance**2 / squares, 4))


def test_a_table_that_is_too_small_uneven_or_flat_has_the_reason() -> None:
    random = np.random.default_rng(5)
    table = random.normal(size=(5, 6))
    assert of_table(table[:4]).reason == FEW_TOPICS
    assert of_table(table[:, :4]).reason == FEW_COUNTRIES
    assert of_table(np.full((5, 6), 0.3)).reason == NO_SPREAD
    one = table.copy()
    one[1, 2] = np.nan
    assert of_table(one).reason is None
    one[2, :3] = np.nan
    assert of_table(one).reason == INCOMPLETE
    wide = random.normal(size=(5, 8))
    wide[0, 0] = wide[1, 1] = np.nan  # a twentieth
    assert of_table(wide).reason is None
    wide[2, 2] = np.nan
    assert of_table(wide).reason == INCOMPLETE


def test_conditions_of_a_topic_and_country_are_one_value() -> None:
    table = np.random.default_rng(6).normal(size=(5, 6))
    topic, country = (np.tile(index.ravel(), 2) for index in np.indices(table.shape))
    apart = np.concatenate([table.ravel() + 0.3, table.ravel() - 0.3])
    assert prompt_mean(topic, country, apart).variance == pytest.approx(of_table(table).variance)


def test_prompts_without_a_country_vary_with_their_topics_alone() -> None:
    """A neutral prompt of each topic: countries matter to the other cells alone, by their share of all."""
    random = np.random.default_rng(13)
    topics, countries, size = 6, 7, 6 * 7 + 6
    table = 3 * random.normal(size=(topics, 1)) + 3 * random.normal(size=(1, countries)) + random.normal(size=(6, 7))
    neutral = random.normal(size=topics)
    topic, country = (index.ravel() for index in np.indices(table.shape))
    values = np.concatenate([table.ravel(), neutral])
    found = prompt_mean([*topic, *range(topics)], [*country, *([None] * topics)], values)
    of_topics = np.hstack([table, neutral[:, None]]).mean(axis=1)
    by_topic = of_topics.var(ddof=1) / topics
    by_country = table.mean(axis=0).var(ddof=1) / countries * (topics * countries / size) ** 2
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0, keepdims=True) + table.mean()
    interaction = (rest**2).sum() / ((topics - 1) * (countries - 1)) * topics * countries / size**2
    assert found.variance == pytest.approx(by_topic + by_country - interaction)


def test_a_mean_that_one_topic_carries_has_too_few_of_them() -> None:
    random = np.random.default_rng(7)
    topic = np.repeat(np.arange(7), [400, 5, 5, 5, 5, 5, 5])
    country = np.arange(len(topic)) % 5
    assert prompt_mean(topic, [None] * len(topic), random.normal(size=len(topic))).reason == FEW_TOPICS
    assert prompt_mean(topic, country, random.normal(size=len(topic)) + topic).reason == FEW_TOPICS


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
