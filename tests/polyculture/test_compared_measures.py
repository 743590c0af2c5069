"""`compare` shows what instruments measured of the sides that it is asked for, and a gate may ask about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from polyculture.cache.store.data_identity import inputs_of
from polyculture.cache.store.manifest import read_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.instruments.cbs.layout import MEASURE as CBS
from polyculture.instruments.differences import ComparedFacets, difference_rows, with_verdicts
from polyculture.instruments.swaps.layout import MEASURES as SWAPS
from polyculture.metrics.inference.paired import paired_difference
from polyculture.metrics.measured import write_differences
from tests.metrics.compared_runs import specific_with, write_run
from tests.polyculture.test_command_line import polyculture

ONE, TWO = "openai:one", "openai:two"
LEVELS: tuple[dict[str, str], ...] = (
    {},
    {"language": "ja", "country": "Japanese"},
    {"language": "ja", "country": "Japanese", "topic": "food"},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts of two models, their Cultural Bias Scores (two thirds of a hundredth apart), and sampled answers."""
    folder = tmp_path_factory.mktemp("measures")
    write_run(folder, "run", specific_with({ONE: 0.9, TWO: 0.5}), languages=("ja",))
    run = RunFolder(folder / "runs" / "run")
    manifest = read_manifest(run.manifest)
    assert manifest is not None
    for measure, metric, condition, sampled in ((CBS, "cbs", "grounded", False), (SWAPS["qa"], "accuracy", "qa", True)):
        inputs, rows = inputs_of(run, manifest, measure), []
        for level in LEVELS:
            shared = {"dataset": "camellia", "condition": condition, "method": "sum", **level}
            sides = ComparedFacets(measure.name, metric, "model", ONE, TWO, shared, {"form": "causal"})
            found = paired_difference(0.6, 0.4, 0.05**2, 10)
            rows += difference_rows(sides, found, unit="context x entity", units=9, inputs=inputs, sampled=sampled)
        write_differences(run, measure.name, with_verdicts(rows))
    return folder


def compare(folder: Path, *words: str) -> tuple[int, list[str], list[dict[str, Any]]]:
    done = polyculture("compare", "run.toml", *words, "-f", "json", cwd=folder)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, done.stderr.splitlines(), [row for row in rows if row["measure"] != "entities"]


def test_rows_are_of_the_coarsest_level_and_stand_with_those_of_texts_in_one_family(folder: Path) -> None:
    code, said, rows = compare(folder, TWO, ONE)
    assert code == 0, said
    assert [(row["measure"], row["metric"], row["target"], row["language"]) for row in rows] == [
        ("cbs", "cbs", "same_prompts", "*"),
        ("cbs", "cbs", "new_prompts", "*"),
        ("qa", "accuracy", "same_prompts", "*"),
        ("qa", "accuracy", "new_prompts", "*"),
    ]
    exact, others, unknown, _ = rows
    assert (exact["difference"], exact["reason"]) == (
        pytest.approx(-0.2),
        "no sampling",
    )  # as it was asked: two less one
    assert unknown["reason"] == "new prompts alone"
    reach = stats.t.ppf(0.975, 10) * 0.05
    assert (others["low"], others["high"]) == pytest.approx((-0.2 - reach, -0.2 + reach))
    assert others["q"] >= others["p"]
    _, _, typed = compare(folder, ONE, TWO, "--by", "topic", "--metric", "cbs", "--target", "new_prompts")
    assert [(row["topic"], row["language"]) for row in typed] == [("food", "ja")]
    assert typed[0]["verdict"] == "higher"


def test_they_are_printed_in_a_table_of_their_own(folder: Path) -> None:
    shown = polyculture(
        "compare", "run.toml", ONE, TWO, "--metric", "cbs", "--target", "new_prompts", cwd=folder
    ).stdout
    assert "measure" in shown
    assert "camellia" in shown
    assert "specificity" not in shown
    assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("cbs higher", "--target", "new_prompts"), 7),
        (("cbs[grounded] higher by more than .1", "--target", "new_prompts"), 0),
        (("cbs higher by more than .05", "--target", "new_prompts"), 7),
        (("cbs lower", "--target", "same_prompts"), 0),
        (("cbs higher", "--target", "same_prompts"), 7),
        (("cbs higher",), 2),  # nothing was sampled: which target is meant?
        (("accuracy higher",), 3),
        (("cbss higher",), 2),
    ],
)
def test_conditions_on_them_end_as_those_on_texts(folder: Path, words: tuple[str, ...], code: int) -> None:
    found, said, rows = compare(folder, ONE, TWO, "--fail-if", *words)
    assert found == code, said
    assert all(row["fail_if"] for row in rows)
    if words == ("accuracy higher",):
        assert "Remedy: --target new_prompts" in said[-2]
    if words == ("cbs higher",):
        assert "--target same_prompts" in said[-1]
