"""How far numbers could go, were all mentions linked: against every way to link them, in small cells."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.metrics.comparison.compare import NATIVE, ComparisonRow, Sides, compare, lay_out_native
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder

COUNTRIES = ("DE", "ES", "GB", "IN", "IT", "JP", "KR", "MX")
OF_JAPAN = ("Q1", "Q3")
SUSHI, PIZZA = [f"sushi {number}" for number in range(9)], [f"pizza {number}" for number in range(4)]
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


def bounds(root: Path, metric: str) -> dict[tuple[str, str], tuple[float, float, float]]:
    query = "SELECT language, country, lowest, estimate, highest FROM cell_bounds WHERE metric = ?"
    with open_store(RunFolder(root), store_layout()) as store:
        return {(row[0], row[1]): row[2:] for row in store.execute(query, [metric]).fetchall()}


def test_specificity_and_diversity(cells: tuple[dict[tuple[str, str], Cell], Path]) -> None:
    drawn, root = cells
    share, count = bounds(root, "specificity"), bounds(root, "diversity")
    granularity = bounds(root, "granularity")
    for place, (linked, unlinked) in drawn.items():
        own = sum(qid in OF_JAPAN for qid in set(linked)) / len(set(linked))
        surfaces = sorted(set(unlinked))
        shares, counts = [], []
        own_too = (*OF_JAPAN, "of Japan", "of Japan, too")
        for items in product([*own_too, "Q2", "Q4", "new", "newer"], repeat=len(surfaces)):
            became = dict(zip(surfaces, items, strict=True))
            whole = {*linked, *(became[surface] for surface in unlinked)}
            shares.append(sum(qid in own_too for qid in whole) / len(whole))
            counts.append(len(whole))
        assert share[place] == pytest.approx((min(shares), own, max(shares)))
        assert count[place] == (min(counts), len(set(linked)), max(counts))
        assert granularity[place] == (1, 1, 1)


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


Labelled = tuple[str, int]  # a surface and its label
KNOWN = ("Q1", "Q2")
UNKNOWN: tuple[Labelled, ...] = (("rivals", 1), ("nobody", 0), ("none", 1))


def granularity_of(responses: list[list[Labelled]], became: dict[str, str]) -> float | None:
    """The mean label of items, each once per response; surfaces without an item are left out."""
    labels: dict[tuple[int, str], list[int]] = {}
    for number, mentions in enumerate(responses):
        for surface, label in mentions:
            if surface in became:
                labels.setdefault((number, became[surface]), []).append(label)
    return float(np.mean([np.mean(own) for own in labels.values()])) if labels else None


def test_no_way_to_link_what_is_unlinked_leaves_the_bounds_of_granularity(tmp_path: Path) -> None:
    """Responses that repeat items and surfaces, items with both labels: every assignment of three surfaces to items."""
    random = np.random.default_rng(8)
    built = StoreBuilder(tmp_path, countries=COUNTRIES, n=3)
    drawn: dict[tuple[str, str], list[list[Labelled]]] = {}
    for language, country in product(("de", "en", "ja"), COUNTRIES):
        prompt = built.ask(language, country=country)
        choices = [*product(KNOWN, (0, 1)), *UNKNOWN]
        for sample in range(3):
            said = [choices[k] for k in random.integers(0, len(choices), random.integers(0, 5))]
            drawn.setdefault((language, country), []).append(said)
            built.answer(prompt, [{"surface": one, "granularity": label} for one, label in said], sample=sample)
    for qid in KNOWN:
        built.link(qid, qid)
    built.link("rivals", "Q2", "ambiguous")
    built.link("nobody")
    found = bounds(built.write().root, "granularity")
    attained = 0
    for place, responses in drawn.items():
        lowest, estimate, highest = found[place]
        now = granularity_of(responses, dict(zip(KNOWN, KNOWN, strict=True)))
        if now is None:
            assert (lowest, estimate, highest) == (None, None, None)
            continue
        surfaces = (*KNOWN, *(surface for surface, _ in UNKNOWN))
        every = [
            granularity_of(responses, dict(zip(surfaces, (*KNOWN, *items), strict=True))) or 0.0
            for items in product([*KNOWN, "new", "newer", "newest"], repeat=len(UNKNOWN))
        ]
        assert estimate == pytest.approx(now)
        assert 0 <= lowest <= min(every) + 1e-9
        assert 1 >= highest >= max(every) - 1e-9
        attained += highest == pytest.approx(max(every))
    assert attained >= 5  # the bounds are not merely 0 and 1


def test_consensus(cells: tuple[dict[tuple[str, str], Cell], Path]) -> None:
    drawn, root = cells
    found = bounds(root, "consensus")
    for country in COUNTRIES:
        sides = [drawn[language, country] for language in ("de", "en")]
        surfaces = [(side, surface) for side, (_, unlinked) in enumerate(sides) for surface in sorted(set(unlinked))]
        overlaps = []
        for items in product(["Q1", "Q2", "Q3", "Q4", "a", "b", "c", "d"], repeat=len(surfaces)):
            sets = [set(linked) for linked, _ in sides]
            for (side, _), qid in zip(surfaces, items, strict=True):
                sets[side].add(qid)
            overlaps.append(len(sets[0] & sets[1]) / len(sets[0] | sets[1]))
        now = len(set(sides[0][0]) & set(sides[1][0])) / len(set(sides[0][0]) | set(sides[1][0]))
        assert found["de", country] == pytest.approx((min(overlaps), now, max(overlaps)))


def rows_of(run: RunFolder, sides: Sides) -> dict[tuple[str, ...], ComparisonRow]:
    with open_store(run, store_layout()) as store:
        lay_out_native(store, [("ja", "JP")])
        return {(row.metric, row.group.get("condition", "")): row for row in compare(store, sides)}


def test_a_difference_between_languages_keeps_its_sign_or_may_turn(tmp_path: Path) -> None:
    """For Japan ten items, nine and eight of them linked; all and a half of them belong there. Neutral: none does."""
    built = StoreBuilder(tmp_path, models=("one", "two"), countries=("JP", "IT"), n=1)
    said = {
        ("ja", "JP"): [*SUSHI, "x"],
        ("en", "JP"): [*SUSHI[:4], *PIZZA, "x", "y"],
        ("ja", None): PIZZA[:1],
        ("en", None): PIZZA[:1],
    }
    for (language, country), mentions in said.items():
        prompt = built.ask(language, country=country)
        for model in ("one", "two"):
            built.answer(prompt, mentions, model=model, sample=0)
    for number, surface in enumerate((*SUSHI, *PIZZA), start=1):
        built.link(surface, f"Q{number}")
        built.entity(f"Q{number}", **{"JP" if surface in SUSHI else "IT": "P495"})
    built.link("x")
    built.link("y")
    run = built.write()
    for sides in (Sides("language", "ja", "en"), NATIVE):
        found = rows_of(run, sides)
        specificity = found["specificity", "explicit"]
        assert specificity.effect
        assert specificity.effect.difference == 0.5
        assert specificity.bounds == pytest.approx((0.9 - 0.6, 1.0 - 0.4))
        assert specificity.keeps_sign is True
        assert found["specificity_gain", "explicit"].bounds == pytest.approx((0.3, 0.6))
        diversity = found["diversity", ""]
        assert diversity.keeps_sign is False  # 9 to 10, and 8 to 10
        assert found["granularity", ""].keeps_sign is None  # no difference
    models = rows_of(run, Sides("model", "one", "two"))
    assert {row.bounds for row in models.values()} == {None}
