"""One against the rest, countries, groups of models, and equivalence: on tables of numbers, and by the command."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.cache.errors import ExperimentError, StoreError
from polyculture.cache.model_facts import GROUPS, SIZES, ModelFacts
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.cli.compare import FactName
from polyculture.metrics.comparison.blocks import Blocks
from polyculture.metrics.comparison.compare import METRICS as COMPARED
from polyculture.metrics.comparison.compare import ComparisonRow, Sides, compare
from polyculture.metrics.comparison.effect import FEWEST_BLOCKS, Effect, paired_effect
from polyculture.metrics.comparison.equivalence import read_margins, result
from polyculture.metrics.comparison.groups import REST, against_rest, group_sides
from polyculture.running.layout import store_layout
from tests.metrics.comparison_worlds import WORLDS, tried, tried_at_edge
from tests.metrics.test_comparison_copies import COUNTRIES, LANGUAGES, METRICS, alike, cell, numbers, store_of
from tests.polyculture.test_command_line import polyculture
from tests.store_builder import StoreBuilder

MARGINS = dict.fromkeys(METRICS, 0.05)
ONE_COUNTRY = Sides("country", "JP", "DE")
COUNTRY_AND_REST = Sides("country", "JP", REST, ("JP",), tuple(sorted({*COUNTRIES} - {"JP"})))
LANGUAGE_AND_REST = Sides("language", "ja", REST, ("ja",), ("de", "en"))
GIVEN = [name for name in WORLDS if not tried(WORLDS[name], 1).withheld]


@given(
    st.integers(0, 10_000),
    st.integers(2, 12),
    st.sampled_from([ONE_COUNTRY, COUNTRY_AND_REST, LANGUAGE_AND_REST]),
    st.sampled_from([Blocks.PROMPTS, Blocks.TOPICS]),
)
@settings(max_examples=16, deadline=None)
def test_copies_of_a_model_change_nothing(seed: int, copies: int, sides: Sides, blocks: Blocks) -> None:
    models = ["one", *(f"one.{copy}" for copy in range(2, copies + 1))]
    with store_of(numbers(seed, ["one"], LANGUAGES)) as once, store_of(numbers(seed, models, LANGUAGES)) as often:
        compared = [compare(store, sides, (), METRICS, blocks, MARGINS) for store in (once, often)]
    assert alike(*compared)


@given(st.integers(0, 10_000), st.integers(2, 12))
@settings(max_examples=8, deadline=None)
def test_copies_of_the_other_side_change_nothing(seed: int, copies: int) -> None:
    """A rest that is one model seven times is that model."""
    others = ["two", *(f"two.{copy}" for copy in range(2, copies + 1))]
    two, rest = Sides("model", "one", "two"), Sides("model", "one", REST, ("one",), tuple(others))
    with store_of(numbers(seed, ["one", *others], LANGUAGES)) as store:
        assert alike(*(compare(store, sides, (), METRICS, margins=MARGINS) for sides in (two, rest)))


def test_the_rest_is_the_mean_of_the_others_and_countries_are_paired_on_topic_and_condition() -> None:
    values = {("JP", "food"): 0.9, ("DE", "food"): 0.1, ("KR", "food"): 0.3, ("JP", "book"): 0.5, ("DE", "book"): 0.5}
    rows = [
        cell("granularity", "one", language, topic, "explicit", country, value)
        for (country, topic), value in values.items()
        for language in ("de", "ja")
    ]
    with store_of(rows) as store:
        [one] = compare(store, ONE_COUNTRY, (), ["granularity"])
        [rest] = compare(store, COUNTRY_AND_REST, ("language",), ["granularity"])[:1]
        with pytest.raises(StoreError, match="cannot be the blocks"):
            compare(store, ONE_COUNTRY, (), ["granularity"], Blocks.COUNTRIES)
    assert one.effect
    assert (one.effect.a, one.effect.b, one.effect.blocks, one.effect.pairs) == (0.7, 0.3, 2, 4)
    assert rest.effect
    assert rest.group == {"language": "de"}
    assert (rest.effect.b, rest.effect.pairs) == (pytest.approx((0.2 + 0.5) / 2), 2)


def test_consensus_of_a_language_and_the_rest_is_that_with_each_third_language() -> None:
    pairs = {("de", "en"): 0.2, ("de", "ja"): 0.4, ("en", "ja"): 0.6}
    rows = [
        {**cell("consensus", "one", a, "food", "explicit", "JP", value), "other_language": b}
        for (a, b), value in pairs.items()
    ]
    with store_of(rows) as store:
        [row] = compare(store, LANGUAGE_AND_REST, (), ["consensus"])
    assert row.effect  # with `de`: ja 0.4, en 0.2; with `en`: ja 0.6, de 0.2
    assert (row.effect.a, row.effect.b, row.effect.pairs) == (pytest.approx(0.5), pytest.approx(0.2), 2)


def effect_of(values: np.ndarray, margin: float) -> Effect:
    effect = paired_effect(values, np.zeros(len(values)), np.arange(len(values)), margin=margin)
    assert effect is not None
    return effect


@given(st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=FEWEST_BLOCKS, max_size=40), st.floats(0.01, 1.5))
@settings(max_examples=200, deadline=None)
def test_equivalence_is_an_interval_within_the_margin(differences: list[float], margin: float) -> None:
    effect = effect_of(np.array(differences), margin)
    if effect.no_interval:
        assert effect.p_beyond is None
        return
    assert effect.low is not None
    assert effect.high is not None
    assert effect.p_beyond is not None
    farthest = max(-effect.low, effect.high)
    if abs(farthest - margin) > 1e-6:
        assert (effect.p_beyond < 0.05) == (farthest < margin)
    assert 0 <= effect.p_beyond <= 1


@pytest.mark.parametrize("name", GIVEN)
def test_equivalence_is_rarely_said_of_a_difference_as_large_as_the_margin(name: str) -> None:
    """10,000 data sets a world: `python -m bench.coverage --data-sets 10000 --only comparison`."""
    found = tried_at_edge(WORLDS[name], 600)
    assert max(found.above, found.below) < 0.09  # 0.065, and two and a half standard errors


def row(p: float | None, beyond: float | None, margin: float | None = 0.05) -> ComparisonRow:
    effect = Effect(0.5, 0.4, 0.1, None, None, p, 20, 20, p_beyond=beyond)
    return ComparisonRow("granularity", {}, effect, 0, p, None, margin, beyond)


def test_the_three_results() -> None:
    assert result(row(0.2, 0.01)) == "same within ±0.05"
    assert result(row(0.01, 0.01)) == "same within ±0.05"
    assert result(row(0.01, 0.3)) == "different"
    assert result(row(0.2, 0.2)) == "undecided"
    assert result(row(None, None)) == "undecided"
    assert result(row(0.01, 0.01, None)) is None


def test_margins() -> None:
    shares = read_margins([".05"], COMPARED)
    assert shares == dict.fromkeys(("granularity", "specificity", "specificity_gain", "consensus"), 0.05)
    named = read_margins(["diversity=5", "consensus=0.1", ".02"], COMPARED)
    assert (named["diversity"], named["consensus"], named["granularity"]) == (5, 0.1, 0.02)
    for word in ("0", "-1", "1", "nan", "inf", "five", "diversity=0", "granularity=1"):
        with pytest.raises(ExperimentError, match="the margin is not a number"):
            read_margins([word], COMPARED)
    for name in ("granularty", ""):
        with pytest.raises(ExperimentError, match=f"'{name}' is not compared"):
            read_margins([f"{name}=.1"], COMPARED)


def test_groups_of_models() -> None:
    origins = {"a": "CN", "b": "CN", "c": "US", "d": "FR"}
    assert group_sides(origins, "origin", "US", "CN") == [Sides("model", "US", "CN", ("c",), ("a", "b"))]
    assert group_sides(origins, "origin", "CN", rest=True) == [Sides("model", "CN", REST, ("a", "b"), ("c", "d"))]
    assert [sides.a for sides in group_sides(origins, "origin")] == ["CN", "US", "FR"]
    two = {model: origin for model, origin in origins.items() if origin != "FR"}
    assert group_sides(two, "origin") == [Sides("model", "CN", "US", ("a", "b"), ("c",))]
    for groups, sides, said in (
        ({}, (None, None), "there is none"),
        ({"a": "CN"}, (None, None), "only 'CN'"),
        (origins, ("CN", "UK"), "no model has the origin 'UK'"),
        (origins, ("CN", "CN"), "compared with itself"),
    ):
        with pytest.raises(StoreError, match=said):
            group_sides(groups, "origin", *sides)


def test_the_size_of_a_model_is_a_class_and_the_command_knows_all_facts() -> None:
    assert [ModelFacts(parameters=one).size for one in (0.5, 4, 14.9, 15, 100, 1000)] == [
        "under 4B", "4B to 15B", "4B to 15B", "15B to 100B", "100B and more", "100B and more",
    ]  # fmt: skip
    assert list(SIZES.values()) == sorted(SIZES.values())
    assert math.isinf(max(SIZES.values()))
    assert [ModelFacts(open=one).group("open") for one in (None, True, False)] == [None, "open", "closed"]
    assert tuple(fact.value for fact in FactName) == GROUPS


FACTS = """
[model_facts."openai:one"]
origin = "US"
parameters = 8
open = true
[model_facts."openai:two"]
origin = "CN"
parameters = 70.6
open = false
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """Three models, of which `one` is always specific and `three` as specific as `two`; Japan has one topic more."""
    models = ("openai:one", "openai:two", "openai:three")
    built = StoreBuilder(tmp_path / "runs" / "pilot", models=models, countries=COUNTRIES, n=2)
    for language, topic, country in product(("de", "en", "ja"), ("book", "food", "music"), COUNTRIES):
        prompt = built.ask(language, topic, country)
        for model in models:
            specific = 1 if model == "openai:one" or (country == "JP" and topic == "food") else 0
            built.answer(prompt, [{"surface": "sushi", "granularity": specific}], model=model)
    built.link("sushi", "Q46383")
    built.entity("Q46383", "sushi", JP="P495")
    built.write()
    file = tmp_path / "exp.toml"
    file.write_text(
        f"""name = "pilot"
models = {list(models)}
languages = ["de", "en", "ja"]
topics = ["book", "food", "music"]
countries = {list(COUNTRIES)}
conditions = ["explicit"]
{FACTS}""",
        encoding="utf-8",
    )
    return file


def test_the_rest_of_a_run(experiment: Path) -> None:
    with open_store(RunFolder(experiment.parent / "runs" / "pilot"), store_layout()) as store:
        assert against_rest(store, "ja") == LANGUAGE_AND_REST
        assert against_rest(store, "JP") == COUNTRY_AND_REST
        assert against_rest(store, "openai:one").of_b == ("openai:three", "openai:two")
        with pytest.raises(StoreError, match="no model, language, country or wording 'explicit'"):
            against_rest(store, "explicit")


def test_the_command(experiment: Path) -> None:
    def run(*words: str) -> tuple[list[dict[str, object]], str]:
        done = polyculture("compare", experiment, *words, "-f", "json", cwd=experiment.parent)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    rows, said = run("ja", "--rest", "--metric", "granularity", "--equivalent", ".05")
    assert [(row["difference"], row["result"], row["no_interval"]) for row in rows] == [(0.0, "undecided", "no spread")]
    assert "Fixed: models, languages and wordings" in said
    rows, said = run("JP", "DE", "--metric", "granularity")
    assert rows[0]["difference"] == pytest.approx(2 / 9)
    assert (rows[0]["pairs"], rows[0]["blocks"], rows[0]["no_interval"]) == (27, 3, "few blocks")
    assert "a block is a topic x condition, over" in said
    assert "to compare countries, add topics or conditions: 18 blocks are six topics" in said
    rows, said = run("--group", "origin", "--metric", "granularity", "--metric", "diversity", "--equivalent", ".05")
    assert "left out, since exp.toml does not say origin of them: openai:three" in said.replace(
        f"{experiment.parent}/", ""
    )
    assert 'Add origin = ... to [model_facts."openai:three"]' in said
    assert "no margin for diversity" in said
    assert [row["result"] for row in rows] == ["different", None]
    rows, _ = run("open", "--rest", "--group", "open", "--metric", "granularity")
    assert rows[0]["difference"] == pytest.approx(20 / 21)
    both = experiment.read_text("utf-8").replace(
        "[model_facts", '[model_facts."openai:three"]\norigin = "FR"\n[model_facts', 1
    )
    experiment.write_text(both, encoding="utf-8")
    rows, _ = run("--group", "origin", "--metric", "granularity")
    assert [(row["side"], row["against"]) for row in rows] == [("US", REST), ("FR", REST), ("CN", REST)]


MISTAKES = [
    (("ja", "de", "--rest"), "--rest is what one side is compared with"),
    (("--rest",), "--rest is what one side is compared with"),
    (("xx", "--rest"), "no model, language, country or wording 'xx'"),
    (("US", "--group", "origin"), "two sides are needed"),
    (("US", "UK", "--group", "origin"), "no model has the origin 'UK'"),
    (("--native", "--group", "origin"), "two sides are needed"),
    (("ja", "de", "--equivalent", "2"), "the margin is not a number between 0 and 1"),
    (("JP", "ja"), "of different kinds"),
    (("JP", "DE", "--blocks", "countries"), "cannot be the blocks"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_a_mistake_is_one_line(experiment: Path, words: tuple[str, ...], said: str) -> None:
    done = polyculture("compare", experiment, *words, cwd=experiment.parent)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr.strip().splitlines()[-1]


def test_facts_reach_the_view_of_models_and_buy_nothing(experiment: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in experiment.parent.rglob("*.parquet")}
    columns = "model, origin, parameters, size, open"

    def models() -> list[dict[str, object]]:
        query = f"SELECT {columns} FROM models ORDER BY model"
        done = polyculture("sql", experiment, query, "-f", "json", cwd=experiment.parent)
        return [json.loads(line) for line in done.stdout.splitlines()]

    assert {row["origin"] for row in models()} == {None}
    assert polyculture("measure", experiment, cwd=experiment.parent).returncode == 0
    one, three, two = models()
    assert (one["origin"], one["parameters"], one["size"], one["open"]) == ("US", 8, "4B to 15B", True)
    assert (two["size"], two["open"]) == ("15B to 100B", False)
    assert {three[column] for column in ("origin", "parameters", "size", "open")} == {None}
    changed = experiment.read_text("utf-8").replace('"CN"', '"China"')
    experiment.write_text(changed, encoding="utf-8")
    again = polyculture("measure", experiment, cwd=experiment.parent)
    assert "0 of them before" not in again.stderr
    assert models()[2]["origin"] == "China"
    assert all(path.stat().st_mtime_ns == changed_at for path, changed_at in before.items())


WRONG_FACTS = [
    ("parameters = 7600000000", "must be 100000 or less"),
    ("parameters = 0", "must be more than 0"),
    ('open = "yes"', "must be true or false"),
    ('origin = ""', "must have the form"),
    ("orgin = 1", "unknown key"),
]


@pytest.mark.parametrize(("line", "said"), WRONG_FACTS)
def test_a_fact_that_is_none_is_one_line(experiment: Path, line: str, said: str) -> None:
    text = experiment.read_text("utf-8")
    experiment.write_text(f'{text}\n[model_facts."openai:three"]\n{line}\n', encoding="utf-8")
    done = polyculture("compare", experiment, "ja", "de", cwd=experiment.parent)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
