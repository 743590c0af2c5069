"""The foot of the table of metrics: granularity without topics whose specific kinds the study does not define."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.reports.headline import why_missing
from polyculture.reports.health import notices
from polyculture.reports.names import Names
from polyculture.reports.reading import SQL, read_store
from polyculture.reports.texts import texts
from tests.store_builder import StoreBuilder, manifest


def row(metric: str, cells: int, value: float | None, language: str | None = None) -> dict[str, Any]:
    limits = {"low": value and value - 0.1, "high": value and value + 0.1, "no_interval": None}
    return {
        "model": "m",
        "metric": metric,
        "language": language,
        "cells": cells,
        "missing": 1,
        "estimate": value,
        "shared": False,
        **limits,
    }


@pytest.mark.parametrize(
    ("metric", "conditions", "why"),
    [
        ("specificity", ["neutral"], "no_explicit"),
        ("specificity", ["unstated"], "unstated"),
        ("specificity", ["neutral", "unstated"], "unstated"),
        ("specificity_gain", ["unstated"], "unstated"),
        ("specificity_gain", ["explicit", "unstated"], "no_neutral"),
    ],
)
def test_texts_of_an_unstated_condition_may_well_name_a_country(metric: str, conditions: list[str], why: str) -> None:
    told = manifest(["m"], ["JP"], 1).model_copy(update={"conditions": conditions})
    assert why_missing(metric, {}, told) == why
    assert why in texts().missing


def test_a_wording_of_which_nothing_was_found_is_warned_of(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path, n=2)
    for wording, named in (("one", ["sushi"]), ("other", [])):
        prompt = built.ask(wording=wording)
        for sample in range(2):
            built.answer(prompt, named, sample=sample)
    built.link("sushi", "Q1")
    built.entity("Q1", "sushi")
    with read_store(built.write()) as reading:
        health = reading.rows(SQL / "health.sql")
    assert [row["silent"] for row in health] == [2]
    assert any(
        "in which no text has a mention" in notice.text for notice in notices(health, Names(read_catalog(), ("m",)))
    )


def test_long_names_of_models_are_cut_in_their_middle_and_stay_apart() -> None:
    models = [f"vllm-serve:org/Some-Very-Long-Model-Name-{size}B-Instruct-2507-GGUF-Q4_K_M" for size in (4, 70)]
    called = list(map(Names(read_catalog(), (*models, "openai:gpt-4o")).model, (*models, "openai:gpt-4o")))
    assert called[:2] == ["Some-Ver…-Name-4B-Instruc…GUF-Q4_K_M", "Some-Ver…-Name-70B-Instru…GUF-Q4_K_M"]
    assert called[2] == "gpt-4o"
    assert Names(read_catalog(), models[:1]).model(models[0]) == "Some-Very-Long-Mo…t-2507-GGUF-Q4_K_M"
    same = ("a:x/" + "m" * 50, "b:x/" + "m" * 50)
    assert [Names(read_catalog(), same).model(one) for one in same] == list(same)


def test_a_warning_says_of_what_its_share_is_the_largest(tmp_path: Path) -> None:
    """It had said 'Up to 60 %' where all texts of a prompt were refused: the share pools a language's prompts."""
    built = StoreBuilder(tmp_path, n=5)
    for language, country, refused in (("en", "US", 1), ("en", "JP", 5), ("ja", "JP", 0)):
        prompt = built.ask(language=language, country=country)
        for sample in range(5):
            built.answer(prompt, ["sushi"], sample=sample, refused=sample < refused)
    built.link("sushi", "Q1")
    built.entity("Q1", "sushi")
    with read_store(built.write()) as reading:
        health = reading.rows(SQL / "health.sql")
    for rows, before in ((health, "Of a model in a language, up to "), (health[:1], "")):
        [told] = [one for one in notices(rows, Names(read_catalog(), ("m",))) if "were refused" in one.text]
        assert (told.before, told.worst, told.places[0]) == (before, "60\u00a0%", "English: 60\u00a0% (6 of 10)")
