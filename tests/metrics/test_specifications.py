"""The ways to count: known numbers on a tiny run, and the headline among them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from polyculture.cache.store import open_store
from polyculture.running.layout import store_layout
from tests.metrics.test_oracle import build as build_random
from tests.store_builder import StoreBuilder

MULTIPLICITIES = ("union", "response", "occurrence")


def stew(surface: str = "stew") -> dict[str, Any]:
    return {"surface": surface, "granularity": 0}


def tiny(folder: Path) -> StoreBuilder:
    """Ramen belongs to Japan, pizza to Italy; of soup no country is known; nobody knows foo and stew."""
    built = StoreBuilder(folder, countries=("JP", "IT"), n=2)
    japan, italy, nobody = (built.ask("en", country=country) for country in ("JP", "IT", None))
    built.answer(japan, ["ramen", "ramen", stew("soup"), "Foo ", "foo"], sample=0)
    built.answer(japan, ["ramen", "pizza", "foo"], sample=1)
    built.answer(italy, ["pizza", stew(), "foo"], sample=0)
    built.answer(nobody, ["pizza", "foo"], sample=0)
    for surface, qid in (
        ("ramen", "Q1"),
        ("soup", "Q2"),
        ("pizza", "Q3"),
        ("stew", None),
        ("foo", None),
        ("Foo ", None),
    ):
        built.link(surface, qid)
    built.entity("Q1", JP="P495")
    built.entity("Q3", IT="P495")
    return built


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_store(tiny(tmp_path_factory.mktemp("tiny")).write(), store_layout()) as store:
        yield store


def shares(store: duckdb.DuckDBPyConnection, metric: str, country: str) -> dict[tuple[str, ...], float]:
    query = """
        SELECT multiplicity, entities, denominator, estimate
        FROM specifications
        WHERE metric = $metric AND country = $country AND condition = 'explicit'
    """
    rows = store.execute(query, {"metric": metric, "country": country}).fetchall()
    return {tuple(one for one in row[:-1] if one): row[-1] for row in rows}


def test_each_way_to_count_has_its_known_number(store: duckdb.DuckDBPyConnection) -> None:
    assert shares(store, "granularity", "JP") == pytest.approx(
        {
            ("union", "linked"): 2 / 3,
            ("union", "all"): 3 / 4,
            ("response", "linked"): 3 / 4,
            ("response", "all"): 5 / 6,
            ("occurrence", "linked"): 4 / 5,
            ("occurrence", "all"): 7 / 8,
        }
    )
    assert shares(store, "specificity", "JP") == pytest.approx(
        {
            ("union", "linked", "all"): 1 / 3,
            ("union", "linked", "known"): 1 / 2,
            ("union", "all", "all"): 1 / 4,
            ("response", "linked", "all"): 2 / 4,
            ("response", "linked", "known"): 2 / 3,
            ("response", "all", "all"): 2 / 6,
            ("occurrence", "linked", "all"): 3 / 5,
            ("occurrence", "linked", "known"): 3 / 4,
            ("occurrence", "all", "all"): 3 / 8,
        }
    )
    neutral = {"linked": 1.0, "all": 1 / 2}  # of pizza, and of pizza and foo
    gains = {key: value - neutral[key[1]] for key, value in shares(store, "specificity", "IT").items()}
    assert shares(store, "specificity_gain", "IT") == pytest.approx(gains)
    assert shares(store, "diversity", "JP") == {("linked",): 3, ("all",): 4}


def test_means_over_cells_and_all_cells_as_one_differ(store: duckdb.DuckDBPyConnection) -> None:
    query = """
        SELECT metric, multiplicity, entities, averaging, estimate, cells
        FROM model_specifications
        WHERE condition = 'explicit' AND (denominator = 'all' OR denominator IS NULL)
    """
    rows = {row[:4]: row[4:] for row in store.sql(query).fetchall()}
    assert rows["granularity", "response", "linked", "macro"] == pytest.approx(((3 / 4 + 1) / 2, 2))
    assert rows["granularity", "response", "linked", "pooled"] == pytest.approx((4 / 5, 2))
    assert rows["granularity", "occurrence", "all", "pooled"] == pytest.approx((9 / 11, 2))
    assert rows["specificity", "response", "linked", "pooled"] == pytest.approx((3 / 5, 2))
    assert rows["specificity_gain", "response", "linked", "pooled"] == pytest.approx((3 / 5 - 1 / 2, 2))
    assert rows["diversity", None, "linked", "macro"] == (2, 2)
    assert rows["diversity", None, "linked", "pooled"] == (3, 2)
    assert rows["diversity", None, "all", "macro"] == (3.5, 2)
    assert rows["diversity", None, "all", "pooled"] == (5, 2)


def test_specificity_and_gain_have_no_mean_over_conditions(store: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT DISTINCT metric FROM model_specifications WHERE condition IS NULL ORDER BY 1"
    assert store.sql(query).fetchall() == [("diversity",), ("granularity",)]


def test_the_headline_is_one_of_the_ways_to_count(tmp_path: Path) -> None:
    """On a run with ambiguous, hallucinated and failed rows: once per response, linked, all of them."""
    links = [("linked", 1), ("linked", 2), ("linked", 1), ("ambiguous", 2), ("no candidate", 1)]
    mentions = [
        {"surface": surface, "granularity": number % 2, "counted": True, "hallucinated": number == 4}
        for number, surface in enumerate("abcaedbb")
    ]
    current = {"model": "m", "stale": False, "extractor_id": "extractor-now", "extraction": "ok"}
    answers = [{"prompt": number % 30, "mentions": mentions[number % 5 :], **current} for number in range(70)]
    run = build_random(tmp_path, answers, links, [(1, "JP"), (2, "IT")]).write()
    keys = "metric, model, language, other_language, topic, condition, country, round(estimate, 12)"
    with open_store(run, store_layout()) as store:
        headline = store.sql(f"""
            SELECT {keys} FROM specifications
            WHERE coalesce(multiplicity, 'response') = 'response' AND coalesce(entities, 'linked') = 'linked'
                AND coalesce(denominator, 'all') = 'all'
            ORDER BY ALL
        """).fetchall()
        metrics = "('granularity', 'diversity', 'specificity', 'specificity_gain', 'consensus')"
        values = f"FROM cell_values WHERE metric IN {metrics} AND estimate IS NOT NULL"
        assert headline == store.sql(f"SELECT {keys} {values} ORDER BY ALL").fetchall()
        assert len({row[0] for row in headline}) == 5
