"""Where what is named comes from: flows between countries and regions, on runs that can be counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.metrics.test_views import only, rows_of
from tests.store_builder import StoreBuilder

VIEWS = ("item_origins", "flows", "model_flows", "item_regions")


@pytest.fixture
def builder(tmp_path: Path) -> StoreBuilder:
    return StoreBuilder(tmp_path / "run")


def name(builder: StoreBuilder) -> None:
    """Sushi of Japan, noodles and kimchi of two countries, borscht and cevapi of former states, garum of Rome, ..."""
    origins = {
        "sushi": {"JP": "P495"},
        "noodles": {"JP": "P495", "CN": "P495"},
        "pizza": {"IT": "P495"},
        "croissant": {"FR": "P495"},
        "kimchi": {"KP": "P495", "KR": "P495"},
        "cevapi": {},
        "borscht": {},
        "garum": {},
        "tea": {},
    }
    for number, (surface, countries) in enumerate(origins.items(), start=1):
        builder.link(surface, f"Q{number}")
        builder.entity(f"Q{number}", surface, **countries)
    builder.from_former_state("Q6", "HR", "RS", "SI")
    builder.from_former_state("Q7", "GE", "RU", "UA", "UZ")
    builder.rows["entity_countries"].append(
        {"qid": "Q8", "country": None, "country_qid": "Q2277", "property": "P495", "successors": None}
    )


def shares(rows: list[dict[str, Any]], *keys: str) -> dict[Any, Any]:
    return {tuple(row[key] for key in keys): round(row["share"], 9) for row in rows}


def test_every_item_comes_from_one_place_several_a_former_state_elsewhere_or_nowhere(builder: StoreBuilder) -> None:
    builder.ask("en", "food", "JP")
    name(builder)
    builder.know()
    with rows_of(builder) as rows:
        origins = {row["qid"]: (row["origin_kind"], row["origin"]) for row in rows("item_origins")}
        regions = {row["qid"]: (row["placed"], row["regions"]) for row in rows("item_regions")}
    assert {qid: (*origins[qid], *regions[qid]) for qid in origins} == {
        "Q1": ("country", "JP", True, ["eastern-asia"]),
        "Q2": ("several", None, True, ["eastern-asia"]),
        "Q3": ("country", "IT", True, ["southern-europe"]),
        "Q4": ("country", "FR", True, ["western-europe"]),
        "Q5": ("several", None, True, ["eastern-asia"]),
        "Q6": ("former state", None, True, ["southern-europe"]),
        "Q7": ("former state", None, True, ["central-asia", "eastern-europe", "western-asia"]),
        "Q8": ("other", None, True, []),
        "Q9": ("none", None, False, []),
    }


def test_a_country_beside_a_former_state_is_the_origin(builder: StoreBuilder) -> None:
    builder.ask("en", "food", "JP")
    builder.link("borscht", "Q1")
    builder.entity("Q1", UA="P495")
    builder.from_former_state("Q1", "RU", "UA")
    builder.know()
    with rows_of(builder) as rows:
        row = only(rows("item_origins"))
    assert (row["origin_kind"], row["origin"], row["candidates"]) == ("country", "UA", ["RU", "UA"])


def test_asked_about_one_country_answered_from_another(builder: StoreBuilder) -> None:
    """Four responses on Japan: sushi counts three times though one of them says it twice."""
    japan = builder.ask("en", "food", "JP")
    builder.answer(japan, ["sushi", "sushi", "pizza"])
    builder.answer(japan, ["sushi", "croissant", "unknown"])
    builder.answer(japan, ["sushi", "noodles", "tea"])
    builder.answer(japan, ["borscht", "garum", "kimchi"])
    builder.answer(builder.ask("en", "food"), ["pizza", "tea"])
    name(builder)
    builder.link("unknown")
    builder.know()
    with rows_of(builder) as rows:
        found, neutral = rows("flows", "country = 'JP'"), rows("flows", "country IS NULL")
    assert shares(found, "origin_kind", "origin") == {
        ("country", "JP"): 0.3,
        ("country", "IT"): 0.1,
        ("country", "FR"): 0.1,
        ("several", None): 0.2,
        ("former state", None): 0.1,
        ("other", None): 0.1,
        ("none", None): 0.1,
    }
    assert shares(neutral, "origin_kind", "origin") == {("country", "IT"): 0.5, ("none", None): 0.5}


def test_the_mean_over_topics_gives_each_the_same_weight(builder: StoreBuilder) -> None:
    food, drink = builder.ask("en", "food", "JP"), builder.ask("en", "beverage", "JP")
    builder.ask("en", "music", "JP")  # nothing linked there: in no mean
    builder.answer(food, ["sushi", "pizza", "croissant", "tea"])
    builder.answer(drink, ["sushi", "pizza"])
    name(builder)
    builder.know()
    with rows_of(builder) as rows:
        found = rows("model_flows")
    assert shares(found, "origin_kind", "origin") == {
        ("country", "JP"): 0.375,
        ("country", "IT"): 0.375,
        ("country", "FR"): 0.125,
        ("none", None): 0.125,
    }
    assert {row["cells"] for row in found} == {2}


def test_a_store_of_links_that_know_no_other_countries_has_no_flows(builder: StoreBuilder) -> None:
    builder.answer(builder.ask("en", "food", "JP"), ["sushi", "croissant"])
    name(builder)
    with rows_of(builder, measured=True) as rows:
        assert [rows(view) for view in VIEWS] == [[]] * 4
        assert only(rows("specificity", "condition = 'explicit'"))["specificity"] is not None
