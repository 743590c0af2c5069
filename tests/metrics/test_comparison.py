"""Comparisons: pairs, blocks, intervals and p-values, against brute force, simulation and small stores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from polyculture.cache.errors import StoreError
from polyculture.cache.store import open_store
from polyculture.metrics.comparison.block_mean import block_mean
from polyculture.metrics.comparison.compare import NATIVE, ComparisonRow, Sides, compare, lay_out_native, sides_of
from polyculture.metrics.comparison.effect import (
    FEW_BLOCKS,
    FEWEST_BLOCKS,
    NO_SPREAD,
    Effect,
    adjusted,
    paired_effect,
)
from polyculture.running.layout import store_layout
from tests.metrics.comparison_worlds import BEYOND, WORLDS, tried
from tests.polyculture.test_command_line import polyculture
from tests.store_builder import StoreBuilder

COUNTRIES = ("DE", "ES", "IN", "IT", "JP", "KR", "MX", "US")


values = st.lists(st.floats(-10, 10, allow_subnormal=False), min_size=FEWEST_BLOCKS, max_size=40)


def effect_of(differences: Sequence[float]) -> Effect:
    found = paired_effect(np.array(differences), np.zeros(len(differences)), np.arange(len(differences)))
    assert found is not None
    return found


@given(values, st.floats(-10, 10))
@settings(max_examples=200, deadline=None)
def test_p_and_interval_never_contradict_each_other(differences: list[float], shift: float) -> None:
    effect = effect_of([difference + shift for difference in differences])
    if effect.no_interval:
        assert (effect.no_interval, effect.low, effect.high, effect.p) == (NO_SPREAD, None, None, None)
        return
    assert effect.low is not None
    assert effect.high is not None
    assert effect.p is not None
    assert effect.low < effect.difference < effect.high
    if min(abs(effect.low), abs(effect.high)) > 1e-6:  # no p next to 0.05
        assert (effect.p < 0.05) == (effect.low > 0 or effect.high < 0)


@given(values, st.floats(0.3, 0.999))
@settings(max_examples=100, deadline=None)
def test_the_limits_are_the_means_whose_p_is_what_is_left_of_the_level(differences: list[float], level: float) -> None:
    found = block_mean(np.array(differences), scale=10)
    if found is None:
        return
    for limit in found.interval(level):
        assert found.p(limit) == pytest.approx(1 - level, rel=1e-4)


def test_symmetric_blocks_have_students_p_and_interval() -> None:
    half = np.random.default_rng(5).normal(size=12)
    differences = np.concatenate([half, -half]) + 0.4
    student = stats.ttest_1samp(differences, 0)
    effect = effect_of(differences.tolist())
    assert effect.p == pytest.approx(student.pvalue)
    assert (effect.low, effect.high) == pytest.approx(tuple(student.confidence_interval()))


@pytest.mark.parametrize("name", WORLDS)
def test_intervals_hold_or_are_withheld(name: str) -> None:
    """The full count, of 10,000 data sets: `python -m bench.coverage --data-sets 10000 --only comparison`."""
    found = tried(WORLDS[name], 600)
    if found.withheld:
        assert (found.withheld, found.rejected) == (1, 0)
        return
    assert 0.92 <= found.covered <= 0.995  # four standard errors around 0.94 to 0.98
    assert found.rejected == pytest.approx(1 - found.covered)


def test_one_that_takes_prompts_for_independent_where_topics_were_sampled_says_too_much() -> None:
    assert tried(BEYOND["topics of sd 0.5, 6 of them, blocks are prompts"], 300).covered < 0.75


def test_limits_are_differences_that_there_can_be() -> None:
    a, b = np.zeros(FEWEST_BLOCKS), np.zeros(FEWEST_BLOCKS)
    a[:6], b[6:8] = 1.0, 1.0
    free, share = (paired_effect(a, b, np.arange(FEWEST_BLOCKS), farthest=farthest) for farthest in (9.0, 0.3))
    assert free is not None
    assert share is not None
    assert free.low is not None
    assert free.high is not None
    assert free.high > 0.3
    assert (share.low, share.high, share.difference, share.p) == (free.low, 0.3, free.difference, free.p)


def test_with_few_blocks_there_is_no_interval_and_no_p() -> None:
    one_less = effect_of(np.linspace(0.1, 1, FEWEST_BLOCKS - 1).tolist())
    assert (one_less.low, one_less.high, one_less.p, one_less.no_interval) == (None, None, None, FEW_BLOCKS)
    assert one_less.difference == pytest.approx(0.55)
    enough = effect_of(np.linspace(0.1, 1, FEWEST_BLOCKS).tolist())
    assert (enough.p is None, enough.no_interval) == (False, None)


def test_q_is_benjamini_and_hochbergs_and_passes_over_missing_ones() -> None:
    assert adjusted([0.01, None, 0.04, 0.03]) == [pytest.approx(0.03), None, pytest.approx(0.04), pytest.approx(0.04)]
    assert adjusted([None]) == [None]
    assert paired_effect(np.array([]), np.array([]), np.array([], dtype=np.int64)) is None


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model `one` is more specific than `two` by 1/2 on every prompt, by 1 on two of them.

    Japanese knows Japan's dishes, German none.
    """
    folder = tmp_path_factory.mktemp("comparison")
    models = ("openai:one", "openai:two")
    built = StoreBuilder(folder / "runs" / "pilot", models=models, countries=COUNTRIES, n=10)
    for language, topic, country in product(("de", "ja"), ("beverage", "food"), (None, *COUNTRIES)):
        prompt = built.ask(language, topic, country)
        dish = "sushi" if language == "ja" else "pizza"
        for model in models:
            general = {"surface": "rice", "granularity": 0 if model == "openai:two" else 1}
            specific = {"surface": dish, "granularity": 0 if model == "openai:two" and country == "KR" else 1}
            built.answer(prompt, [specific, general], model=model)
    built.link("sushi", "Q46383")
    built.link("pizza", "Q177")
    built.link("rice", "Q5090")
    built.entity("Q46383", "sushi", JP="P495")
    built.entity("Q177", "pizza", IT="P495")
    built.write()
    file = folder / "exp.toml"
    file.write_text(
        f"""name = "pilot"
models = {list(models)}
languages = ["de", "ja"]
topics = ["beverage", "food"]
countries = {list(COUNTRIES)}
conditions = ["neutral", "explicit"]
""",
        encoding="utf-8",
    )
    return file


def rows_of(experiment: Path, sides: Sides, *by: str) -> dict[tuple[str, ...], ComparisonRow]:
    from polyculture.cache.run_folder import RunFolder

    with open_store(RunFolder(experiment.parent / "runs" / "pilot"), store_layout()) as store:
        if sides == NATIVE:
            lay_out_native(store, [("ja", "JP"), ("de", "DE")])
        else:
            assert sides_of(store, sides.a, sides.b) == sides
        return {(row.metric, *row.group.values()): row for row in compare(store, sides, by)}


def test_two_models_on_the_same_prompts(experiment: Path) -> None:
    found = rows_of(experiment, Sides("model", "openai:one", "openai:two"))
    granularity = found["granularity", ""].effect
    assert granularity is not None
    means = (granularity.a, granularity.b, granularity.difference)
    assert means == pytest.approx((1.0, 8 / 18, 10 / 18))
    assert (granularity.pairs, granularity.blocks) == (36, 18)  # both languages of a prompt are one block
    assert granularity.p is not None
    assert granularity.p < 1e-6
    diversity = found["diversity", ""].effect
    assert diversity is not None
    assert (diversity.difference, diversity.p, diversity.no_interval) == (0.0, None, NO_SPREAD)


def test_countries_of_the_same_neutral_responses_are_one_block(experiment: Path) -> None:
    found = rows_of(experiment, Sides("model", "openai:one", "openai:two"), "condition")
    neutral = found["specificity", "neutral"].effect
    explicit = found["specificity", "explicit"].effect
    assert neutral is not None
    assert explicit is not None
    assert (neutral.pairs, neutral.blocks) == (32, 2)
    assert (explicit.pairs, explicit.blocks) == (32, 16)


def test_two_conditions(experiment: Path) -> None:
    found = rows_of(experiment, Sides("condition", "explicit", "neutral"))
    specificity = found["specificity",].effect
    assert specificity is not None
    assert (specificity.difference, specificity.pairs, specificity.blocks) == (0.0, 64, 2)
    assert found["granularity",].effect is not None


def test_native_against_other_languages(experiment: Path) -> None:
    found = rows_of(experiment, NATIVE, "country")
    japan, germany = (found["specificity", country, "explicit"].effect for country in ("JP", "DE"))
    assert japan is not None
    assert germany is not None
    assert (japan.a, japan.b, japan.difference) == (0.5, 0.0, 0.5)
    assert germany.difference == 0.0
    assert not any("IT" in group for group in found)  # nobody was asked in Italian


def test_specificity_is_never_averaged_over_conditions(tmp_path: Path) -> None:
    """With the country named, `one` is the more specific model; with a name or nothing, `two` is.

    The share of sushi in four items, for Japan: one 4/4, 0, 0 and two 3/4, 2/4, 2/4 (explicit, implicit, neutral).
    Over all conditions `two` would lead by 1/4; the table of models shows explicit prompts, where `one` does.
    """
    built = StoreBuilder(tmp_path, models=("one", "two"), countries=("JP",), n=1)
    sushi = {"explicit": (4, 3), "implicit_male": (0, 2), "neutral": (0, 2)}
    for language in ("en", "de"):
        for condition, numbers in sushi.items():
            prompt = built.ask(language, country=None if condition == "neutral" else "JP", condition=condition)
            for model, number in zip(("one", "two"), numbers, strict=True):
                items = [f"sushi {k}" for k in range(number)] + [f"pizza {k}" for k in range(4 - number)]
                built.answer(prompt, items, model=model, sample=0)
    for k in range(4):
        built.link(f"sushi {k}", f"Q{k + 1}")
        built.link(f"pizza {k}", f"Q{k + 11}")
        built.entity(f"Q{k + 1}", JP="P495")
        built.entity(f"Q{k + 11}", IT="P495")
    with open_store(built.write(), store_layout()) as store:
        models = {
            sides: compare(store, sides) for sides in (Sides("model", "one", "two"), Sides("language", "en", "de"))
        }
        table = store.execute("SELECT specificity, specificity_gain FROM models ORDER BY model").fetchall()
    for sides, differences in zip(models, ((0.25, -0.5, -0.5), (0.0, 0.0, 0.0)), strict=True):
        found = {
            row.group["condition"]: row.effect.difference
            for row in models[sides]
            if row.metric == "specificity" and row.effect
        }
        assert found == dict(zip(sushi, differences, strict=True))
    explicit = [
        row.effect
        for row in models[Sides("model", "one", "two")]
        if row.effect and row.group["condition"] == "explicit"
    ]
    assert [(effect.a, effect.b) for effect in explicit] == list(zip(*table, strict=True)) == [(1.0, 0.75), (1.0, 0.25)]


def test_the_command(experiment: Path) -> None:
    done = polyculture("compare", experiment, "ja", "de", "--by", "country", "-f", "json", cwd=experiment.parent)
    assert done.returncode == 0, done.stderr
    rows = {(row["metric"], row["country"]): row for row in map(json.loads, done.stdout.splitlines())}
    assert rows["specificity", "JP"]["difference"] == 0.5
    assert {country for _, country in rows} == {"no country", *COUNTRIES}
    assert f"fewer than {FEWEST_BLOCKS} blocks" in done.stderr
    assert "sampled: prompts; a block is a topic x condition x country" in done.stderr
    assert rows["specificity", "JP"]["p"] is None
    assert rows["specificity", "JP"]["no_interval"] == FEW_BLOCKS
    countries = polyculture("compare", experiment, "ja", "de", "--blocks", "countries", cwd=experiment.parent)
    assert "sampled: countries" in countries.stderr
    native = polyculture("compare", experiment, "--native", "--metric", "specificity", cwd=experiment.parent)
    assert "JP" in native.stdout
    foreign = sorted(set(COUNTRIES) - {"JP", "DE"})
    assert f"left out, since no language of the run is native there: {', '.join(foreign)}" in native.stderr
    again = polyculture("compare", experiment, "ja", "de", "--by", "country", "-f", "json", cwd=experiment.parent)
    assert again.stdout == done.stdout


def test_consensus_between_two_languages_says_why_there_is_none(experiment: Path) -> None:
    """It was said that no prompt was asked of both, though all were."""
    why = "consensus is of two languages, and cannot be compared between ja and de alone"
    done = polyculture("compare", experiment, "ja", "de", "--metric", "consensus", cwd=experiment.parent)
    assert f"nothing to compare: {why}" in done.stderr
    assert "no prompt was asked" not in done.stderr
    beside = polyculture(
        "compare", experiment, "ja", "de", "--metric", "consensus", "--metric", "granularity", cwd=experiment.parent
    )
    assert "granularity" in beside.stdout
    assert why in beside.stderr


MISTAKES = [
    (("openai:one", "openai:tow"), "no 'openai:tow' to compare. Did you mean 'openai:two'?"),
    (("ja", "explicit"), "of different kinds"),
    (("ja", "ja"), "compared with itself"),
    (("ja",), "two sides are needed"),
    ((), "two sides are needed"),
    (("ja", "de", "--native"), "two sides are needed"),
    (("ja", "de", "--by", "language"), "has no column 'language'"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_a_mistake_is_one_line(experiment: Path, words: tuple[str, ...], said: str) -> None:
    done = polyculture("compare", experiment, *words, cwd=experiment.parent)
    assert done.returncode == 2
    *remarks, line = done.stderr.strip().splitlines()
    assert line.startswith("polyculture: ")
    assert said in line
    assert all("these numbers are of the last run" in remark for remark in remarks)  # the store was not made by a run


def test_a_column_that_pairs_do_not_have(experiment: Path) -> None:
    with pytest.raises(StoreError, match="has no column"):
        rows_of(experiment, Sides("language", "ja", "de"), "block")
