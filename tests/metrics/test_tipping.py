"""The tipping point: how much of what is unlinked would turn a difference, against every way to link it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.comparison.columns import ComparedRun, columns_of
from polyculture.metrics.comparison.compare import Terms, compare
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.comparison.tipping import moves_of, tipping_point
from polyculture.metrics.declared import METRICS
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder

COUNTRIES = ("DE", "ES", "GB", "IN", "IT", "JP", "KR", "MX")
OF_JAPAN = ("Q1", "Q3")
Cell = tuple[list[str], list[str]]  # linked items, each as often as it is mentioned; unlinked surfaces likewise


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[tuple[str, str], Cell], Path]:
    """For each language and country a few mentions of four items, and a few that are unlinked for any reason."""
    random = np.random.default_rng(4)
    built = StoreBuilder(tmp_path_factory.mktemp("bounds"), countries=COUNTRIES, n=1)
    drawn: dict[tuple[str, str], Cell] = {}
    for language, country in product(("de", "en"), COUNTRIES):
        linked = random.choice(["Q1", "Q2", "Q3", "Q4"], random.integers(1, 5)).tolist()
        unlinked = random.choice(["rivals", "nobody"], random.integers(0, 3), replace=False).tolist()
        drawn[language, country] = (linked, unlinked)
        built.answer(built.ask(language, country=country), [*linked, *unlinked], sample=0)
    for qid in ("Q1", "Q2", "Q3", "Q4"):
        built.link(qid, qid)
        built.entity(qid, **dict.fromkeys(COUNTRIES, "P495") if qid in OF_JAPAN else {})
    built.link("rivals", "Q2", "ambiguous")
    built.link("nobody")
    return drawn, built.write().root


def contributed(root: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """By language and country: the numerator and the denominator of the share of Japan's items."""
    with open_store(RunFolder(root), METRICS_LAYOUT, KEPT) as store:
        rows = store.sql("""
            SELECT c.language, s.country, sum(numerator)::BIGINT, sum(denominator)::BIGINT
            FROM country_contributions AS s INNER JOIN numbered_cells AS c USING (cell) GROUP BY ALL
        """).fetchall()
    return {(language, country): (top, bottom) for language, country, top, bottom in rows}


def farthest(root: Path, metric: str) -> dict[tuple[str, str], tuple[float, float]]:
    """By language and country: the numbers were all that is unlinked linked against them, and for them."""
    with open_store(RunFolder(root), METRICS_LAYOUT, KEPT) as store:
        run = ComparedRun(store)
        columns = columns_of([run], metric, [run.reader.models])
        moved = moves_of(METRICS[metric])
        assert moved is not None
        low, high = (moved(columns.parts, columns.doubts, up) for up in (-1, 1))
    places = [(place.language, place.country) for place, _ in columns.places]
    return {place: (float(low[at]), float(high[at])) for at, place in enumerate(places)}


def test_shares_and_counts_go_as_far_as_the_worst_and_the_best_way_to_link(
    cells: tuple[dict[tuple[str, str], Cell], Path],
) -> None:
    drawn, root = cells
    share, count, named = farthest(root, "specificity"), farthest(root, "diversity"), contributed(root)
    for place, (top, bottom) in named.items():
        linked, unlinked = drawn[place]
        surfaces = sorted(set(unlinked))
        shares, counts = [], []
        own_too = (*OF_JAPAN, "of Japan", "of Japan, too")
        for items in product([*own_too, "Q2", "Q4", "new", "newer"], repeat=len(surfaces)):
            more = {*items} - {*linked}
            shares.append((top + sum(qid in own_too for qid in more)) / (bottom + len(more)))
            counts.append(len({*linked, *items}))
        assert share[place] == pytest.approx((min(shares), max(shares)))
        assert count[place] == (len(set(linked)), max(counts))


def test_consensus_goes_no_less_far_than_the_worst_and_the_best_way_to_link(
    cells: tuple[dict[tuple[str, str], Cell], Path],
) -> None:
    drawn, root = cells
    found = farthest(root, "consensus")
    for country in COUNTRIES:
        sides = [drawn[language, country] for language in ("de", "en")]
        surfaces = [(side, surface) for side, (_, unlinked) in enumerate(sides) for surface in sorted(set(unlinked))]
        overlaps = []
        for items in product(["Q1", "Q2", "Q3", "Q4", "a", "b", "c", "d"], repeat=len(surfaces)):
            sets = [set(linked) for linked, _ in sides]
            for (side, _), qid in zip(surfaces, items, strict=True):
                sets[side].add(qid)
            overlaps.append(len(sets[0] & sets[1]) / len(sets[0] | sets[1]))
        assert found["de", country][0] == pytest.approx(min(overlaps))
        assert found["de", country][1] >= max(overlaps) - 1e-9


@pytest.mark.parametrize(("unlinked", "expected"), [(0, None), (1, None), (30, 20 / 30)])
def test_the_difference_is_nought_at_the_tipping_point(unlinked: int, expected: float | None) -> None:
    """12 of 20 specific against 6 of 20: with 20 general mentions more, 12 of 40 against 6 of 20."""
    doubts = np.zeros((6, 2))
    doubts[0, 0] = unlinked  # all of them general, all of the first side
    parts = np.array([[12.0, 6.0], [20.0, 20.0]])
    found = tipping_point("granularity", parts, doubts, np.array([1.0, -1.0]))
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-6))
    assert tipping_point("granularity", parts, doubts[:, ::-1], np.array([-1.0, 1.0])) is None


def test_a_comparison_says_what_would_turn_it(tmp_path: Path) -> None:
    """Ten things each, all linked of one model and five of the other: it takes all five to be as many."""
    built = StoreBuilder(tmp_path, models=("one", "two"), countries=("JP",), n=1)
    prompt = built.ask("en", country="JP")
    things = [f"thing {number}" for number in range(10)]
    built.answer(prompt, things[:8], model="one", sample=0)
    built.answer(prompt, [*things[:5], *(f"x{number}" for number in range(6))], model="two", sample=0)
    for number, surface in enumerate(things, start=1):
        built.link(surface, f"Q{number}")
    for number in range(6):
        built.link(f"x{number}")
    terms = Terms(metrics=("diversity",), targets=("same_prompts",), selections=("all",))
    with open_store(built.write(), METRICS_LAYOUT, KEPT) as store:
        [row] = compare([ComparedRun(store)], [Sides("model", "one", "two")], terms)
    assert (row.difference.difference, row.difference.tipping) == (3, pytest.approx(0.5))


def test_doubts_count_a_surface_once_in_each_response(tmp_path: Path) -> None:
    """Six unlinked mentions, two of them of one surface in one response: five incidences of four surfaces."""
    built = StoreBuilder(tmp_path, n=2)
    prompt, quiet = built.ask("en", country="JP"), built.ask("en", country="IT")
    general = {"surface": "rivals", "granularity": 0}
    built.answer(prompt, ["Q1", "rivals", general, "nobody", "awaited", {"surface": "nobody", "hallucinated": True}])
    built.answer(prompt, [general, {"surface": "elsewhere", "granularity": 0}, {"surface": "x", "counted": False}])
    built.answer(quiet, ["Q1"])
    built.link("Q1", "Q1")
    built.link("rivals", "Q2", "ambiguous")
    built.link("nobody")
    built.link("elsewhere", None, "no path")
    with open_store(built.write(), store_layout()) as store:
        columns = "country, unlinked, unlinked_specific, unlinked_surfaces"
        rows = store.sql(f"SELECT {columns} FROM cell_doubts ORDER BY country").fetchall()
    assert rows == [("IT", 0, 0.0, 0), ("JP", 5, 2.5, 4)]
