"""Comparisons: pairs, blocks, intervals and p-values, against brute force, simulation and small stores."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.cache.errors import StoreError
from polyculture.cache.store import open_store
from polyculture.metrics.comparison.compare import NATIVE, Row, Sides, compare, lay_out_native, sides_of
from polyculture.metrics.comparison.effect import adjusted, paired_effect
from polyculture.running.layout import store_layout
from tests.polyculture.test_command_line import polyculture
from tests.store_builder import StoreBuilder

COUNTRIES = ("DE", "ES", "IN", "IT", "JP", "KR", "MX", "US")


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=2, max_size=12),
)
@settings(max_examples=60, deadline=None)
def test_p_is_the_share_of_sign_changes_that_are_as_extreme(drawn: list[tuple[int, int]]) -> None:
    differences = np.array([difference for difference, _ in drawn], dtype=float)
    _, block = np.unique([number for _, number in drawn], return_inverse=True)
    effect = paired_effect(differences, np.zeros(len(drawn)), block)
    assert effect is not None
    sums = np.bincount(block, weights=differences)
    if len(sums) < 2:
        assert effect.p is None
        assert effect.low is None
        return
    arranged = [float(np.dot(signs, sums)) for signs in itertools.product((1, -1), repeat=len(sums))]
    tail = min(
        sum(total >= sums.sum() for total in arranged),
        sum(total <= sums.sum() for total in arranged),
    )
    assert effect.p == pytest.approx(min(1.0, 2 * tail / len(arranged)))


def test_where_nothing_differs_one_test_in_twenty_says_so_and_the_interval_covers() -> None:
    """Blocks of several pairs that share a part: taken as independent pairs, four in ten would be called different."""
    generator = np.random.default_rng(7)
    false, covered, worlds, block = 0, 0, 1_000, np.repeat(np.arange(20), 5)
    for _ in range(worlds):
        differences = generator.normal(size=20)[block] + generator.normal(scale=0.5, size=100)
        effect = paired_effect(differences + 0.3, np.zeros(100), block)
        assert effect is not None
        assert effect.low is not None
        assert effect.high is not None
        covered += effect.low <= 0.3 <= effect.high
    for _ in range(200):
        differences = generator.normal(size=20)[block] + generator.normal(scale=0.5, size=100)
        effect = paired_effect(differences, np.zeros(100), block)
        assert effect is not None
        assert effect.p is not None
        false += effect.p < 0.05
    assert 0.93 <= covered / worlds <= 0.97
    assert 2 <= false <= 20  # 10 of 200, give or take three standard errors


def test_limits_are_differences_that_there_can_be() -> None:
    a, b, block = np.array([0.9, 0.1]), np.array([0.1, 0.0]), np.arange(2)
    free, share = paired_effect(a, b, block), paired_effect(a, b, block, farthest=1.0)
    assert free is not None
    assert share is not None
    assert free.low is not None
    assert free.low < -1
    assert (share.low, share.high, share.difference, share.p) == (-1.0, 1.0, free.difference, free.p)


def test_q_is_benjamini_and_hochbergs_and_passes_over_missing_ones() -> None:
    assert adjusted([0.01, None, 0.04, 0.03]) == [pytest.approx(0.03), None, pytest.approx(0.04), pytest.approx(0.04)]
    assert adjusted([None]) == [None]
    assert paired_effect(np.array([]), np.array([]), np.array([], dtype=np.int64)) is None


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model `one` is more specific than `two` by 1/2 on every prompt; Japanese knows Japan's dishes, German none."""
    folder = tmp_path_factory.mktemp("comparison")
    models = ("openai:one", "openai:two")
    built = StoreBuilder(folder / "runs" / "pilot", models=models, countries=COUNTRIES, n=10)
    for language in ("de", "ja"):
        for country in (None, *COUNTRIES):
            prompt = built.ask(language, country=country)
            for model in models:
                general = {"surface": "rice", "granularity": 0 if model == "openai:two" else 1}
                dish = "sushi" if language == "ja" else "pizza"
                built.answer(prompt, [{"surface": dish, "granularity": 1}, general], model=model)
    built.link("sushi", "Q46383")
    built.link("pizza", "Q177")
    built.link("rice")
    built.entity("Q46383", "sushi", JP="P495")
    built.entity("Q177", "pizza", IT="P495")
    built.write()
    file = folder / "exp.toml"
    file.write_text(
        f"""name = "pilot"
models = {list(models)}
languages = ["de", "ja"]
topics = ["food"]
countries = {list(COUNTRIES)}
conditions = ["neutral", "explicit"]
""",
        encoding="utf-8",
    )
    return file


def rows_of(experiment: Path, sides: Sides, *by: str) -> dict[tuple[str, ...], Row]:
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
    assert (granularity.a, granularity.b, granularity.difference) == (1.0, 0.5, 0.5)
    assert (granularity.pairs, granularity.blocks) == (18, 18)
    assert granularity.p == pytest.approx(2 / 10_000, rel=0.5)  # 2 of 2^18 arrangements; the least that 9,999 show
    diversity = found["diversity", ""].effect
    assert diversity is not None
    assert (diversity.difference, diversity.p) == (0.0, 1.0)


def test_countries_of_the_same_neutral_responses_are_one_block(experiment: Path) -> None:
    found = rows_of(experiment, Sides("model", "openai:one", "openai:two"), "condition")
    neutral = found["specificity", "neutral"].effect
    explicit = found["specificity", "explicit"].effect
    assert neutral is not None
    assert explicit is not None
    assert (neutral.pairs, neutral.blocks) == (16, 2)
    assert (explicit.pairs, explicit.blocks) == (16, 16)


def test_two_conditions(experiment: Path) -> None:
    found = rows_of(experiment, Sides("condition", "explicit", "neutral"))
    specificity = found["specificity",].effect
    assert specificity is not None
    assert (specificity.difference, specificity.pairs, specificity.blocks) == (0.0, 32, 4)
    assert found["granularity",].effect is not None


def test_native_against_other_languages(experiment: Path) -> None:
    found = rows_of(experiment, NATIVE, "country")
    japan, germany = (found["specificity", country, "explicit"].effect for country in ("JP", "DE"))
    assert japan is not None
    assert germany is not None
    assert (japan.a, japan.b, japan.difference) == (1.0, 0.0, 1.0)
    assert germany.difference == 0.0
    assert not any("IT" in group for group in found)  # nobody was asked in Italian


def test_specificity_is_never_averaged_over_conditions(tmp_path: Path) -> None:
    """With the country named, `one` is the more specific model; with a name or nothing, `two` is.

    The share of sushi in four mentions, for Japan: one 4/4, 0, 0 and two 3/4, 2/4, 2/4 (explicit, implicit, neutral).
    Over all conditions `two` would lead by 1/4; the table of models shows explicit prompts, where `one` does.
    """
    built = StoreBuilder(tmp_path, models=("one", "two"), countries=("JP",), n=1)
    sushi = {"explicit": (4, 3), "implicit_male": (0, 2), "neutral": (0, 2)}
    for language in ("en", "de"):
        for condition, numbers in sushi.items():
            prompt = built.ask(language, country=None if condition == "neutral" else "JP", condition=condition)
            for model, number in zip(("one", "two"), numbers, strict=True):
                built.answer(prompt, ["sushi"] * number + ["pizza"] * (4 - number), model=model, sample=0)
    built.link("sushi", "Q46383")
    built.link("pizza", "Q177")
    built.entity("Q46383", JP="P495")
    built.entity("Q177", IT="P495")
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
    assert rows["specificity", "JP"]["difference"] == 1.0
    assert rows["specificity", "JP"]["q"] is not None
    assert {country for _, country in rows} == {"no country", *COUNTRIES}
    assert "fewer than 6 independent blocks" in done.stderr
    native = polyculture("compare", experiment, "--native", "--metric", "specificity", cwd=experiment.parent)
    assert "JP" in native.stdout
    foreign = sorted(set(COUNTRIES) - {"JP", "DE"})
    assert f"left out, since no language of the run is native there: {', '.join(foreign)}" in native.stderr
    again = polyculture("compare", experiment, "ja", "de", "--by", "country", "-f", "json", cwd=experiment.parent)
    assert again.stdout == done.stdout


MISTAKES = [
    (("openai:one", "openai:tow"), "no 'openai:tow' to compare. Did you mean 'openai:two'?"),
    (("ja", "explicit"), "of different sorts"),
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
    assert all("what follows is of the last run" in remark for remark in remarks)  # the store was not made by a run


def test_a_column_that_pairs_do_not_have(experiment: Path) -> None:
    with pytest.raises(StoreError, match="has no column"):
        rows_of(experiment, Sides("language", "ja", "de"), "block")
