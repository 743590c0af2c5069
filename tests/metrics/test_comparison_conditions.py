"""`compare --baseline` and `--fail-if`: two runs side by side, conditions, and what a pipeline sees of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.cache.errors import ExperimentError
from polyculture.cache.manifest import Manifest
from polyculture.cli.comparison import decisions_of
from polyculture.metrics.comparison.compare import METRICS, ComparisonRow
from polyculture.metrics.comparison.conditions import (
    Condition,
    Side,
    Verdict,
    decide,
    points_of,
    read_conditions,
)
from polyculture.metrics.comparison.effect import paired_effect
from polyculture.metrics.comparison.runs import measured_otherwise
from tests.polyculture.test_command_line import polyculture
from tests.store_builder import StoreBuilder

COUNTRIES = (
    "AE",
    "AR",
    "AU",
    "CA",
    "CN",
    "DE",
    "ES",
    "GB",
    "IN",
    "IR",
    "IT",
    "JP",
    "KR",
    "MX",
    "NG",
    "TH",
    "TR",
    "TW",
    "US",
)
LANGUAGES = ("de", "ja")


def build(folder: Path, name: str, models: Sequence[str], general: int, others: Sequence[str] = (), n: int = 2) -> Path:
    """A run of `models` in whose prompts `general` of every three countries get a general dish beside the specific one.

    Prompts about the countries `others` have another text than usual.
    """
    built = StoreBuilder(folder / "runs" / name, models=models, countries=COUNTRIES, n=n)
    for language in LANGUAGES:
        for place, country in enumerate(COUNTRIES):
            prompt = built.ask(language, "food", country, name="new text" if country in others else None)
            rice = {"surface": "rice", "granularity": 0}
            for model in models:
                for sample in range(2):
                    built.answer(
                        prompt, ["sushi", rice] if place % 3 < general else ["sushi"], model=model, sample=sample
                    )
    built.link("sushi", "Q46383")
    built.link("rice", "Q5090")
    built.entity("Q46383", "sushi", JP="P495")
    built.write()
    file = folder / f"{name}.toml"
    words = {"models": list(models), "languages": list(LANGUAGES), "topics": ["food"], "countries": list(COUNTRIES)}
    lines = [f'name = "{name}"', *(f"{key} = {json.dumps(value)}" for key, value in words.items())]
    file.write_text("\n".join([*lines, 'conditions = ["explicit"]\n']), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pipeline")
    build(folder, "before", ["openai:old"], general=1)
    build(folder, "after", ["openai:new"], general=2)
    return folder


def compare(folder: Path, *words: object) -> tuple[int, str, list[dict[str, object]]]:
    done = polyculture("compare", *words, "-f", "json", cwd=folder)
    return done.returncode, done.stderr, [json.loads(line) for line in done.stdout.splitlines()]


def test_a_candidate_that_is_lower_ends_with_a_code_of_its_own(folder: Path) -> None:
    words = ("after.toml", "--baseline", "before.toml")
    code, said, lines = compare(folder, *words, "--fail-if", "granularity lower", "--fail-if", "Granularity  Higher")
    assert code == 7, said
    (line,) = lines  # only the metric of the conditions: the family has one test
    # 13 countries of 19 have a general dish beside the specific one, before 7.
    assert line["a"] == pytest.approx((13 * 0.5 + 6) / 19)
    assert line["b"] == pytest.approx((7 * 0.5 + 12) / 19)
    assert line["fail_if"] == "granularity lower: holds; granularity higher: ruled out"
    assert "family of these conditions: 1 tests" in said
    assert said.splitlines()[-1] == "polyculture: --fail-if holds: 'granularity lower'"
    assert "openai:new with openai:old" in said
    other, said, _ = compare(folder, "before.toml", "--baseline", "runs/after", "--fail-if", "granularity lower")
    assert other == 0, said
    assert "does not hold" in said


def test_what_is_not_decided_is_said_and_can_fail(folder: Path) -> None:
    words = ("after.toml", "--baseline", "before.toml", "--fail-if", "granularity lower by more than .2")
    # No prompt names more than one item more: nothing like 20.
    sure = ("--fail-if", "diversity different by more than 20")
    code, said, _ = compare(folder, *words, *sure, "--fail-if-undecided")
    assert code == 8, said
    assert "not shown, and not ruled out" in said
    assert said.splitlines()[-1] == "polyculture: --fail-if is not decided: 'granularity lower by more than 0.2'"


def test_other_prompts_and_another_measurement_are_told(tmp_path: Path) -> None:
    build(tmp_path, "before", ["openai:same"], general=1)
    build(tmp_path, "after", ["openai:same"], general=3, others=["JP"], n=4)
    words = (
        "after.toml",
        "--baseline",
        "before.toml",
        "--fail-if",
        "granularity lower",
        "--fail-if",
        "diversity higher",
    )
    code, said, lines = compare(tmp_path, *words, "--metric", "granularity", "--metric", "diversity")
    assert code == 7, said
    assert "2 cells are left out: the two runs asked it with other prompts" in said
    assert {line["pairs"] for line in lines} == {36}
    verdicts = {line["metric"]: line["fail_if"] for line in lines}
    assert verdicts["diversity"] == "diversity higher: withheld"
    assert "4 samples a prompt against 2" in said


def test_what_was_measured_otherwise_is_withheld() -> None:
    one = Manifest(experiment="one", polyculture="0", topics=["food"], n=2, linker_id="x", extractor_ids={"food": "e"})
    assert measured_otherwise(one, one) == {}
    others = {"linker_id": "y", "reader_id": "r", "extractor_ids": {"food": "f"}}
    for key, value in others.items():
        assert list(measured_otherwise(one, one.model_copy(update={key: value}))) == [""]
    # One more topic changes the linker's id, and not what the shared topics are linked with.
    more = {"topics": ["food", "music"], "linker_id": "z", "extractor_ids": {"food": "e", "music": "f"}}
    assert measured_otherwise(one, one.model_copy(update=more)) == {}
    reasons = measured_otherwise(one, one.model_copy(update={"n": 4}))
    assert "granularity" not in reasons
    values = np.linspace(-0.2, -0.1, 20)
    effect = paired_effect(values, np.zeros(20), np.arange(20))
    assert effect is not None
    rows = [ComparisonRow(metric, {}, effect, 0, effect.p) for metric in ("granularity", "diversity")]
    conditions = [Condition(row.metric, Side.LOWER) for row in rows]
    assert [one.verdict for one in decisions_of(conditions, rows, reasons)] == [Verdict.HOLDS, Verdict.WITHHELD]
    everything = decisions_of(conditions, rows, {"": "measured otherwise", **reasons})
    assert [(one.verdict, one.reason) for one in everything] == [(Verdict.WITHHELD, "measured otherwise")] * 2


MISTAKES = [
    (("--fail-if", "specifity lower"), "'specifity' is not compared. Did you mean 'specificity'?"),
    (("--fail-if", "specificity falls"), "is no condition. Write METRIC lower|higher|different"),
    (("--fail-if", "specificity lower by more than lots"), "lots is not a number between 0 and 1"),
    (("--fail-if", "specificity lower by more than 0"), "0 is not a number between 0 and 1"),
    (("--fail-if", "consensus lower", "--metric", "diversity"), "'consensus' is not compared"),
    (("--fail-if", "specificity_gain lower"), "the comparison has no number of specificity_gain"),
    (("--fail-if-undecided",), "has no condition"),
    (("--rest", "openai:new"), "--baseline compares this run with another one"),
    (("openai:knew",), "this run has no model 'openai:knew'. Did you mean 'openai:new'?"),
    (("openai:new",), "the baseline has no model 'openai:new'"),
    (("--baseline", "after.toml"), "after.toml is this run itself"),
    (("--baseline", "runs"), "holds no run"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_a_mistake_is_one_line(folder: Path, words: tuple[str, ...], said: str) -> None:
    code, told, lines = compare(folder, "after.toml", "--baseline", "before.toml", *words)
    assert code == 2
    assert lines == []
    assert said in told.splitlines()[-1]


def test_two_models_of_one_run_are_gated_too(tmp_path: Path) -> None:
    file = build(tmp_path, "both", ["openai:a", "openai:b"], general=2)
    words = ("--fail-if", "granularity lower", "--fail-if", "granularity lower by more than .01")
    code, said, _ = compare(tmp_path, file, "openai:a", "openai:b", *words, "--fail-if-undecided")
    assert code == 8, said
    assert "'granularity lower': +0: withheld (no spread)" in said
    # In all 19 blocks the difference is exactly 0, which a margin rules out without an interval.
    assert said.splitlines()[-1] == "polyculture: --fail-if is not decided: 'granularity lower'"


differences = st.lists(st.floats(-1, 1, width=16), min_size=18, max_size=30).filter(lambda found: np.ptp(found) > 0.01)


@settings(max_examples=40)
@given(differences, st.floats(0.01, 0.9))
def test_a_margin_is_decided_by_the_interval(found: list[float], by: float) -> None:
    """With one line the family is one test: a condition holds where the interval lies beyond the margin."""
    conditions = [Condition("granularity", side, by) for side in Side]
    for condition in conditions:
        points = points_of([condition])["granularity"]
        values = np.array(found)
        effect = paired_effect(values, np.zeros(len(values)), np.arange(len(values)), points=points)
        assert effect is not None
        if effect.low is None or effect.high is None:
            continue
        (decision,) = decide([condition], [ComparisonRow("granularity", {}, effect, 0, effect.p)])
        below, above = effect.high < -by, effect.low > by
        within = -by < effect.low and effect.high < by
        expected = {
            Side.LOWER: (below, effect.low > -by),
            Side.HIGHER: (above, effect.high < by),
            Side.DIFFERENT: (below or above, within),
        }[condition.side]
        told = (decision.verdict is Verdict.HOLDS, decision.verdict is Verdict.RULED_OUT)
        assert told == expected, (effect, decision)


def test_conditions_are_read_in_any_case_and_once() -> None:
    read = read_conditions(
        ["Specificity-Gain LOWER  by more than .1", "specificity gain lower by more than 0.1"], METRICS
    )
    assert read == [Condition("specificity_gain", Side.LOWER, 0.1)]
    assert str(read[0]) == "specificity_gain lower by more than 0.1"
    with pytest.raises(ExperimentError, match="is no condition"):
        read_conditions([""], METRICS)
