"""The worked queries of docs/cbs.md: what a model finds probable, joined with what it writes, item by item."""

from __future__ import annotations

from typing import Any

import pytest

from polyculture.cache.store.store import open_store
from polyculture.instruments.cbs.measure import link_entities
from polyculture.instruments.cbs.step import scoring_jobs
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import DataSelection
from polyculture.running.calls import ExperimentAsked
from polyculture.running.layout import store_layout
from polyculture.running.opening import open_workspace
from tests.instruments.test_cbs_store import DEMO, MODEL, ToyEngine, score
from tests.store_builder import StoreBuilder
from tests.test_docs import blocks

EXPERIMENT = f"""
name = "run"
models = ["{MODEL}"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
"""
RAMEN, PIZZA = "Q234646", "Q177"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    """The queries' answers over a run whose texts mention ramen and pizza, and whose model scored the demo's food."""
    folder = tmp_path_factory.mktemp("runs")
    built = StoreBuilder(folder / "run", models=[MODEL], countries=["JP"])
    prompt = built.ask(country="JP")
    for _ in range(3):
        built.answer(prompt, ["ramen", "pizza"])
    for surface, qid in (("ramen", RAMEN), ("pizza", PIZZA)):
        built.link(surface, qid)
        built.entity(qid, surface, JP="P495")
    run = built.write()
    score(run, scoring_jobs(load(rules_of("own"), DEMO), MODEL, DataSelection(types=("food", "beverage"))), ToyEngine())
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    link_entities(ExperimentAsked(open_workspace(file, folder)))
    with open_store(run, store_layout()) as store:
        return [_rows(store.sql(query)) for query in blocks("docs/cbs.md", "sql")]


def _rows(found: Any) -> list[dict[str, Any]]:
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def test_probable_but_never_written(answers: list[list[dict[str, Any]]]) -> None:
    assert not answers[0]  # one model has no difference
    probable = answers[1]
    assert probable
    assert all(row["standing"] >= 0.75 and row["qid"] not in (RAMEN, PIZZA) for row in probable)
    assert {row["entity_type"] for row in probable} == {"food"}  # nobody asked for beverages
    assert [row["standing"] for row in probable] == sorted((row["standing"] for row in probable), reverse=True)
