"""`compare --fail-if`: conditions, what they come to, and the exit codes that a pipeline sees."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from polyculture.cache.errors import ExperimentError
from polyculture.cache.store.schema.measured import EVERY, Difference
from polyculture.metrics.comparison.compare import ComparisonRow
from polyculture.metrics.comparison.gate import CANNOT_FAIL, GateCondition, GateDirection, decide, read_conditions
from polyculture.metrics.declared import COMPARED
from polyculture.metrics.inference.family import NO_SAMPLING
from polyculture.metrics.inference.limits import Contrast, Estimate
from tests.metrics.compared_runs import specific_with, write_run
from tests.polyculture.test_command_line import polyculture

CONDITIONS = ("explicit", "neutral")


def made(value: float, error: float | None, metric: str = "granularity", condition: str = EVERY) -> ComparisonRow:
    """A row with Student's interval of ten degrees of freedom; without an error it has none."""
    contrast = None
    if error is not None:
        sides = [Estimate(side, error**2, 10, 1, share=False) for side in (value, 0.0)]
        contrast = Contrast(sides[0], sides[1], error**2, 10)
    low, high = contrast.interval() if contrast else (None, None)
    told = Difference(
        measure="entities", metric=metric, dimension="model", a="a", b="b", target="same_prompts", selection="all",
        condition=condition, wording=EVERY, a_estimate=0.5 + value, b_estimate=0.5, difference=value,
        low=low, high=high, p=contrast.p() if contrast else None,
        reason=None if contrast else "few topics", verdict="not shown",
        unit="response", units=20, cells=1, topics=1, topics_same_sign=1, countries=1, countries_same_sign=1, inputs="",
    )  # fmt: skip
    return ComparisonRow(told, contrast)


def read(*words: str) -> list[GateCondition]:
    return read_conditions(words, COMPARED, CONDITIONS)


def test_conditions_are_read_once_in_any_case_and_with_brackets() -> None:
    one, other = read("Specificity-Gain LOWER  by more than .1", "specificity [explicit, neutral] different")
    assert one == GateCondition("specificity_gain", GateDirection.LOWER, 0.1)
    assert other == GateCondition("specificity", GateDirection.DIFFERENT, 0.0, ("explicit", "neutral"))
    assert read(str(one), str(one), str(other)) == [one, other]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("", "is no condition"),
        ("granularity", "is no condition"),
        ("granularity lower by .1", "is no condition"),
        ("granularity[explicit lower", "is no condition"),
        ("granularty lower", "Did you mean 'granularity'?"),
        ("granularity[explict] lower", "no condition 'explict'. Did you mean 'explicit'?"),
        ("granularity lower by more than 1", "not a number between 0 and 1"),
        ("granularity lower by more than 0", "not a number between 0 and 1"),
        ("diversity lower by more than some", "not a number above 0"),
        ("granularity not lower by more than .02", "is no condition"),
    ],
)
def test_what_is_no_condition_is_one_line_with_an_example_or_the_nearest_name(word: str, said: str) -> None:
    with pytest.raises(ExperimentError) as raised:
        read(word)
    assert said in str(raised.value)


@given(
    st.floats(-0.5, 0.5), st.floats(0.01, 0.3), st.sampled_from([0.0, 0.02, 0.2]), st.sampled_from(list(GateDirection))
)
@settings(max_examples=200, deadline=None)
def test_one_condition_holds_where_the_whole_interval_lies_on_its_side(
    value: float, error: float, by: float, side: GateDirection
) -> None:
    row = made(value, error)
    low, high = row.contrast.interval()
    if min(abs(abs(limit) - by) for limit in (low, high)) < 1e-6:
        return
    above, below = low > by, high < -by
    wanted = {GateDirection.HIGHER: above, GateDirection.LOWER: below, GateDirection.DIFFERENT: above or below}[side]
    [decision] = decide([GateCondition("granularity", side, by)], [row])
    assert (decision.holds is True) == wanted
    if by:  # the whole interval must be on the good side of the margin
        within = {
            GateDirection.HIGHER: high < by,
            GateDirection.LOWER: low > -by,
            GateDirection.DIFFERENT: -by < low and high < by,
        }[side]
        [decision] = decide([GateCondition("granularity", side, by, negated=True)], [row])
        assert (decision.holds, decision.fails) == (within, not within)


def test_a_margin_that_no_candidate_could_exceed_is_untestable() -> None:
    row = made(0.0, 0.01)  # the baseline has .5
    for words in ("granularity not lower by more than .5", "granularity not higher by more than .6"):
        [decision] = decide(read_conditions([words], COMPARED, CONDITIONS, "--pass-if"), [row])
        assert (decision.holds, decision.why) == (None, CANNOT_FAIL)
    [decision] = decide(
        read_conditions(["granularity not lower by more than .4"], COMPARED, CONDITIONS, "--pass-if"), [row]
    )
    assert decision.holds


def test_q_is_over_all_tests_of_the_command_and_both_sides_are_one_test() -> None:
    rows = [made(0.1, 0.05), made(0.3, 0.1, "specificity", "explicit"), made(0.2, 0.1, "specificity", "neutral")]
    decisions = decide(
        read("granularity lower", "granularity higher", "specificity[explicit] higher by more than .1"), rows
    )
    assert [one.row for one in decisions] == [rows[0], rows[0], rows[1]]  # neutral prompts were not asked about
    wanted = false_discovery_control([rows[0].contrast.p(), rows[1].contrast.p(0.1)])
    assert [one.q for one in decisions] == pytest.approx([wanted[0], wanted[0], wanted[1]])


def test_a_row_without_an_interval_is_untestable_and_an_exact_difference_decides() -> None:
    few = made(0.5, None)
    assert [one.holds for one in decide(read("granularity higher"), [few])] == [None]
    exact = replace(few, difference=replace(few.difference, reason=NO_SAMPLING))
    words = ("granularity higher", "granularity higher by more than .5", "granularity lower")
    assert [one.holds for one in decide(read(*words), [exact])] == [True, False, False]


@pytest.mark.parametrize("word", ["granularity lower by more than .02", "granularity not lower", "granularity not"])
def test_a_condition_to_pass_denies_a_side_and_has_a_margin(word: str) -> None:
    with pytest.raises(ExperimentError, match=r"--pass-if .* is no condition.*not lower.higher.different by more than"):
        read_conditions([word], COMPARED, CONDITIONS, "--pass-if")


def of_runs(value: float, error: float | None, **more: object) -> ComparisonRow:
    """A candidate against a baseline of .4."""
    row = made(value, error)
    told = {"dimension": "run", "b_estimate": 0.4, "a_estimate": 0.4 + value, "cells": 20, **more}
    return replace(row, difference=replace(row.difference, **told))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (of_runs(-0.05, 0.3), "too wide"),  # a fall from .4 to 0 would be missed
        (of_runs(-0.05, 0.07), None),
        (replace(of_runs(0.0, 0.01), unasked=2), "candidate lacks cells"),
        (replace(of_runs(0.0, 0.01), unasked=1), None),
        (of_runs(-0.15, 0.1), "too wide"),
        (of_runs(0.3, 0.1), None),  # higher
    ],
)
def test_what_a_run_could_not_have_found_is_untestable(row: ComparisonRow, why: str | None) -> None:
    [decision] = decide(read("granularity lower by more than .02"), [row])
    assert (decision.holds, decision.why) == (None if why else False, why)


def test_what_the_same_prompts_show_is_no_pass_for_new_prompts() -> None:
    """A drop of ten standard errors passed with `--target new_prompts`: its own interval held 0."""
    new, same = of_runs(-0.2, 0.1, target="new_prompts"), of_runs(-0.2, 0.02)
    [decision] = decide(read("granularity lower"), [new], [same])
    assert (decision.holds, decision.why) == (None, "shown for the same prompts")
    assert [one.holds for one in decide(read("granularity lower"), [of_runs(-0.02, 0.02)], [of_runs(-0.02, 0.02)])] == [
        False
    ]
    assert [one.holds for one in decide(read("granularity lower"), [replace(new, contrast=None)], [same])] == [None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pipeline")
    chance = specific_with({"openai:old": 0.9, "openai:new": 0.5})
    write_run(folder, "before", chance, models=("openai:old",))
    write_run(folder, "after", chance, models=("openai:new",))
    return folder


def gate(folder: Path, *words: str) -> tuple[int, list[str], list[dict[str, object]]]:
    done = polyculture("compare", "after.toml", "--baseline", "before.toml", *words, "-f", "json", cwd=folder)
    return done.returncode, done.stderr.splitlines(), [json.loads(line) for line in done.stdout.splitlines()]


def test_a_candidate_that_is_lower_ends_with_7_and_one_that_is_not_with_0(folder: Path) -> None:
    code, said, rows = gate(folder, "--fail-if", "granularity[explicit] lower by more than .02")
    assert code == 7, said
    assert [(row["condition"], row["target"], row["selection"]) for row in rows] == [
        ("explicit", "same_prompts", "all")
    ]
    assert rows[0]["fail_if"] == "granularity[explicit] lower by more than 0.02: holds"
    assert any(": holds: " in line and ", q = " in line for line in said)
    assert said[-1].startswith("polyculture: --fail-if holds: 'granularity[explicit] lower by more than 0.02'")
    code, said, rows = gate(
        folder, "--fail-if", "granularity higher", "--fail-if", "specificity[explicit] lower by more than .3"
    )
    assert code == 0, said
    assert {str(row["fail_if"]).rpartition(": ")[2] for row in rows} == {"does not hold"}
    assert not any(", q = " in line for line in said)  # a small one would be that of the other side


def test_what_cannot_be_tested_never_passes_unless_that_is_allowed(folder: Path) -> None:
    words = (
        "--fail-if",
        "granularity higher",
        "--target",
        "new_prompts",
        "--by",
        "topic",
    )  # of one topic three countries
    code, said, rows = gate(folder, *words)
    assert code == 3, said
    assert {row["fail_if"] for row in rows} == {"granularity higher: untestable"}
    assert sum("untestable: too few countries" in line for line in said) == len(rows) == 3
    assert said[-1].startswith("polyculture: --fail-if cannot be tested")
    assert gate(folder, *words, "--allow-untestable")[0] == 0
    both = ("--fail-if", "granularity higher", "--fail-if", "granularity lower by more than .02")
    assert gate(folder, *both)[0] == 7


def test_a_gate_ends_with_its_exit_code_whatever_the_candidate_lacks(tmp_path: Path) -> None:
    """A candidate asked in half the languages, one with the baseline's own answers, a large drop of three topics."""
    chance = specific_with({"openai:one": 0.9})
    told = {"models": ("openai:one",), "n": 20}
    write_run(tmp_path, "before", chance, **told)
    write_run(tmp_path, "half", chance, languages=("de",), **told)
    write_run(tmp_path, "same", chance, taken_over=True, **told)
    write_run(tmp_path, "worse", specific_with({"openai:one": 0.7}), **told)
    write_run(tmp_path, "equal", specific_with({"openai:one": 0.91}), **told)
    lower, safe = ("--fail-if", "granularity lower"), ("--pass-if", "granularity not lower by more than .1")
    codes = {
        ("half", lower): (3, "was not asked"),
        ("half", safe): (3, "was not asked"),
        ("same", lower): (3, 'deployment = "BUILD"'),
        ("worse", lower): (7, "holds"),
        ("worse", (*lower, "--target", "new_prompts")): (3, "too few topics"),
        ("worse", safe): (7, "is not shown"),
        ("equal", lower): (0, "does not hold"),
        ("equal", safe): (0, "is shown"),
        ("equal", ("--pass-if", "granularity not lower by more than .001")): (7, "is not shown"),
    }
    for (candidate, words), (code, said) in codes.items():
        done = polyculture("compare", f"{candidate}.toml", "--baseline", "before.toml", *words, cwd=tmp_path)
        assert done.returncode == code, (candidate, words, done.stderr)
        assert said in done.stderr, (candidate, words, done.stderr)


def test_at_temperature_0_a_gate_must_be_told_its_target(folder: Path, tmp_path: Path) -> None:
    from polyculture.cache.store.manifest import read_manifest, write_manifest
    from polyculture.cache.store.run_folder import RunFolder

    for name in ("before", "after"):
        path = RunFolder(folder / "runs" / name).manifest
        manifest = read_manifest(path)
        write_manifest(manifest.model_copy(update={"sampling": {"temperature": 0}}), path)
    code, said, _ = gate(folder, "--fail-if", "granularity lower")
    assert code == 2
    assert "--target same_prompts" in said[-1]
    assert "--target new_prompts" in said[-1]
    code, said, rows = gate(folder, "--fail-if", "granularity lower", "--target", "same_prompts")
    assert (code, rows[0]["low"], rows[0]["reason"]) == (7, None, NO_SAMPLING)
    assert any("exactly" in line for line in said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--allow-untestable",), "--allow-untestable has no condition"),
        (("--fail-if", "granularity lower", "--metric", "granularity"), "--fail-if names its metrics"),
        (
            ("--fail-if", "granularity lower", "--target", "same_prompts", "--target", "new_prompts"),
            "--fail-if has one target",
        ),
    ],
)
def test_options_that_say_different_things_are_one_line(folder: Path, words: Sequence[str], said: str) -> None:
    code, lines, _ = gate(folder, *words)
    assert code == 2
    assert said in lines[-1]


def test_brackets_where_conditions_are_compared_are_one_line_with_the_remedy(folder: Path) -> None:
    words = ("compare", "after.toml", "explicit", "neutral", "--fail-if", "granularity[explicit] lower")
    done = polyculture(*words, cwd=folder)
    assert done.returncode == 2
    assert "'granularity lower'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("run after.toml --only measure", marks=pytest.mark.full),
        "compare after.toml DE JP --format csv --output rows.csv",
    ],
)
def test_pandas_is_not_loaded_by_commands_that_have_no_frame(folder: Path, words: str) -> None:
    """Arrow loads it before its first array of a list, a quarter of a second of each command."""
    program = f"import sys; sys.argv = ['polyculture', *{words.split()}]\nfrom polyculture.__main__ import main\n"
    program += "try: main()\nexcept SystemExit as done: print(done.code, 'pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=folder)
    assert done.stdout.splitlines()[-1] == "0 False"
