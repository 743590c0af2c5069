"""Values of prompts: those of cells of their own, their variance by hand, and the table that plans rest on."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest

from polyculture.cache.store.schema.measured import WITHOUT
from polyculture.cache.store.store import open_store
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.measure import measure
from polyculture.metrics.power import LANGUAGE, MODEL, of_one_condition, side_values
from polyculture.metrics.prompt_values import PromptValue, prompt_values
from polyculture.metrics.responses import DataSlice
from tests.store_builder import StoreBuilder


def values_of(built: StoreBuilder) -> dict[str, list[PromptValue]]:
    with open_store(built.write(), METRICS_LAYOUT, KEPT) as store:
        return prompt_values(store)


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


def test_the_value_of_a_prompt_is_that_of_a_cell_of_its_own(tmp_path: Path) -> None:
    """The same answers to two prompts of a cell, which differ in the name, and to prompts in cells of their own."""
    together = kitchen(tmp_path / "together", wordings=1, names=2)
    apart = kitchen(tmp_path / "apart", wordings=1, names=2)
    for table in ("prompts", "responses"):
        for row in apart.rows[table]:
            if "wording" in row:
                row["wording"] = row["name"]
    run = apart.write()
    measure(run)
    with open_store(run, METRICS_LAYOUT) as store:
        query = """
            SELECT metric, model, language, topic, condition, country, estimate, units FROM numbers
            WHERE level = 'cell' AND metric IN ('granularity', 'diversity', 'specificity')
        """
        cells = sorted(store.sql(query).fetchall())
    prompts = sorted(
        (metric, place.model, place.language, place.topic, place.condition, place.country, one.estimate, one.responses)
        for metric, values in values_of(together).items()
        for one in values
        for place in [one.place]
    )
    assert len(prompts) == 3 * 2 * 2 * 12
    assert prompts == cells


def test_the_sampling_variance_of_a_prompt_is_that_of_the_jackknife(tmp_path: Path) -> None:
    """And what is too rare to have been seen: an exception as long as the longest response, half an item."""
    built = kitchen(tmp_path, models=1, wordings=1, n=6)
    named: dict[Any, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one in built.rows["mentions"]:
        named[one["language"], one["topic"], one["country"]][one["response_id"]].add(one["surface"])
    found = values_of(built)
    with open_store(built.write(), METRICS_LAYOUT, KEPT) as store:
        query = """
            SELECT c.language, c.topic, c.country, numerator, denominator
            FROM country_contributions INNER JOIN numbered_cells AS c USING (cell)
        """
        contributed = defaultdict(list)  # to a share: a numerator and a denominator of each response
        for *where, top, bottom in store.sql(query).fetchall():
            contributed[tuple(where)].append((top, bottom))

    def variance(of: Callable[[Sequence[Any]], float], texts: Sequence[Any]) -> float:
        without = [of([*texts[:k], *texts[k + 1 :]]) for k in range(len(texts))]
        return (len(texts) - 1) / len(texts) * sum((one - mean(without)) ** 2 for one in without)

    def share(texts: Sequence[tuple[int, int]]) -> float:
        return sum(top for top, _ in texts) / sum(bottom for _, bottom in texts)

    def count(texts: Sequence[set[str]]) -> float:
        return len(set().union(*texts))

    for value in found["specificity"]:
        texts = contributed[value.place.language, value.place.topic, value.place.country]
        texts += [(0, 0)] * (value.responses - len(texts))
        longest, items = (of(bottom for _, bottom in texts) for of in (max, sum))
        rare = 0.1 * (longest * max(share(texts), 1 - share(texts)) / (items + longest)) ** 2
        assert (value.estimate, value.variance) == pytest.approx((share(texts), variance(share, texts) + rare))
    for value in found["diversity"]:
        sets = list(named[value.place.language, value.place.topic, value.place.country].values())
        assert (value.estimate, value.variance) == pytest.approx((count(sets), variance(count, sets) + 0.5))


def test_what_nobody_looked_up_or_read_has_no_value(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path, countries=("JP",), n=6)
    languages = ("en", "de", "ja", "zh")
    silent, unread, awaited, once = (built.ask(language, country="JP") for language in languages)
    other = built.ask("ja", country="JP", name="of another prompt of the cell")
    for sample in range(5):
        built.answer(silent, [], sample=sample)
        built.answer(unread, extraction="failed", sample=sample)
        built.answer(awaited, ["thing"], sample=sample)
        built.answer(once, [] if sample else ["known"], sample=sample)
    built.answer(other, ["known"], sample=0)
    built.link("known", "Q1")
    built.entity("Q1", JP="P495")
    found = {
        metric: sorted((one.place.language, one.variance, one.responses) for one in values)
        for metric, values in values_of(built).items()
    }
    assert found == {
        # Of fewer than five responses nothing says how a count varies, of one that names something no share.
        "diversity": [("en", 0.5, 5), ("ja", None, 1), ("zh", pytest.approx(0.64 + 0.5), 5)],
        "granularity": [("ja", None, 1), ("zh", None, 5)],
        "specificity": [("ja", None, 1), ("zh", None, 5)],
    }


def value(model: int, language: int, topic: str, country: str, wording: int, estimate: float) -> PromptValue:
    place = DataSlice(f"m{model}", f"l{language}", WITHOUT, topic, "explicit", country, f"w{wording}")
    return PromptValue(place, estimate, 0.1, 8)


def test_a_prompt_without_a_value_of_each_side_in_each_wording_is_left_out() -> None:
    values = np.random.default_rng(6).normal(size=(3, 8, 2, 3))
    rows = [
        value(m, k, f"t{t}", "JP", w, values[m, k, t, w])
        for m, k, t, w in np.ndindex(*values.shape)
        if not (m == 0 and t == 1 and w > 0) and not ((m, k) == (1, 1) and t == 0)
    ]
    found = side_values(rows, MODEL)
    assert found is not None
    assert (found.values.shape, found.sampling, found.count) == ((3, 1, 3), pytest.approx(0.1), 8)
    assert found.values[0, 0] == pytest.approx(values[0, :, 0].mean(axis=0))  # over the languages
    assert found.values[1, 0] == pytest.approx(np.delete(values[1, :, 0], 1, axis=0).mean(axis=0))


def test_a_country_that_says_no_more_than_the_language_is_no_part_of_a_prompt() -> None:
    rows = [
        value(m, k, topic, f"C{k}", w, 0.5 * m)
        for m, k, topic, w in product(range(2), range(4), ("food", "book"), range(3))
    ]
    shapes = [found.values.shape for side in (MODEL, LANGUAGE) if (found := side_values(rows, side))]
    assert shapes == [(2, 2, 3), (4, 2, 3)]


def test_the_first_condition_that_has_values_is_taken_and_else_the_one_with_most() -> None:
    rows = [value(0, k, "food", "JP", 0, 0.5) for k in range(3)]
    others = [replace(one, place=one.place._replace(condition="audience"), responses=4) for one in rows[:2]]
    assert of_one_condition([*others, *rows]) == ("explicit", 8, rows)
    assert of_one_condition([*others, *rows], ("neutral", "audience", "explicit")) == ("audience", 4, others)
    assert of_one_condition([], ("explicit",)) is None
