"""Two arms asked the same questions: `polyculture bbq --table pairs`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from polyculture.instruments.bbq.paired import arm_differences, paired_rows
from polyculture.instruments.bbq.rows import AnswerRow
from polyculture.instruments.choices.uncertainty import Ratio, paired
from tests.instruments.bbq.chosen import designed, opened, right_role
from tests.instruments.bbq.made_up import UNKNOWN, write_folder
from tests.instruments.bbq.test_asking import EXPERIMENT
from tests.polyculture.test_command_line import polyculture


def lines(rows: list[AnswerRow], **wanted: object) -> list[dict[str, Any]]:
    listing = paired_rows(opened(rows), "kobbq")
    found = [dict(zip(listing.columns, row, strict=True)) for row in listing.rows]
    return [row for row in found if all(row[name] == value for name, value in wanted.items())]


def of(rows: list[AnswerRow], **changes: str) -> list[AnswerRow]:
    return [replace(row, answer_id=f"{row.answer_id}{changes}", **changes) for row in rows]  # type: ignore[arg-type]


def right(templates: int = 12) -> list[AnswerRow]:
    return list(designed(lambda context, _: right_role(context), templates))


def biased(templates: int = 12) -> list[AnswerRow]:
    return list(designed(lambda _, __: "biased", templates))


def test_two_models_are_paired_by_sample() -> None:
    rows = of(right(), model="a") + of(biased(), model="b")
    found = {row["number"]: row for row in lines(rows, compared="models")}
    assert (found["acc_a"]["one's"], found["acc_a"]["other's"], found["acc_a"]["difference"]) == (1, 0, 1)
    assert (found["diff_bias_a"]["one's"], found["diff_bias_a"]["difference"]) == (0, -1)
    assert found["acc_d"]["difference"] == 0.5
    assert found["same choice"]["difference"] == 0.25  # the right choice is the biased one in a quarter
    assert found["acc_a"]["templates"] == 12
    assert found["acc_a"]["p"] < 0.01
    assert lines(of(right(), model="a")) == []


def test_what_one_model_left_out_is_no_pair() -> None:
    whole, part = of(right(), model="a"), of(biased(), model="b")
    silent = [replace(row, role=None, reading="out-of-choice") if row.context == "ambiguous" else row for row in part]
    numbers = {row["number"] for row in lines(whole + silent)}
    assert numbers == {"same choice", "acc_d", "diff_bias_d"}
    rows = list(arm_differences(opened(whole + silent), "kobbq", "inputs"))
    asked = sum(row.context == "ambiguous" for row in part)
    assert {(row.dimension, row.a, row.b, row.missing_a, row.missing_b) for row in rows} == {
        ("model", "a", "b", 0, asked)
    }


def test_generated_and_likelihood_answers_agree_question_by_question() -> None:
    scored = of(right(), answer_method="letter", reader="sum")
    (row,) = lines(right() + scored, compared="methods", number="same choice")
    assert (row["one"], row["other"], row["difference"]) == ("generated, paper", "letter, sum", 1)
    (row,) = lines(biased() + scored, compared="methods", number="same choice")
    assert row["difference"] == 0.25


def test_a_treatment_is_paired_with_the_same_prompt_without_it() -> None:
    rows = biased()
    treated = of(right(), dataset="kobbq+warning")
    (row,) = lines(rows + treated, compared="treatments", number="diff_bias_a")
    assert (row["one"], row["other"], row["one's"], row["other's"]) == ("warning", "none", 0, 1)


def share(tops: np.ndarray, bottoms: np.ndarray) -> Ratio:
    return Ratio(tops[np.newaxis], bottoms[np.newaxis])


def test_differences_are_tested_over_templates() -> None:
    """With one prompt and templates of one size it is the paired t-test over templates."""
    dice = np.random.default_rng(1)
    one, other = (dice.binomial(12, 0.5, (20, 1)).astype(float) for _ in range(2))
    asked = np.full((20, 1), 12.0)
    found = paired(share(one, asked), share(other, asked))
    assert found is not None
    differences = ((one - other) / 12)[:, 0]
    expected = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    assert found.value == pytest.approx(differences.mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=0.02)
    missing = asked * (np.arange(20) > 0)[:, np.newaxis]
    without = paired(share(one * (missing > 0), missing), share(other, asked))
    assert without is not None
    assert without.value == pytest.approx(differences[1:].mean())
    few = paired(share(one[:5], asked[:5]), share(other[:5], asked[:5]))
    assert few is not None
    assert (few.low, few.lacking) == (None, "few templates")
    assert paired(share(one * 0, asked * 0), share(other, asked)) is None


def test_the_table_is_listed_of_all_models_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    data = write_folder(tmp_path / "kobbq")
    samples = (data / "data" / "KoBBQ_test_samples.tsv").read_text(encoding="utf-8").splitlines()[1:]
    for model, column in (("right", 6), ("biased", 5), ("silent", None)):
        said = [row.split("\t")[column] if column else UNKNOWN for row in samples]
        rows = [f"{row.split(chr(9))[0]}\t{text}" for row, text in zip(samples, said, strict=True)]
        (tmp_path / "said.tsv").write_text("\n".join(["id\tanswer", *rows]), encoding="utf-8")
        words = ("--folder", data, "--answers", "said.tsv", "--called", model, "--prompts", "1", "--table", "pairs")
        done = polyculture("bbq", "kobbq", "exp.toml", *words, "--format", "csv", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert "models,file:biased,file:right,," in done.stdout
    assert "models,file:right,file:silent,," in done.stdout
    assert sum(",same choice," in line for line in done.stdout.splitlines()) == 3
