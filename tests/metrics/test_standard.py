"""The table `differences` of a run: which comparisons it has, their q, ranks, and the cells that all models have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from scipy.stats import false_discovery_control

from polyculture.cache.store.data_identity import inputs_of
from polyculture.cache.store.manifest import require_run, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema.measured import Difference
from polyculture.cache.store.store import open_store
from polyculture.metrics import MEASURE, METRICS_LAYOUT
from polyculture.metrics.declared import METRICS
from polyculture.metrics.limits import disqualified, limits
from polyculture.metrics.measure import MOST_PAIRED, measure
from polyculture.metrics.measured import write_differences
from tests.extracted import extracted_by
from tests.large_run import LargeRun
from tests.store_builder import StoreBuilder

ITEMS = ("sushi", "ramen", "pizza", "pasta")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    small = LargeRun(models=("m", "n"), languages=("de", "en", "ja"), countries=("IT", "JP"), n=20, items=40)
    run = small.write(tmp_path_factory.mktemp("standard"))
    manifest = require_run(run)
    write_manifest(manifest.model_copy(update={"languages": ["de", "en", "ja"]}), run.manifest)
    measure(run)
    return run


def rows(run: RunFolder, query: str) -> list[tuple[Any, ...]]:
    with open_store(run, METRICS_LAYOUT) as store:
        return store.sql(query).fetchall()


def test_a_run_is_compared_as_its_readers_expect(run: RunFolder) -> None:
    sides = "SELECT DISTINCT dimension, a, b, model = '*', country = '*' FROM differences ORDER BY ALL"
    found = rows(run, sides)
    assert ("model", "m", "n", True, True) in found
    assert {a for dimension, a, *_ in found if dimension == "language"} == {"de", "en", "ja"}
    assert {b for dimension, _, b, *_ in found if dimension == "language"} == {"the rest"}
    assert {b for dimension, _, b, *_ in found if dimension == "condition"} == {"neutral"}
    assert {row[3:] for row in found if row[0] == "native"} == {(False, True), (True, False)}
    counts = "SELECT DISTINCT count(*) FROM differences GROUP BY metric, dimension, a, b, model, country, condition"
    assert rows(run, counts) == [(2,)]  # two targets; no selection leaves a text out


def test_q_is_over_all_comparisons_of_the_first_page(run: RunFolder) -> None:
    tested = "SELECT p, q FROM compared_sides WHERE is_first AND p IS NOT NULL"
    found = rows(run, tested)
    assert [q for _, q in found] == pytest.approx(false_discovery_control([p for p, _ in found]).tolist())
    once = (
        "SELECT count(*) FROM compared_sides WHERE is_first GROUP BY metric, dimension, a, b, model, country, condition"
    )
    assert {count for (count,) in rows(run, once)} == {1}


def test_a_metric_that_the_extractor_fixes_tells_nothing(run: RunFolder, tmp_path: Path) -> None:
    told = require_run(run)
    manifest = told.model_copy(update=extracted_by({"with": "gazetteer"}, told.extractor_ids))
    assert set(disqualified(manifest)) == {"granularity"}
    assert all(limit.metrics.keys() <= METRICS.keys() for limit in limits(manifest))
    built = two_models(tmp_path, {"m": ITEMS, "n": ITEMS[:2]})
    told = require_run(built)
    by_gazetteer = extracted_by({"with": "gazetteer"}, told.extractor_ids)
    write_manifest(told.model_copy(update=by_gazetteer), built.manifest)
    measure(built)
    said = "SELECT DISTINCT reason, verdict FROM differences WHERE metric = 'granularity'"
    assert rows(built, said) == [("constant by construction", "untestable")]
    assert rows(built, "SELECT count(*) FROM ranks WHERE metric = 'granularity'") == [(0,)]
    assert rows(built, "SELECT count(*) FROM ranks WHERE metric = 'diversity'") != [(0,)]


def two_models(
    folder: Path, items: Mapping[str, tuple[str, ...]], topics: Mapping[str, int] | None = None
) -> RunFolder:
    """Models that name their items one a response, 12 responses a topic; of some models the last topics are missing."""
    built = StoreBuilder(folder, models=tuple(items), n=12)
    for number, topic in enumerate(("food", "beverages", "music")):
        prompt = built.ask(topic=topic)
        for model, named in items.items():
            if number < (topics or {}).get(model, 3):
                for sample in range(12):
                    general = {"surface": named[sample % len(named)], "granularity": int(topic != "music")}
                    built.answer(prompt, [general], model=model, sample=sample)
    for number, item in enumerate(ITEMS):
        built.link(item, f"Q{number + 1}")
        built.entity(f"Q{number + 1}", item)
    return built.write()


def test_more_than_twelve_models_are_each_compared_with_the_rest(tmp_path: Path) -> None:
    models = [f"m{number:02}" for number in range(MOST_PAIRED + 1)]
    run = two_models(tmp_path, dict.fromkeys(models, ITEMS))
    measure(run)
    assert rows(run, "SELECT DISTINCT b FROM differences WHERE dimension = 'model'") == [("the rest",)]
    assert rows(run, "SELECT count(DISTINCT a) FROM differences WHERE dimension = 'model'") == [(len(models),)]


MEANS = "SELECT model, estimate, cells, missing, no_estimate FROM numbers WHERE metric = 'granularity' AND level = "


def test_models_that_were_not_asked_the_same_are_compared_over_the_cells_that_all_have(tmp_path: Path) -> None:
    run = two_models(tmp_path, dict.fromkeys(("m", "n", "o"), ITEMS), {"n": 2, "o": 1})
    measure(run)
    cells: dict[str, dict[str, float]] = {}
    for model, topic, estimate in rows(
        run, "SELECT model, topic, granularity FROM granularity WHERE granularity IS NOT NULL"
    ):
        cells.setdefault(model, {})[topic] = estimate
    assert [len(cells[model]) for model in "mno"] == [3, 2, 1]
    assert rows(run, f"{MEANS} 'model' ORDER BY 1")[0] == ("m", pytest.approx(mean(cells["m"].values())), 3, 0, None)
    shared = {model: pytest.approx(mean(cells[model][topic] for topic in cells["n"])) for model in "mn"}
    assert shared["m"] != mean(cells["m"].values())
    assert rows(run, f"{MEANS} 'model, shared' ORDER BY 1") == [
        ("m", shared["m"], 2, 1, None),
        ("n", shared["n"], 2, 1, None),
        ("o", None, 0, 3, "too few in common"),
    ]
    [(missing, difference)] = rows(
        run,
        "SELECT missing_b, difference FROM differences WHERE metric = 'granularity' AND a = 'm' AND b = 'n' "
        "AND dimension = 'model' AND selection = 'all' AND target = 'same_prompts'",
    )
    assert (missing, difference) == (1, 0.0)


def test_a_difference_of_one_model_or_language_alone_names_it(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path, models=("m", "n"), n=12)
    for topic in ("food", "beverages", "music"):
        for language, models in {"en": ("m", "n"), "ja": ("m",)}.items():
            prompt = built.ask(topic=topic, language=language)
            for model in models:
                for sample in range(12):
                    mention = {"surface": ITEMS[sample % len(ITEMS)], "granularity": sample % 2}
                    built.answer(prompt, [mention], model=model, sample=sample)
    for number, item in enumerate(ITEMS):
        built.link(item, f"Q{number + 1}")
        built.entity(f"Q{number + 1}", item)
    run = built.write()
    measure(run)
    alone = "SELECT DISTINCT dimension, a, a_model, b_model, a_language, b_language FROM differences WHERE metric = "
    assert rows(
        run, f"{alone}'granularity' AND selection = 'all' AND dimension IN ('model', 'language') ORDER BY 2"
    ) == [
        ("language", "en", "m", "m", None, "ja"),
        ("language", "ja", "m", "m", None, "en"),
        ("model", "m", None, None, "en", "en"),
    ]
    assert {row[4:] for row in rows(run, f"{alone}'consensus'")} <= {(None, None)}, "it is of two languages"


def test_models_with_the_same_cells_have_no_second_mean(run: RunFolder) -> None:
    assert rows(run, f"{MEANS} 'model, shared'") == []


def _told(verdict: str) -> dict[str, Any]:
    """A row with this verdict; 'exactly higher' and 'exactly lower' are differences of what was not sampled."""
    if not verdict.startswith("exactly"):
        return {"verdict": verdict, "p": 0.01, "reason": None}
    sign = 1.0 if verdict == "exactly higher" else -1.0
    return {"verdict": "untestable", "p": None, "reason": "no sampling", "difference": sign}


def ranked(run: RunFolder, told: Mapping[tuple[str, str], str | tuple[str, str, str]]) -> dict[str, Any]:
    """The ranks in diversity where these verdicts stand, one a selection, in a run without other differences."""
    [like] = rows(run, "FROM stored_differences WHERE metric = 'diversity' AND dimension = 'model' LIMIT 1")
    names = [name for name, *_ in rows(run, "DESCRIBE stored_differences")]
    row = Difference(**dict(zip(names, like, strict=True)))
    row = replace(row, target="same_prompts", facets={}, inputs=inputs_of(run, require_run(run), MEASURE))
    written = []
    for (a, b), verdicts in told.items():
        three = (verdicts,) * 3 if isinstance(verdicts, str) else verdicts
        for selection, verdict in zip(("all", "answered", "right language"), three, strict=True):
            written.append(replace(row, a=a, b=b, selection=selection, **_told(verdict)))
    write_differences(run, MEASURE.name, written)
    query = "SELECT name, rank_low, rank_high FROM ranks WHERE metric = 'diversity' AND target = 'same_prompts'"
    return {name: (low, high) for name, low, high in rows(run, query)}


def test_ranks_are_ranges_where_models_are_not_told_apart(run: RunFolder) -> None:
    pairs = dict.fromkeys(combinations("abc", 2), "not shown")
    some = {**pairs, ("a", "b"): "higher", ("a", "c"): "higher"}
    assert ranked(run, some) == {"a": (1, 1), "b": (2, 3), "c": (2, 3)}
    turned = {**pairs, ("a", "c"): "lower"}
    assert ranked(run, turned) == {"a": (2, 3), "b": (1, 3), "c": (1, 2)}
    unsure = {**pairs, ("a", "b"): ("higher", "higher", "not shown")}  # not so without texts in another language
    assert set(ranked(run, unsure).values()) == {(1, 3)}
    rest = {("a", "the rest"): "higher", ("b", "the rest"): "not shown", ("c", "the rest"): "lower"}
    assert ranked(run, rest) == {"a": (1, 2), "b": (1, 3), "c": (2, 3)}
    exact = {("a", "b"): "exactly higher", ("a", "c"): "exactly lower", ("b", "c"): "exactly lower"}
    assert ranked(run, exact) == {"a": (2, 2), "b": (3, 3), "c": (1, 1)}
    one, two = (name for (name,) in rows(run, "SELECT DISTINCT model FROM numbers WHERE level = 'model' ORDER BY ALL"))
    ranked(run, {(one, two): "exactly lower"})
    boards = "SELECT model, rank_low, rank_high, variant FROM leaderboard WHERE metric = 'diversity' ORDER BY ALL"
    variant = "same prompts: exact, nothing was sampled"
    assert rows(run, boards) == [(one, 2, 2, variant), (two, 1, 1, variant)]
