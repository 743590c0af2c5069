"""Granularity of the topics that the study defines, and rates of resolution."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from polyculture.cache.store.store import open_store
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder


def asked(query: str, built: StoreBuilder) -> list[dict[str, Any]]:
    with open_store(built.write(), store_layout()) as store:
        return list(store.sql(query).to_arrow_table().to_pylist())


def test_rates_of_resolution_over_distinct_labels_and_entities(tmp_path: Path) -> None:
    """German: sushi under two names, soup, foo in two spellings; English: sushi. Nobody knows the one drink."""
    built = StoreBuilder(tmp_path, models=("m", "n"), n=2)
    german, english, drinks = built.ask("de"), built.ask("en"), built.ask("de", "beverage")
    built.answer(german, ["sushi", "Sushi", "sushi", "foo", "Foo", "late"], sample=0)
    built.answer(german, ["soup", "either"], model="n", sample=0)
    built.answer(english, ["sushi"], sample=0)
    built.answer(drinks, ["cha"], sample=0)
    for surface, qid in (("sushi", "Q1"), ("Sushi", "Q1"), ("soup", "Q2"), ("foo", None), ("Foo", None), ("cha", None)):
        built.link(surface, qid)
    built.link("either", "Q3", "ambiguous")
    columns = "labels, linked_labels, label_rate, entities, items, item_rate"
    rows = asked(f"SELECT level, averaged_over, model, language, topic, {columns}, rates FROM resolution_rates", built)
    found = {tuple(row.values())[:5]: tuple(row.values())[5:] for row in rows}
    german_rates = pytest.approx((7, 3, 3 / 7, 5, 2, 2 / 5))
    assert found["language", None, None, "de", None][:6] == german_rates  # sushi, Sushi, soup; foo, Foo, either, cha
    assert found["language", None, None, "en", None][:6] == pytest.approx((1, 1, 1, 1, 1, 1))
    assert found["model, topic", None, "m", None, "food"][:6] == pytest.approx((5, 3, 3 / 5, 2, 1, 1 / 2))
    means = [found["model, language, topic", None, *place] for place in (("m", "de", "food"), ("n", "de", "food"))]
    assert [one[2] for one in means] == [2 / 4, 1 / 2]
    assert found["language", "models and topics", None, "de", None][2] == pytest.approx(mean([2 / 4, 1 / 2, 0]))
    averaged = found["model, topic", "languages", "m", None, "food"]
    assert (averaged[2], averaged[5], averaged[6]) == pytest.approx((mean([2 / 4, 1]), mean([1 / 2, 1]), 2))
