"""Wordings as a factor: one wording is the number of its cell; several are averaged, each with the same weight."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import Store, open_store
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.metrics.wording_runs import build
from tests.store_builder import StoreBuilder

OVER_WORDINGS = "model, language, topic, condition, country"
PAIRS_OVER_WORDINGS = "model, language, other_language, topic, condition, country"
THREE = ("paragraph", "scene", "letter")
CELLS = "SELECT *, facets['other_language'] AS other_language FROM numbers WHERE level = 'cell'"
MEANS = CELLS.replace("= 'cell'", "<> 'cell'")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    run = build(tmp_path_factory.mktemp("one"))
    measure(run)
    return run


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    run = build(tmp_path_factory.mktemp("three"), THREE, names=2)
    measure(run)
    return run


def _rows(store: Store, query: str) -> list[dict[str, Any]]:
    found = store.sql(query)
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    names = ("level", "metric", "model", "language", "other_language", "topic", "condition", "country")
    return tuple("" if row[name] in (None, "*", "-", "none") else row[name] for name in names)


def test_the_mean_over_one_wording_is_its_cell_with_its_interval(one: RunFolder) -> None:
    columns = "metric, model, language, facets, topic, condition, country, estimate, low, high, no_interval, units, n"
    with open_store(one, store_layout()) as store:
        cells = store.sql(f"SELECT {columns} FROM numbers WHERE level = 'cell' ORDER BY ALL").fetchall()
        means = f"FROM numbers WHERE level IN ('{OVER_WORDINGS}', '{PAIRS_OVER_WORDINGS}')"
        assert store.sql(f"SELECT {columns} {means} ORDER BY ALL").fetchall() == cells


def test_names_of_a_wording_stand_in_its_cell(three: RunFolder) -> None:
    with open_store(three, store_layout()) as store:
        rows = store.sql(
            "SELECT condition, prompts, count(*), count(DISTINCT wording) FROM cells GROUP BY ALL ORDER BY ALL"
        )
        assert rows.fetchall() == [("explicit", 1, 24, 3), ("implicit_male", 2, 12, 3), ("neutral", 1, 12, 3)]


def test_every_level_is_the_mean_over_cells_and_so_over_wordings(three: RunFolder) -> None:
    with open_store(three, store_layout()) as store:
        cells = _rows(store, CELLS)
        means = {_key(row): row for row in _rows(store, MEANS)}
    of_one = [
        row
        for row in cells
        if (row["metric"], row["language"], row["topic"], row["country"]) == ("diversity", "en", "food", "JP")
    ]
    assert {row["wording"] for row in of_one} == set(THREE)
    found = means[OVER_WORDINGS, "diversity", "m", "en", "", "food", "explicit", "JP"]
    assert found["estimate"] == pytest.approx(statistics.mean(row["estimate"] for row in of_one))
    assert (found["cells"], found["units"]) == (3, 180)
    assert found["low"] < found["estimate"] < found["high"]
    whole = [row["estimate"] for row in cells if row["metric"] == "diversity"]
    assert means["model", "diversity", "m", "", "", "", "", ""]["estimate"] == pytest.approx(statistics.mean(whole))


def test_gains_and_pairs_are_of_one_wording(three: RunFolder) -> None:
    with open_store(three, store_layout()) as store:
        share = {
            (row["language"], row["topic"], row["condition"], row["country"], row["wording"]): row["specificity"]
            for row in _rows(store, "FROM specificity")
        }
        gains = _rows(store, "FROM specificity_gain")
        for row in gains:
            place = row["language"], row["topic"]
            neutral = share[*place, "neutral", row["country"], row["wording"]]
            assert row["gain"] == share[*place, row["condition"], row["country"], row["wording"]] - neutral
        assert len(gains) == 36
        pairs = store.sql("SELECT wording, count(*) FROM consensus GROUP BY ALL ORDER BY ALL").fetchall()
    assert pairs == [("letter", 8), ("paragraph", 8), ("scene", 8)]


def test_the_length_of_texts_stands_beside_diversity(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path)
    long, short, thai = builder.ask(), builder.ask(wording="scene"), builder.ask("th")
    for prompt, text in ((long, "one two - 3\nfour"), (long, "one, two"), (short, "one"), (thai, "ข้าวผัด")):
        builder.answer(prompt, ["ramen"], text=text)
    builder.answer(long, [], text="not read " * 9, extraction="failed")
    builder.link("ramen", "Q1")
    run = builder.write()
    with open_store(run, store_layout()) as store:
        means = store.sql("SELECT language, characters, cells, missing FROM lengths ORDER BY ALL").fetchall()
    assert means == [("en", 7.5, 2, 0), ("th", 7.0, 1, 0)]
