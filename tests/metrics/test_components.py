"""Values of prompts and variance components: the definitions by hand, and what designs cannot tell."""

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

from polyculture.cache.manifest import require_run, write_manifest
from polyculture.cache.store import open_store
from polyculture.metrics.components.design import Design, PromptValue, design
from polyculture.metrics.components.inference import BELOW_NOISE, COMPONENTS, Component, variance_components
from polyculture.metrics.measure import measure
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from tests.metrics.component_worlds import WORLDS, told
from tests.report_run import sections_named
from tests.simulated import data_sets, least
from tests.store_builder import StoreBuilder


def asked(query: str, built: StoreBuilder) -> list[dict[str, Any]]:
    with open_store(built.write(), store_layout()) as store:
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
        SELECT true AS of_cell, * FROM cell_values WHERE metric IN ('granularity', 'diversity', 'specificity')
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


def by_hand(values: np.ndarray[Any, Any], sampling: float) -> dict[str, float]:
    """Components of a balanced table of models x languages x wordings, from the mean squares of a textbook."""
    models, languages, wordings = values.shape
    grand = values.mean()
    m, lang, w = (values.mean(axis=axes) for axes in ((1, 2), (0, 2), (0, 1)))
    ml, mw, lw = (values.mean(axis=axis) for axis in (2, 1, 0))
    ms_m = languages * wordings * sum((m - grand) ** 2) / (models - 1)
    ms_l = models * wordings * sum((lang - grand) ** 2) / (languages - 1)
    ms_w = models * languages * sum((w - grand) ** 2) / (wordings - 1)
    ms_ml = ms_mw = ms_lw = ms_mlw = 0.0
    for i, j, k in product(range(models), range(languages), range(wordings)):
        ms_ml += (ml[i, j] - m[i] - lang[j] + grand) ** 2 / (models - 1) / (languages - 1)
        ms_mw += (mw[i, k] - m[i] - w[k] + grand) ** 2 / (models - 1) / (wordings - 1)
        ms_lw += (lw[j, k] - lang[j] - w[k] + grand) ** 2 / (languages - 1) / (wordings - 1)
        rest = values[i, j, k] - ml[i, j] - mw[i, k] - lw[j, k] + m[i] + lang[j] + w[k] - grand
        ms_mlw += rest**2 / (models - 1) / (languages - 1) / (wordings - 1)
    over = [(count - 1) / count for count in (models, languages)]
    return {
        "model": over[0] * (ms_m - ms_mw) / (languages * wordings),
        "language": over[1] * (ms_l - ms_lw) / (models * wordings),
        "model x language": over[0] * over[1] * (ms_ml - ms_mlw) / wordings,
        "wording": (ms_w - sampling) / (models * languages) + over[1] * (ms_lw - sampling) / models,
        "model x wording": over[0] * ((ms_mw - sampling) / languages + over[1] * (ms_mlw - sampling)),
        "sampling": sampling,
    }


def table_of(values: np.ndarray[Any, Any], sampling: float | None = 0.01) -> Design:
    rows = [
        PromptValue(
            f"m{m}", f"l{language}", "food", None, f"w{w}", None, f"p{language}{w}", values[m, language, w], sampling
        )
        for m, language, w in np.ndindex(*values.shape)
    ]
    found = design(rows)
    assert found is not None
    return found


def known(table: Design) -> dict[str, Component]:
    return {one.name: one for one in variance_components(table)}


def test_components_of_a_balanced_design_are_those_by_hand() -> None:
    dice = np.random.default_rng(3)
    values = dice.normal(size=(3, 4, 3)) + 3 * dice.normal(size=(3, 1, 1)) + 2 * dice.normal(size=(1, 4, 1))
    expected = by_hand(values, 0.01)
    assert all(value > 0 for value in expected.values())
    found = known(table_of(values))
    assert {name: found[name].estimate for name in expected} == pytest.approx(expected)
    whole = sum(expected.values())
    assert {name: found[name].share for name in expected} == pytest.approx({n: v / whole for n, v in expected.items()})
    assert {one.name: one.reason for one in found.values() if one.estimate is None} == {
        "topic": "one topic",
        "country": "no country",
        "language x country": "no country",
        "other interactions": "no further interaction",
        "name": "no name",
        "model x name": "no name",
    }
    for one in found.values():
        if one.estimate is not None:
            assert 0 <= (one.low or 0) <= one.estimate <= (one.high or 0)
            assert 0 <= (one.share_low or 0) <= (one.share or 0) <= (one.share_high or 0) <= 1


def test_the_components_add_up_to_the_variance_of_a_value() -> None:
    """Without sampled factors, that is plain: the fixed effects have all of the variance but that of sampling."""
    values = np.random.default_rng(4).normal(size=(3, 4, 1))
    found = known(table_of(values, 0.001))
    told = [found[name].estimate for name in ("model", "language", "model x language", "sampling")]
    # of all degrees of freedom but the mean's, sampling takes its part
    assert sum(one or 0 for one in told) == pytest.approx(values.var() + 0.001 / 12)


def test_what_a_design_cannot_tell_is_missing_with_a_reason() -> None:
    values = np.random.default_rng(5).normal(size=(1, 4, 1))
    found = known(table_of(values))
    assert (found["wording"].estimate, found["wording"].reason) == (None, "one wording")
    assert (found["model"].estimate, found["model"].reason) == (None, "one model")
    assert found["model x wording"].reason == "one model"
    assert found["language"].estimate is not None
    alone = known(table_of(values, None))  # one response a prompt: nothing tells languages from samples
    assert (alone["language"].estimate, alone["language"].reason) == (None, "one response a prompt")
    assert (alone["sampling"].estimate, alone["sampling"].reason) == (None, "one response a prompt")


def test_responses_that_all_agree_have_no_interval() -> None:
    """Two equal answers to each prompt do not show that a hundred would be equal."""
    values = np.random.default_rng(7).normal(size=(2, 3, 1))
    found = known(table_of(values, 0.0))
    for name in ("model", "language", "model x language", "sampling"):
        one = found[name]
        assert one.estimate is not None
        assert (one.low, one.high, one.share_low, one.share_high) == (None, None, None, None)
        assert one.reason == "no response differs from another"


def test_a_component_that_noise_alone_exceeds_has_no_interval_of_width_zero() -> None:
    """The mean square of the languages is far below that of the samples: all limits are below 0."""
    dice = np.random.default_rng(8)
    values = np.broadcast_to(dice.normal(size=(3, 1, 1)), (3, 6, 1)) + 1e-6 * dice.normal(size=(3, 6, 1))
    one = known(table_of(values, 1.0))["language"]
    assert (one.estimate, one.low, one.high, one.share_low, one.share_high) == (0, None, None, None, None)
    assert one.reason == BELOW_NOISE


def test_a_level_without_values_is_left_out_and_a_missing_value_is_filled_in() -> None:
    dice = np.random.default_rng(6)
    values = 0.1 * dice.normal(size=(3, 8, 3)) + dice.normal(size=(3, 1, 1)) + dice.normal(size=(1, 8, 1))
    rows = [
        PromptValue(f"m{m}", f"l{k}", "food", None, f"w{w}", None, f"p{k}{w}", values[m, k, w], 0.001)
        for m, k, w in np.ndindex(*values.shape)
        if not (m == 0 and k == 7 and w > 0) and (m, k, w) != (1, 1, 1)
    ]
    rows.append(PromptValue("m1", "l1", "food", None, "w1", None, "p11", None, None))
    found = design(rows)
    assert (found.levels, found.used, found.filled) == ((3, 8, 1, 1, 3, 1), 69, 3)
    rows = [row for row in rows if row.language != "l7" or row.model == "m2"]
    found = design(rows)
    assert (found.levels, found.used, found.filled, found.left_out) == ((3, 7, 1, 1, 3, 1), 62, 1, 1 + 3)
    whole = known(table_of(values[:, :7]))
    for name in ("model", "language"):
        assert known(found)[name].estimate == pytest.approx(whole[name].estimate, rel=0.1)


def test_a_country_that_says_no_more_than_the_language_is_no_factor() -> None:
    dice = np.random.default_rng(7)
    rows = [
        PromptValue(
            f"m{m}", f"l{k}", topic, f"C{k}", f"w{w}", f"name {k}{w}{n}", f"p{topic}{k}{w}{n}", dice.normal(), 0.1
        )
        for m, k, topic, w, n in product(range(2), range(4), ("food", "book"), range(3), range(2))
    ]
    found = design(rows)
    assert found.levels == (2, 4, 2, 1, 3, 2)
    parts = known(found)
    assert (parts["country"].estimate, parts["country"].reason) == (None, "one country a language")
    assert all(parts[name].estimate is not None for name in COMPONENTS if "country" not in name)


def test_a_run_is_measured(tmp_path: Path) -> None:
    built = kitchen(tmp_path, names=2)
    run = built.write()
    measure(run)
    with open_store(run, store_layout()) as store:
        rows = store.sql("FROM variance_components").to_arrow_table().to_pylist()
        sampling = store.sql("""
            SELECT metric, avg(variance) FROM prompt_values WHERE estimate IS NOT NULL GROUP BY metric
        """).fetchall()
    assert len(rows) == 3 * len(COMPONENTS)
    found = {(row["metric"], row["component"]): row for row in rows}
    below = [row for row in rows if row["reason"] is not None]
    assert {row["reason"] for row in below} <= {BELOW_NOISE}
    assert all((row["estimate"], row["low"], row["high"], row["share_low"]) == (0, None, None, None) for row in below)
    assert len(below) < len(rows) / 4
    assert {row["design"] for row in rows} == {"2 models, 3 languages, 2 topics, 2 countries, 3 wordings, 2 names"}
    for metric, variance in sampling:
        assert found[metric, "sampling"]["estimate"] == pytest.approx(variance)
        assert sum(found[metric, name]["share"] for name in COMPONENTS) == pytest.approx(1)
    assert found["granularity", "model"]["share_low"] > 0.2  # the two models label differently, and nothing else does
    manifest = require_run(run)
    write_manifest(manifest.model_copy(update={"reader_id": "another"}), run.manifest)
    with open_store(run, store_layout()) as store:  # of other readings of as many items: not shown
        assert store.sql("FROM variance_components").fetchall() == []
        assert store.sql("FROM saturation WHERE low IS NOT NULL").fetchall() == []
    write_manifest(manifest, run.manifest)
    built.answer(built.ask("it", country="JP", condition="implicit_male"), ["item 1"], sample=0)
    later = StoreBuilder(tmp_path / "later", built.models, built.countries, built.n, built.rows).write()
    run.table("variance_components").rename(later.table("variance_components"))
    with open_store(later, store_layout()) as store:  # of other responses: not shown
        assert store.sql("FROM variance_components").fetchall() == []


def test_neutral_prompts_have_no_specificity(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path, n=4)
    for language in ("en", "de"):
        prompt = built.ask(language)
        for sample in range(4):
            built.answer(prompt, ["thing"], sample=sample)
    built.link("thing", "Q1")
    run = built.write()
    measure(run)
    with open_store(run, store_layout()) as store:
        found = dict(store.sql("SELECT metric, any_value(reason) FROM variance_components GROUP BY metric").fetchall())
        reasons = store.sql("SELECT DISTINCT reason FROM variance_components WHERE metric = 'specificity'").fetchall()
    assert reasons == [("no country is asked about",)]
    assert set(found) == {"granularity", "diversity", "specificity"}


def test_the_figure_has_what_is_told_and_says_what_is_not(tmp_path: Path) -> None:
    run = kitchen(tmp_path).write()
    measure(run)
    page = write_report(run, sections=sections_named("components")).read_text(encoding="utf-8")
    section = page[page.index('id="components"') :]
    section = section[: section.index("</section>")]
    assert section.count("<svg") == 3
    for component in ("model x wording", "language x country", "sampling"):
        assert component in section
    assert "no name" in section.partition("shares cannot be told (")[2]


@data_sets(20, 60)
def test_intervals_of_a_small_world_cover_the_truth(count: int) -> None:
    """A small part of `tests/bench/test_coverage.py`: sixty data sets tell a share of 95 % to within six points."""
    found = told(WORLDS["2 models, 2 languages, 6 countries, 2 wordings"], count)
    assert {"model", "wording", "sampling"} < found.keys()
    assert all(one.covered >= min(0.81, least(count)) for one in found.values())
    assert found["wording"].mean == pytest.approx(found["wording"].truth, rel=3 / count**0.5)
