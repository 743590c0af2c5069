"""Values of prompts: the definitions by hand, and the table that plans rest on."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest

from polyculture.cache.store.store import open_store
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.measure import measure
from polyculture.metrics.power import LANGUAGE, MODEL, PromptValue, side_values
from tests.store_builder import StoreBuilder


def asked(query: str, built: StoreBuilder) -> list[dict[str, Any]]:
    run = built.write()
    measure(run)
    with open_store(run, METRICS_LAYOUT, KEPT) as store:
        return list(store.sql(query).to_arrow_table().to_pylist())


def kitchen(
    folder: Path,
    models: int = 2,
    wordings: int = 3,
    names: int = 0,
    n: int = 8,
    languages: Sequence[str] = ("de", "en", "ja"),
) -> StoreBuilder:
    """Random answers of up to three items each; every prompt of a model has some."""
    dice = random.Random(5)
    built = StoreBuilder(folder, models=[f"m{k}" for k in range(models)], countries=("IT", "JP"), n=n)
    prompts = [
        built.ask(
            language,
            topic,
            country,
            "implicit_male" if names else "explicit",
            wording=f"w{wording}",
            name=f"name {wording} {name}" if names else None,
        )
        for language, topic, country, wording, name in product(
            languages, ("food", "book"), ("IT", "JP"), range(wordings), range(max(names, 1))
        )
    ]
    for model, prompt in product(built.models, prompts):
        leaning = 0.3 if model == "m0" else 0.7
        for sample in range(n):
            chosen = dice.sample(range(6), dice.randint(1, 3))
            said = [{"surface": f"item {k}", "granularity": int(dice.random() < leaning)} for k in chosen]
            built.answer(prompt, said, model=model, sample=sample)
    for k in range(6):
        built.link(f"item {k}", f"Q{k + 1}")
        if k < 3:
            built.entity(f"Q{k + 1}", **{"IT" if k else "JP": "P495"})
    return built


def test_the_value_of_a_prompt_is_that_of_its_cell(tmp_path: Path) -> None:
    rows = asked(
        """
        SELECT true AS of_cell, *, units AS responses, n AS incidences FROM numbers
        WHERE level = 'cell' AND metric IN ('granularity', 'diversity', 'specificity')
        UNION ALL BY NAME
        SELECT false AS of_cell, * FROM prompt_values
        """,
        kitchen(tmp_path, wordings=1),
    )
    key = ("metric", "model", "language", "topic", "condition", "country", "responses", "incidences")
    of_cells, of_prompts = (
        {tuple(row[column] for column in key): row["estimate"] for row in rows if row["of_cell"] is whole}
        for whole in (True, False)
    )
    assert len(of_cells) == 3 * 2 * 12
    assert of_cells.keys() == of_prompts.keys()
    assert [of_prompts[key] for key in of_cells] == pytest.approx(list(of_cells.values()))


def test_the_sampling_variance_of_a_share_is_that_of_the_jackknife(tmp_path: Path) -> None:
    built = kitchen(tmp_path, models=1, wordings=1, n=6)
    rows = {row["prompt_id"]: row for row in asked("FROM prompt_values WHERE metric = 'specificity'", built)}
    native = {"IT": {"item 1", "item 2"}, "JP": {"item 0"}}
    said: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in built.rows["mentions"]:
        said[one["prompt_id"]][one["response_id"]].append(one["surface"])
    for prompt, row in rows.items():
        texts = list(said[prompt].values())

        def share(some: list[list[str]], country: str = row["country"]) -> float:
            items = [item for text in some for item in text]
            return mean(item in native[country] for item in items)

        without = [share(texts[:k] + texts[k + 1 :]) for k in range(len(texts))]
        variance = (len(texts) - 1) / len(texts) * sum((one - mean(without)) ** 2 for one in without)
        assert (row["estimate"], row["variance"]) == pytest.approx((share(texts), variance))


def test_what_nobody_looked_up_or_read_has_no_value(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path, countries=("JP",), n=3)
    read, unread, awaited = built.ask("en", country="JP"), built.ask("de", country="JP"), built.ask("ja", country="JP")
    for sample in range(2):
        built.answer(read, [], sample=sample)
        built.answer(unread, extraction="failed", sample=sample)
        built.answer(awaited, ["thing"], sample=sample)
    rows = {(row["metric"], row["language"]): row for row in asked("FROM prompt_values", built)}
    values = {key: (row["estimate"], row["variance"], row["responses"]) for key, row in rows.items()}
    assert values["diversity", "en"] == (0, 0, 2)
    assert values["granularity", "en"] == (None, None, 2)
    assert values["diversity", "de"] == values["specificity", "de"] == (None, None, 0)
    assert values["diversity", "ja"] == (None, None, 2)
    assert len(rows) == 9


def test_a_prompt_without_a_value_of_each_side_in_each_wording_is_left_out() -> None:
    values = np.random.default_rng(6).normal(size=(3, 8, 2, 3))
    rows = [
        PromptValue(
            f"m{m}", f"l{k}", f"t{t}", "JP", f"w{w}", None if (m, k) == (1, 1) and t == 0 else values[m, k, t, w], 0.1
        )
        for m, k, t, w in np.ndindex(*values.shape)
        if not (m == 0 and t == 1 and w > 0)
    ]
    found = side_values(rows, MODEL)
    assert found is not None
    assert (found.values.shape, found.sampling, found.count) == ((3, 1, 3), pytest.approx(0.1), 8)
    assert found.values[0, 0] == pytest.approx(values[0, :, 0].mean(axis=0))  # over the languages
    assert found.values[1, 0] == pytest.approx(np.delete(values[1, :, 0], 1, axis=0).mean(axis=0))


def test_a_country_that_says_no_more_than_the_language_is_no_part_of_a_prompt() -> None:
    rows = [
        PromptValue(f"m{m}", f"l{k}", topic, f"C{k}", f"w{w}", 0.5 * m, 0.1)
        for m, k, topic, w in product(range(2), range(4), ("food", "book"), range(3))
    ]
    shapes = [found.values.shape for side in (MODEL, LANGUAGE) if (found := side_values(rows, side))]
    assert shapes == [(2, 2, 3), (4, 2, 3)]
