"""Intervals: their arithmetic, what they say where there is little to say, and the stage that writes them."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from polyculture.cache.errors import StoreError
from polyculture.cache.numbers import measure_file
from polyculture.cache.outcome import Outcome
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import NUMBERS
from polyculture.cache.store import open_store
from polyculture.metrics import KEPT, METRICS
from polyculture.metrics.intervals.assemblage import (
    Assemblage,
    assemblage,
    bundling,
    diversity_estimate,
)
from polyculture.metrics.intervals.at_coverage import coverage_in, items_at_coverage
from polyculture.metrics.intervals.coverage import coverage_estimate
from polyculture.metrics.intervals.diversity_estimators import companions, expected_items, items_in
from polyculture.metrics.intervals.estimate import Estimate, Sum, Z, difference, mean, student, symmetric, wilson
from polyculture.metrics.intervals.overlap import Overlaps, overlap
from polyculture.metrics.intervals.ratio import EXCEPTIONS, PRIOR, ratio_estimate
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.large_run import LargeRun
from tests.store_builder import StoreBuilder


def cell(*responses: list[int]) -> Assemblage:
    """The assemblage of responses given as lists of item numbers."""
    pairs = [(number, item) for number, items in enumerate(responses) for item in items]
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return assemblage(len(responses), columns[:, 0], columns[:, 1])


def ratio(*rows: tuple[int, int, int]) -> Estimate:
    """The ratio over rows of (responses, numerator, denominator)."""
    estimate = ratio_estimate(*np.array(rows, dtype=float).T)
    assert estimate is not None
    return estimate


@pytest.mark.parametrize(
    ("rows", "alike"),
    [
        ([(1, 2), (1, 2), (0, 1), (2, 2), (3, 3)] * 2, True),
        ([(1, 1)] * 9 + [(0, 6), (6, 6), (0, 1)], False),  # long responses differ more than short ones
    ],
)
def test_a_ratio_varies_as_the_jackknife_says_or_as_mentions_that_are_alike_do(
    rows: list[tuple[int, int]], alike: bool
) -> None:
    tops, bottoms = np.array(rows).T
    size, whole, value = len(rows), bottoms.sum(), tops.sum() / bottoms.sum()
    without = [(tops.sum() - a) / (whole - b) for a, b in rows]
    jackknife = (size - 1) / size * np.sum((np.array(without) - np.mean(without)) ** 2)
    mentions = [[1] * a + [0] * (b - a) for a, b in rows]
    within = sum(np.var(told) * len(told) for told in mentions)
    correlation = 1 - within / ((whole - size) * value * (1 - value) + PRIOR)
    clustered = value * (1 - value) / whole * (1 + correlation * ((bottoms**2).sum() / whole - 1))
    assert (clustered > jackknife) == alike
    variance = max(clustered, jackknife)
    plain = wilson(value, value * (1 - value) / variance, size - 1)
    correlation = 1 - within / ((whole - size) * value * (1 - value) + EXCEPTIONS)
    longest = 1 + correlation * (bottoms.max() - 1)
    expected = []
    for sign, far in ((-1, value), (1, 1 - value)):  # one exception more, as long as the longest, to either side
        changes = np.append(sign * (tops - value * bottoms) / whole, longest * far / (whole + longest))
        slope = (changes**3).sum() / (changes**2).sum()
        expected.append(max(plain.distances(Z)[sign > 0], Estimate(value, variance, 1, slope).distances(Z)[1]))
    estimate = ratio(*((1, a, b) for a, b in rows))
    assert estimate.value == pytest.approx(value)
    assert estimate.freedom == size - 1
    assert estimate.distances(Z) == pytest.approx(expected)


def test_an_exception_may_be_as_long_as_the_longest_response_unless_mentions_of_a_response_differ() -> None:
    """None of the mentions counts: one whole list of 12 may. Where two of 12 count here and there, a list has few."""
    agreed, mixed = ratio((80, 0, 1), (20, 0, 12)), ratio((80, 0, 1), (8, 0, 12), (12, 2, 12))
    assert (agreed.limits(0, 1)[1] or 0) > 0.12
    assert (mixed.limits(0, 1)[1] or 1) < mixed.value + 0.06


def test_exceptions_that_stand_alone_do_not_pass_for_independent_mentions() -> None:
    """Thirty responses of six mentions that agree, but for one mention: the next exception may be a whole response."""
    low = ratio((29, 6, 6), (1, 5, 6)).limits(0, 1)[0]
    assert low is not None
    assert low < 0.95 < stats.binomtest(179, 180).proportion_ci(method="wilson").low


def test_independent_mentions_give_wilsons_interval() -> None:
    estimate = ratio((30, 1, 1), (70, 0, 1))
    expected = stats.binomtest(30, 100).proportion_ci(method="wilson")
    low, high = estimate.limits(0, 1)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.004)


@pytest.mark.parametrize("responses", [10, 50, 2_000])
def test_responses_that_agree_still_leave_doubt_and_less_of_it_the_more_there_are(responses: int) -> None:
    """As Wilson's interval does, with Student's quantile t: 1 - t^2 / (n + t^2) there, 1 - t^2 / (n + 1) here."""
    square = stats.t.ppf(0.975, responses - 1) ** 2
    assert ratio((responses, 3, 3)).limits(0, 1) == pytest.approx((1 - square / (responses + 1), 1.0))


@pytest.mark.parametrize("responses", [1, 2, 9])
def test_a_share_of_few_responses_has_no_interval(responses: int) -> None:
    few = ratio((responses, 1, 3))
    assert (few.withheld(), few.limits(0, 1)) == ("few responses", (None, None))
    assert few.variance > 0
    silent = ratio_estimate(np.array([5.0]), np.array([1.0]), np.array([3.0]), cell_responses=10)
    assert silent is not None
    assert silent.withheld() is None  # five of ten responses have no mention


def test_a_difference_has_no_interval_where_one_side_has_none() -> None:
    few, known = ratio((9, 1, 3)), ratio((10, 1, 3), (10, 2, 3))
    assert [difference(*sides).withheld() for sides in ((few, known), (known, few))] == ["few responses"] * 2
    assert difference(known, known).withheld() is None


def test_a_ratio_without_mentions_is_none() -> None:
    assert ratio_estimate(np.array([]), np.array([]), np.array([])) is None


def test_a_difference_crosses_the_distances_of_its_parts() -> None:
    one, other = wilson(0.9, 10, math.inf), wilson(0.2, 40, math.inf)
    (below, above), (other_below, other_above) = one.distances(Z), other.distances(Z)
    gain = difference(one, other)
    assert gain.value == pytest.approx(0.7)
    assert gain.distances(Z) == pytest.approx((math.hypot(below, other_above), math.hypot(above, other_below)))


@pytest.mark.parametrize("hits", [0, 1, 4])
def test_the_mean_of_equal_cells_is_as_sure_as_the_one_that_they_make_up(hits: int) -> None:
    """Also where nothing ever happened: twenty cells without a hit in 10 are as good as none in 200."""
    cells = [wilson(hits / 10, 10, math.inf)] * 20
    together = stats.binomtest(20 * hits, 200).proportion_ci(method="wilson")
    assert mean(cells).limits(0, 1) == pytest.approx((together.low, together.high))


def test_degrees_of_freedom_are_satterthwaites() -> None:
    equal = mean([symmetric(1.0, 2.0, 4), symmetric(3.0, 2.0, 4)])
    assert equal.freedom == pytest.approx(8)
    assert equal.limits(-math.inf, math.inf)[1] == pytest.approx(2 + stats.t.ppf(0.975, 8))  # the mean's variance is 1
    assert mean([symmetric(1.0, 2.0, 4), symmetric(3.0, 0.0, 1)]).freedom == pytest.approx(4)
    assert student(math.inf) == pytest.approx(1.959964)


def test_weights_are_those_of_a_weighted_mean() -> None:
    total = Sum()
    total.add(symmetric(1.0, 1.0, 9), 3)
    total.add(symmetric(5.0, 1.0, 9), 1)
    found = total.mean()
    assert found.value == 2.0
    assert found.variance == pytest.approx((9 + 1) / 16)


MANY = [[1, 2], [1, 3, 4], [1, 3], [1, 4, 5], [1, 5, 6]] * 10  # of as many responses as are enough


def estimate_of(metric: str, one: Assemblage) -> Estimate:
    return diversity_estimate(one) if metric == "diversity" else companions(one, 1)[metric]


@pytest.mark.parametrize("metric", ["diversity", "rarefied", "hill_1", "hill_2"])
@pytest.mark.parametrize("responses", [1, 9])
def test_what_rests_on_few_responses_has_no_interval_nor_has_a_mean_of_more_than_a_twentieth_of_it(
    metric: str, responses: int
) -> None:
    few, known = estimate_of(metric, cell(*MANY[:responses])), estimate_of(metric, cell(*MANY))
    assert few.withheld() == "few responses"
    assert few.limits(0, math.inf) == (None, None)
    assert few.variance > 0
    assert known.withheld() is None
    assert mean([few, *[known] * 99]).withheld() is None
    assert mean([few, *[known] * 18]).withheld() == "few responses"


def test_fewer_responses_than_are_enough_have_an_interval_together_only() -> None:
    ten = diversity_estimate(cell(*MANY[:10]))
    assert ten.limits(0, math.inf) == (None, None)
    assert mean([ten] * 4).withheld() == "few responses"
    assert mean([ten] * 5).withheld() is None


def test_a_number_that_another_sample_may_lack_has_no_interval() -> None:
    """A Hill number is missing where no response names an item: with four that do, in one sample of 55."""
    four, five = (companions(cell(*MANY[:some], *[[]] * 50), 1)["hill_1"] for some in (4, 5))
    assert (four.withheld(), five.withheld()) == ("few responses", None)
    total = Sum()
    for _ in range(40):
        total.add(five)
    assert total.mean().withheld() is None
    total.miss()
    assert total.mean().withheld() == "few responses"


def test_languages_with_few_responses_take_the_interval_from_means() -> None:
    full, few = cell(*[[1, 2, 3], [2, 3, 4, 5], [1, 6]] * 4), cell(*[[1, 2, 3, 7, 8]] * 9)
    cells = {"a": full, "b": full, "c": full, "d": few}
    pairs = [(one, other, overlap(cells[one], cells[other])) for one, other in combinations(cells, 2)]
    known = Overlaps([(one, other, pair) for one, other, pair in pairs if pair])
    assert len(known.pairs) == 6
    assert known.mean().withheld() == "few responses"  # three of six
    assert known.mean_of("a").withheld() == "few responses"  # one of three
    assert Overlaps([pair for pair in known.pairs if "d" not in pair[:2]]).mean().withheld() is None


def test_the_estimated_assemblage_is_chaos() -> None:
    """One unique item, one seen twice, one thrice, one in all of ten responses; the formulas worked out by hand."""
    found = cell([1, 2], [1, 3, 4], [1, 3, 4], [1, 4], [1], [1], [1], [1], [1], [1])
    assert found.items.tolist() == [1, 2, 3, 4]
    assert found.unique.tolist() == [False, True, False, False]
    assert found.unseen == math.ceil(9 / 10 * 1 / 2)  # Chao2
    deficit = 1 / 10 * (1 - 2 / (9 + 2))
    assert found.unseen_chance == pytest.approx(1 - (1 - deficit) ** 10)
    missed = [0.1 * 0.9**10, 0.2 * 0.8**10, 0.3 * 0.7**10]
    assert deficit / sum(missed) > 1  # so that each chance is lowered by all of it
    for number, share in enumerate((0.1, 0.2, 0.3), start=1):
        lowered = share * (1 - (1 - share) ** 10)
        assert found.chance[number] == pytest.approx(1 - (1 - lowered) ** 10)
    assert found.chance[0] == 1


def test_items_that_come_together_widen_the_interval() -> None:
    apart, together = cell([1], [2], [3], [4], []), cell([1, 2, 3, 4], [], [], [], [])
    ones = np.ones(4)
    assert bundling([(apart, ones)]) == 1
    assert bundling([(together, ones)]) == pytest.approx((16 - 16 / 5) / (4 * 4 / 5))
    assert diversity_estimate(together).distances(Z)[0] > 1.9 * diversity_estimate(apart).distances(Z)[0]


def test_a_cell_without_items_has_a_diversity_of_nought_and_no_consensus_with_its_like() -> None:
    nothing = cell(*[[]] * 50)
    assert diversity_estimate(nothing).limits(0, 3) == (0, 3)
    assert overlap(nothing, nothing) is None
    one_sided = overlap(nothing, cell(*[[1]] * 50))
    assert one_sided is not None
    assert one_sided.value == 0


RESPONSES = ([1, 2], [1, 3, 4], [1, 3], [1, 4, 5], [1, 5, 6])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_the_saturation_curve_is_the_mean_over_all_draws(size: int) -> None:
    drawn = [len(set().union(*some)) for some in combinations(RESPONSES, size)]
    assert items_in(cell(*RESPONSES), size).value == pytest.approx(np.mean(drawn))


def test_companions_have_the_jackknife_that_leaves_out_each_response() -> None:
    def plain(responses: Sequence[list[int]]) -> tuple[float, float, float]:
        counts = np.unique(np.concatenate(responses), return_counts=True)[1]
        share = counts / counts.sum()
        drawn = [len(set().union(*some)) for some in combinations(responses, 3)]
        return math.exp(-(share * np.log(share)).sum()), 1 / (share**2).sum(), float(np.mean(drawn))

    whole, left = plain(RESPONSES), [plain(RESPONSES[:k] + RESPONSES[k + 1 :]) for k in range(5)]
    found = companions(cell(*RESPONSES), 3) | {"rarefied": expected_items(cell(*RESPONSES).incidence, 3)}
    for number, metric in enumerate(("hill_1", "hill_2", "rarefied")):
        without = np.array([one[number] for one in left])
        changes = np.sort(without.mean() - without)
        another = 3 * changes[-1] - 2 * changes[-2]  # beyond the largest by twice its distance from the second
        variance = 4 / 5 * (changes**2).sum() + another**2
        assert found[metric].value == pytest.approx(whole[number])
        below, above = found[metric].distances(Z)
        assert below == pytest.approx(Z * math.sqrt(variance))
        assert above > below  # there may be items that none of the five names


def test_coverage_of_fewer_responses_is_the_mean_over_all_draws() -> None:
    """The share of the other responses' mentions that fall on what was drawn (Chao and Jost 2012, equation 4a)."""
    found = cell(*RESPONSES).incidence
    for size in (1, 2, 3, 4):
        shares = []
        for some in combinations(RESPONSES, size):
            drawn, others = set().union(*some), [one for one in RESPONSES if one not in some]
            shares += [(len(drawn & set(one)), len(one)) for one in others]
        covered, mentions = np.sum(shares, axis=0)
        assert coverage_in(found, size) == pytest.approx(covered / mentions)


@pytest.mark.parametrize("size", [5, 14, 23, 24, 30, 48])
def test_items_at_a_coverage_have_the_jackknife_that_leaves_out_each_response(size: int) -> None:
    random = np.random.default_rng(1)
    responses = [sorted(set((random.zipf(1.5, 3) % 50).tolist())) for _ in range(24)]
    whole = cell(*responses).incidence
    coverage = coverage_in(whole, size)
    found = items_at_coverage(whole, coverage)
    if size < 24:
        assert found.value == pytest.approx(items_in(cell(*responses), size).value)
    left = [items_at_coverage(cell(*responses[:k], *responses[k + 1 :]).incidence, coverage).value for k in range(24)]
    changes = np.sort(np.mean(left) - np.array(left))
    another = 3 * changes[-1] - 2 * changes[-2]
    spread = math.sqrt(23 / 24 * float((changes**2).sum()) + another**2)
    below, above = found.distances(Z)
    assert below == pytest.approx(found.value * (1 - math.exp(-Z * spread / found.value)), rel=0.2)  # to first order
    assert above > below
    once, twice, repeated = (int((whole.counts == 1).sum()), int((whole.counts == 2).sum()), (whole.counts > 1).sum())
    hardly = repeated < 15 or twice < 5 < once or coverage > coverage_in(whole, 48)
    assert found.withheld() == ("few items" if hardly else None)


def test_a_cell_without_items_has_a_flat_curve_and_no_hill_numbers() -> None:
    found = companions(cell(*[[]] * 50), 2)
    assert set(found) == {"rarefied"}
    assert found["rarefied"].value == 0
    low, high = found["rarefied"].limits(0, 9)
    assert low == 0
    assert 2 * 3.7 / 50 < (high or 0) < 0.2  # 3.7 items more in 50 responses would all be missed in 2.5 %


@pytest.mark.parametrize("items", [[], [1], [1, 2, 3]])
def test_responses_that_name_the_same_items_leave_room_for_rare_ones(items: list[int]) -> None:
    """No item in none of many responses: up to 3.84 rare ones may be expected (Wilson's limit of 0 of many)."""
    low, high = diversity_estimate(cell(*[items] * 2_000)).limits(0, math.inf)
    assert low == len(items)
    assert high == pytest.approx(len(items) + Z**2, abs=0.02)


def test_consensus_is_symmetric_and_its_sides_change_with_the_cells() -> None:
    one = cell(*[[1, 2], [2, 3], [3, 9]] * 3, [4])
    other = cell(*[[3], [3, 5], [5, 6], [1]] * 3, [1, 7])
    forth, back = overlap(one, other), overlap(other, one)
    assert forth is not None
    assert back is not None
    assert forth.value == back.value == 2 / 8  # 1 and 3 of 1 to 7 and 9
    spread = [[float(side.deviations @ side.deviations) for side in pair.sides] for pair in (forth, back)]
    assert spread[0] == pytest.approx(spread[1][::-1])
    assert forth.estimate().variance == pytest.approx(back.estimate().variance)
    low, high = forth.estimate().limits(0, 1)
    assert low is not None
    assert high is not None
    assert low < forth.value < high


def test_languages_that_say_the_same_are_as_sure_together_as_each_pair() -> None:
    """Were the pairs taken as independent, three would be surer than one; they are the same responses, told thrice."""
    responses = ([1, 2], [2, 3], [3, 9], [4])
    cells = {language: cell(*responses) for language in "abc"}
    pairs = [(a, b, pair) for a, b in combinations(cells, 2) if (pair := overlap(cells[a], cells[b]))]
    alone, together = pairs[0][2].estimate(), Overlaps(pairs).mean()
    assert together.value == alone.value == 1
    assert Overlaps(pairs[:1]).mean() == alone
    assert sum(together.distances(Z)) > sum(alone.distances(Z)) / math.sqrt(3)


def test_coverage_has_estys_variance_with_what_comes_together() -> None:
    """Seven mentions: 1 in three responses; 2 and 3 both in the first two; and none, or one, of its own in the last."""
    alone = coverage_estimate(cell([1, 2, 3], [1, 2, 3], [1]).incidence)
    assert alone.value == 1
    assert 0.4 < alone.distances(Z)[0] < 1
    found = coverage_estimate(cell([1, 2, 3], [1, 2, 3], [1, 4]).incidence)
    assert found.value == pytest.approx(1 - 1 / 8 * (2 * 1 / (2 * 1 + 2 * 2)))
    spread = 2 * (0 - 3 / 8) ** 2 + (1 - 2 / 8) ** 2  # of the unique mentions, over responses
    spread += (3 * 6 / 8 + 2 * 3 / 8) ** 2  # one response more
    whole, repeated = (spread + 1) / (1 * (1 - 1 / 8) + 1), (2 * 2**2 + 2) / (7 + 2)
    value = found.value
    variance, slope = (whole * (1 - value) + repeated) * value / 8, (whole * (1 - 2 * value) + repeated) / 8
    (below, above), plain = found.distances(Z), Estimate(value, variance, 2, slope, whole / 8).distances(Z)
    assert above == pytest.approx(plain[1])
    assert plain[0] < below < plain[0] + 1 / 8  # corrected for continuity
    nothing_twice = coverage_estimate(cell([1], [2], [3]).incidence)
    assert nothing_twice.distances(Z)[1] > 0.6


def test_a_consensus_of_items_seen_many_times_leaves_room_for_rare_ones_and_of_a_handful_has_no_interval() -> None:
    def limits(shared: int, own: int) -> tuple[float | None, float | None]:
        both, here, there = range(shared), range(100, 100 + own), range(200, 200 + own)
        pair = overlap(cell(*[[*both, *here]] * 40), cell(*[[*both, *there]] * 40))
        assert pair is not None
        assert pair.value == shared / (shared + 2 * own)
        return pair.estimate().limits(0, 1)

    assert limits(2, 1) == (None, None)
    (low, high), (lower, higher) = limits(4, 1), limits(40, 10)
    assert 0 < low < lower < 4 / 6 < higher < high < 1
    assert higher - lower < 0.15 < high - low  # sixty items, and one that may be rare, say more than six


def test_a_mean_has_an_interval_where_no_more_than_half_of_its_parts_have_few_items() -> None:
    known = coverage_estimate(cell(*[[1, 2, number] for number in range(3, 13)]).incidence)
    few = coverage_estimate(cell([1, 2], [1, 2], [1]).incidence)
    assert (known.withheld(), few.withheld()) == (None, "few items")
    assert mean([known, few]).limits(0, 1) != (None, None)
    assert mean([known, few, few]).withheld() == "few items"


def test_a_curve_is_as_uncertain_as_a_rare_item() -> None:
    """Three items in all of 70 responses, and one in nine of them, which half of the responses hardly ever miss."""
    some = cell(*[[1, 2, 3]] * 61, *[[1, 2, 3, 4]] * 9)
    for size in (1, 20, 69):
        found, alone = items_in(some, size), expected_items(some.incidence, size)
        assert found.variance >= alone.variance + (size / 70) ** 2
        assert found.distances(Z)[1] > alone.distances(Z)[1]
    assert items_in(some, 69).limits(0, 9) == pytest.approx(items_in(some, 70).limits(0, 9), abs=3)
    assert items_in(some, 70) == diversity_estimate(some)


def test_many_responses_that_name_nothing_leave_little_room_in_one() -> None:
    assert 3 / 300 < (items_in(cell(*[[]] * 300), 1).limits(0, math.inf)[1] or 0) < 5 / 300


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    small = LargeRun(models=("m", "n"), languages=("de", "en", "ja"), countries=("IT", "JP"), n=60, items=60)
    run = small.write(tmp_path_factory.mktemp("large"))
    measure(run)
    return run


def test_every_number_of_the_views_has_an_interval_around_it(run: RunFolder) -> None:
    with open_store(run, store_layout()) as store:
        columns = "estimate, low, high, no_interval, method_of_interval"
        rows = store.sql(f"SELECT {columns} FROM numbers WHERE estimate IS NOT NULL").fetchall()
        around = [low - 1e-9 <= estimate <= high + 1e-9 for estimate, low, high, why, _ in rows if not why]
        assert all(around)
        assert all(method for *_, method in rows)
        assert not store.sql("FROM numbers WHERE no_interval IS NOT NULL").fetchall()


def test_a_number_is_found_by_its_key_and_a_cell_s_is_that_of_the_view(run: RunFolder) -> None:
    key = "metric, level, model, dataset, language, country, topic, condition, wording, method, reader, facets"
    with open_store(run, store_layout()) as store:
        twice = store.sql(f"SELECT {key} FROM numbers GROUP BY ALL HAVING count(*) > 1").fetchall()
        empty = store.sql(f"SELECT 1 FROM numbers WHERE columns([{', '.join(map(repr, key.split(', ')))}]) IS NULL")
        unlike = store.sql("""
            SELECT v.*
            FROM cell_values AS v
            LEFT JOIN (FROM numbers WHERE level = 'cell') AS n
                ON v.metric = n.metric AND v.model = n.model AND v.language = n.language AND v.topic = n.topic
                AND v.condition = n.condition AND coalesce(v.country, 'none') = n.country AND v.wording = n.wording
                AND v.other_language IS NOT DISTINCT FROM n.facets['other_language']
            WHERE n.metric IS NULL OR v.estimate IS DISTINCT FROM n.estimate
        """).fetchall()
        assert (twice, empty.fetchall(), unlike) == ([], [], [])


def test_every_point_of_every_curve_has_an_interval_around_it_and_the_last_is_the_cell(run: RunFolder) -> None:
    with open_store(run, store_layout()) as store:
        rows = store.sql("SELECT responses, entities, coverage, low, high FROM saturation").fetchall()
        last = """
            SELECT s.entities = d.diversity, s.coverage, o.coverage
            FROM saturation AS s
            INNER JOIN diversity AS d USING (model, language, topic, condition, responses)
            INNER JOIN diversity_companions AS o USING (model, language, topic, condition, responses)
            WHERE s.country IS NOT DISTINCT FROM d.country AND s.country IS NOT DISTINCT FROM o.country
        """
        ends = store.sql(last).fetchall()
        cells = store.sql("SELECT count(*) FROM cells").fetchall()[0][0]
    assert len(rows) == 7 * cells  # 1, 2, 5, 10, 20, 50 and 60 responses
    assert all(
        low - 1e-9 <= entities <= high + 1e-9 and 0 <= coverage <= 1 for _, entities, coverage, low, high in rows
    )
    assert len(ends) == cells
    assert all(same and one == other for same, one, other in ends)


def test_cells_of_nine_responses_have_numbers_and_the_reason_why_there_is_no_interval(tmp_path: Path) -> None:
    run = LargeRun(models=("m",), languages=("de", "en"), countries=("IT",), n=9, items=60).write(tmp_path)
    measure(run)
    with open_store(run, store_layout()) as store:
        reasons = "SELECT no_interval, count(low), count(high) FROM numbers WHERE estimate IS NOT NULL GROUP BY ALL"
        assert store.sql(reasons).fetchall() == [("few responses", 0, 0)]
        metrics = store.sql("SELECT count(DISTINCT metric) FROM numbers WHERE estimate IS NOT NULL").fetchall()
        assert metrics[0][0] >= 11
        curves = store.sql("SELECT count(*) > 0, count(low), count(high) FROM saturation").fetchall()
    assert curves == [(True, 0, 0)]


def test_views_that_are_kept_say_what_they_say_when_they_are_not(run: RunFolder) -> None:
    def answers(keep: Sequence[str]) -> dict[str, list[Any]]:
        with open_store(run, METRICS, keep) as store:
            names = [row[0] for row in store.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]
            return {name: _rounded(store.sql(f"SELECT * FROM {name}").fetchall()) for name in names}

    plain, kept = answers(()), answers(KEPT)
    assert set(KEPT) < set(plain)
    for name in plain:
        assert plain[name] == kept[name], name


def test_the_same_store_gives_the_same_intervals_and_is_not_measured_twice(run: RunFolder, tmp_path: Path) -> None:
    path = measure_file(run, NUMBERS, "entities")
    before, stamp = path.read_bytes(), path.stat().st_mtime_ns
    again = measure(run)
    assert again == Outcome(done=again.done, failed=0, reused=again.done)
    assert path.stat().st_mtime_ns == stamp
    path.unlink()
    assert measure(run) == Outcome(done=again.done, failed=0)
    assert pq.read_table(path).equals(pq.read_table(_written(before, tmp_path)))


def test_another_store_is_measured_again(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    builder.answer(builder.ask("en", "food", "JP"), ["sushi"])
    builder.link("sushi", "Q1")
    run = builder.write()
    first = measure(run)
    assert first.reused == 0
    os.utime(run.table("prompts"))  # written again by every command
    assert measure(run).reused == first.done
    builder.entity("Q1", JP="P495")
    builder.write()
    assert measure(run).reused == 0
    with open_store(run, store_layout()) as store:
        found = store.sql(
            "SELECT estimate, low FROM numbers WHERE level = 'cell' AND metric = 'specificity'"
        ).fetchall()
    assert found[0][0] == 1.0


def test_a_number_of_data_that_has_changed_since_is_not_shown(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    prompt = builder.ask("en", "food", "JP")
    for sample in range(10):
        builder.answer(prompt, ["sushi"], sample=sample)
    builder.link("sushi", "Q1")
    run = builder.write()
    measure(run)
    query = "SELECT estimate, low FROM numbers WHERE level = 'cell' AND metric = 'granularity'"
    with open_store(run, store_layout()) as store:
        assert store.sql(query).fetchall()[0][1] is not None
    for sample in range(10, 20):
        builder.answer(prompt, [{"surface": "sushi", "granularity": 0}], sample=sample)
    builder.folder = tmp_path / "run2"
    changed = builder.write()
    measure_file(changed, NUMBERS, "entities").parent.mkdir()
    measure_file(run, NUMBERS, "entities").rename(measure_file(changed, NUMBERS, "entities"))
    with open_store(changed, store_layout()) as store:
        assert store.sql(query).fetchall() == []
        assert store.sql("FROM stale_measures").fetchall() == [("entities",)]
    measure(changed)
    with open_store(changed, store_layout()) as store:
        assert store.sql(query).fetchall()[0][0] == 0.5
        assert store.sql("FROM stale_measures").fetchall() == []


def test_the_numbers_of_a_copied_run_are_those_of_its_data(run: RunFolder, tmp_path: Path) -> None:
    copied = RunFolder(shutil.copytree(run.root, tmp_path / "copied", copy_function=shutil.copyfile))
    with open_store(run, store_layout()) as store, open_store(copied, store_layout()) as other:
        counts = [each.sql("SELECT count(*) FROM numbers").fetchall() for each in (store, other)]
    assert counts[0] == counts[1] != [(0,)]


def test_an_interval_of_fewer_responses_is_not_shown_where_the_number_is_the_same(tmp_path: Path) -> None:
    """Half of the mentions are of Japan, three quarters specific, of two items: in 60 responses as in 90."""
    builder = StoreBuilder(tmp_path / "run", countries=("JP",))
    prompts = [builder.ask("en", country=country) for country in ("JP", None)]

    def answer(responses: int) -> RunFolder:
        for table in ("responses", "extractions", "mentions"):
            builder.rows[table] = []
        for prompt in prompts:
            for sample in range(responses):
                mentions = [{"surface": "sushi", "granularity": sample % 2}, {"surface": "pizza", "granularity": 1}]
                builder.answer(prompt, mentions, sample=sample)
        return builder.write()

    def shown(run: RunFolder) -> list[int]:
        """How many intervals there are of cells, of means, and of curves."""
        with open_store(run, store_layout()) as store:
            query = "SELECT count(low) FROM {}"
            asked = ("numbers WHERE level = 'cell'", "numbers WHERE level <> 'cell'", "saturation")
            return [store.sql(query.format(one)).fetchall()[0][0] for one in asked]

    builder.link("sushi", "Q1")
    builder.link("pizza", "Q2")
    builder.entity("Q1", JP="P495")
    builder.entity("Q2")
    run = answer(60)
    measure(run)
    before = shown(run)
    assert all(before)
    builder.folder = tmp_path / "later"
    later = answer(90)
    run.table("saturation_intervals").rename(later.table("saturation_intervals"))
    measure_file(run, NUMBERS, "entities").parent.rename(measure_file(later, NUMBERS, "entities").parent)
    assert shown(later) == [0, 0, 0]
    measure(later)
    assert all(shown(later))


def test_a_run_with_nothing_in_it_is_measured_and_one_that_is_none_is_refused(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run")
    builder.ask("en", "food", "JP")
    assert measure(builder.write()) == Outcome(0, 0)
    with pytest.raises(StoreError, match="holds no run"):
        measure(RunFolder(tmp_path / "elsewhere"))


def _rounded(rows: list[Any]) -> list[Any]:
    """Without the last digits, which hang on the order in which threads add up; in an order of their own."""
    return sorted((tuple(round(v, 9) if isinstance(v, float) else v for v in row) for row in rows), key=str)


def _written(data: bytes, folder: Path) -> Path:
    path = folder / "before.parquet"
    path.write_bytes(data)
    return path


def test_the_mean_of_a_share_of_nothing_and_a_share_of_all_is_in_doubt() -> None:
    """Their slopes are opposite: added up, they had left an interval without width."""
    for n in (1, 10):
        low, high = mean([wilson(0.0, n, math.inf), wilson(1.0, n, math.inf)]).limits(0.0, 1.0)
        assert low is not None
        assert high is not None
        assert high - 0.5 == pytest.approx(0.5 - low)
        one_cell = wilson(0.0, n, math.inf).limits(0.0, 1.0)[1]
        assert one_cell is not None
        assert high - low > one_cell / 2


def test_means_of_cells_near_nothing_and_near_all_cover_the_truth() -> None:
    random, worlds = np.random.default_rng(5), 1_000
    for shares in ((0.05, 0.95), (0.2, 0.8)):
        covered = 0
        for _ in range(worlds):
            low, high = mean([wilson(random.binomial(30, share) / 30, 30, math.inf) for share in shares]).limits(0, 1)
            assert low is not None
            assert high is not None
            covered += low <= 0.5 <= high
        assert covered >= 930
