"""The worked queries of docs/queries.md, over a small store whose answers can be counted by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from polyculture.cache.store.store import Store, open_store
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder
from tests.test_docs import blocks

RAMEN, PIZZA, SUSHI = "Q234646", "Q177", "Q46383"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    built = StoreBuilder(tmp_path_factory.mktemp("run"))
    for language in ("en", "ja"):
        japan, italy = built.ask(language, country="JP"), built.ask(language, country="IT")
        neutral = built.ask(language)
        # English names pizza for Japan, too; Japanese writes ramen in two ways, and once in English.
        built.answer(japan, ["ramen", "pizza"] if language == "en" else ["ramen", "ラーメン", "sushi"])
        built.answer(italy, ["pizza", "gnudi"])
        built.answer(neutral, ["pizza", "ramen"])
    built.answer(japan, ["ramen"], detected_language=None, script_share=0.0)
    for surface, qid in (("ramen", RAMEN), ("ラーメン", RAMEN), ("pizza", PIZZA), ("sushi", SUSHI)):
        built.link(surface, qid)
    built.link("gnudi")
    built.entity(RAMEN, "ramen", JP="P495")
    built.entity(SUSHI, "sushi", JP="P495")
    built.entity(PIZZA, "pizza", IT="P495")
    built.know()
    run = built.write()
    measure(run)
    with open_store(run, store_layout()) as connection:
        yield connection


# Of each query's answer: how many rows, and the first.
ANSWERS: list[tuple[int, tuple[Any, ...]]] = [
    (4, ("m", "en", "pizza", PIZZA, 1)),
    (1, ("m", "food", PIZZA, "pizza", 2, 3)),
    (2, ("m", "food", "JP", "paragraph", "ja", 1.0, 0.5, 0.5)),
    (1, ("m", "ja", "food", "explicit", "JP", "paragraph", 2, 0.5)),
    (2, ("food", "en", pytest.approx(1 / 6), 6)),
    (2, ("en", "food", "gnudi", "no candidate", 1)),
    (3, (RAMEN, "ramen", 1, 3)),
    (4, ("m", "en", "food", "IT", "paragraph", 0.5, 1, 2)),
    (6, ("m", "en", "JP", "ramen", "text 0", "food in JP?")),
    (1, ("m", "en", "JP", "IT", 0.5)),
    (4, ("m", "en", "consensus", pytest.approx(7 / 9), None, None, None, None, "few countries")),
    (
        14,
        (
            "consensus",
            "condition",
            "explicit",
            "neutral",
            "same_prompts",
            "untestable",
            ["all", "right language"],
        ),
    ),
]


@pytest.mark.parametrize("number", range(12))
def test_a_worked_query(store: Store, number: int) -> None:
    queries = blocks("docs/queries.md", "sql")
    assert len(queries) == len(ANSWERS)
    rows = store.sql(queries[number]).fetchall()
    size, first = ANSWERS[number]
    assert rows[0] == first
    assert len(rows) == size
