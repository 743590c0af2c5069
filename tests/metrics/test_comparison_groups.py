"""Groups of models by what is known of them, and facts in the experiment file."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path

import pytest

from polyculture.cache.errors import ExperimentError, StoreError
from polyculture.cache.store.model_facts import GROUPS, SIZES, ModelFacts
from polyculture.cli.compare import FactName
from polyculture.experiment.file import read_experiment
from polyculture.metrics.comparison.sides import REST, Sides, group_sides
from tests.polyculture.test_command_line import polyculture
from tests.store_builder import StoreBuilder

COUNTRIES = ("DE", "IT", "JP")
MODELS = ("openai:one", "openai:two", "openai:three")


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
    built = StoreBuilder(tmp_path / "runs" / "pilot", models=MODELS, countries=COUNTRIES, n=2)
    for language, topic, country in product(("de", "en", "ja"), ("book", "food", "music"), COUNTRIES):
        prompt = built.ask(language, topic, country)
        for model in MODELS:
            specific = 1 if model == "openai:one" or (country == "JP" and topic == "food") else 0
            built.answer(prompt, [{"surface": "sushi", "granularity": specific}], model=model)
    built.link("sushi", "Q46383")
    built.entity("Q46383", "sushi", JP="P495")
    built.write()
    return write_experiment(tmp_path)


def write_experiment(folder: Path) -> Path:
    file = folder / "exp.toml"
    file.write_text(
        f"""name = "pilot"
models = {list(MODELS)}
languages = ["de", "en", "ja"]
topics = ["book", "food", "music"]
countries = {list(COUNTRIES)}
conditions = ["explicit"]
{FACTS}""",
        encoding="utf-8",
    )
    return file


def test_a_group_is_compared_as_the_mean_of_its_models_and_models_without_a_fact_are_named(experiment: Path) -> None:
    words = ("compare", experiment, "--metric", "granularity", "--target", "same_prompts", "-f", "json")
    done = polyculture(*words, "--group", "origin", cwd=experiment.parent)
    assert done.returncode == 0, done.stderr
    assert "origin of them: openai:three" in done.stderr
    assert '[model_facts."openai:three"]' in done.stderr
    assert [(row["a"], row["b"]) for row in map(json.loads, done.stdout.splitlines())] == [("US", "CN")]


def test_facts_reach_the_view_of_models_and_buy_nothing(experiment: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in experiment.parent.rglob("*.parquet")}
    columns = "model, origin, parameters, size, open"

    def models() -> list[dict[str, object]]:
        query = f"SELECT {columns} FROM models ORDER BY model"
        done = polyculture("sql", experiment, query, "-f", "json", cwd=experiment.parent)
        return [json.loads(line) for line in done.stdout.splitlines()]

    assert {row["origin"] for row in models()} == {None}
    assert polyculture("run", "--only", "measure", experiment, cwd=experiment.parent).returncode == 0
    one, three, two = models()
    assert (one["origin"], one["parameters"], one["size"], one["open"]) == ("US", 8, "4B to 15B", True)
    assert (two["size"], two["open"]) == ("15B to 100B", False)
    assert {three[column] for column in ("origin", "parameters", "size", "open")} == {None}
    changed = experiment.read_text("utf-8").replace('"CN"', '"China"')
    experiment.write_text(changed, encoding="utf-8")
    again = polyculture("run", "--only", "measure", experiment, cwd=experiment.parent)
    assert "0 of them before" not in again.stderr
    assert models()[2]["origin"] == "China"
    assert all(path.stat().st_mtime_ns == changed_at for path, changed_at in before.items())


WRONG_FACTS = [
    ("parameters = 7600000000", "must be 100000 or less"),
    ("parameters = 0", "must be more than 0"),
    ('open = "yes"', "must be true or false"),
    ('origin = ""', "must have the form"),
    ('orgin = "China"', "unknown key"),
]


@pytest.mark.parametrize(("line", "said"), WRONG_FACTS)
def test_a_fact_that_is_none_is_one_line(tmp_path: Path, line: str, said: str) -> None:
    file = write_experiment(tmp_path)
    text = file.read_text("utf-8")
    file.write_text(f'{text}\n[model_facts."openai:three"]\n{line}\n', encoding="utf-8")
    with pytest.raises(ExperimentError) as told:
        read_experiment(file)
    assert said in str(told.value)
    assert "\n" not in str(told.value)
