"""Dominance: the share of a cell's responses that name its most frequent item, and which it is."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import Terms, compare
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder


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
    built.answer(built.ask("de", "food", "JP"), [], extraction="failed")
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
    columns = "language, condition, qid, label, naming, tied, responses"
    with open_store(run, store_layout()) as store:
        rows = store.sql(f"SELECT {columns} FROM dominance ORDER BY language, condition").fetchall()
        top = store.sql("SELECT language, label, in_language, cells_of_item, cells FROM dominant_items").fetchall()
        numbers = "FROM numbers WHERE metric = 'dominance' AND level"
        models = store.sql(f"SELECT estimate, low, high {numbers} = 'model'").fetchall()
        cells = store.sql(f"SELECT estimate {numbers} = 'cell' AND estimate IS NOT NULL").fetchall()
        reasons = store.sql(f"SELECT DISTINCT no_interval {numbers} <> 'cell'").fetchall()
    assert rows == [
        ("de", "explicit", None, None, 0, 0, 0),
        ("en", "explicit", None, None, 0, 0, 12),
        ("ja", "explicit", "Q46383", "sushi", 9, 2, 12),  # of two as frequent, the lower number
        ("ja", "neutral", "Q177", "pizza", 12, 1, 12),
    ]
    assert sorted(top, key=str) == [("ja", "pizza", "ja", 1, 2), (None, "pizza", "ja", 1, 2)]
    [(whole, low, high)] = models
    assert len(cells) == 3
    assert whole == pytest.approx(mean(estimate for (estimate,) in cells))
    assert low < whole < high
    assert reasons == [(None,)]


def test_it_is_compared_where_it_is_asked_for(run: RunFolder) -> None:
    measure(run)
    with open_store(run, METRICS_LAYOUT, KEPT) as store:
        terms = Terms(metrics=("dominance",), targets=("same_prompts",), selections=("all",))
        [row] = compare([ComparedRun(store)], [Sides("condition", "neutral", "explicit")], terms)
        shares = dict(store.sql("SELECT condition, dominance FROM dominance WHERE language = 'ja'").fetchall())
    assert row.difference.difference == pytest.approx(shares["neutral"] - shares["explicit"])
