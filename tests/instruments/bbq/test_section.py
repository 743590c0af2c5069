"""The report's section on multiple choice: figures, small multiples, and the answers that their points lead to."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pandas as pd
import pytest

from polyculture.instruments.bbq.answer_blocks import answer_blocks
from polyculture.instruments.bbq.region_figure import region
from polyculture.reports.figures.chart import Mark
from tests.browsers import NoBrowserError, opened_browser
from tests.instruments.bbq.made_up import UNKNOWN, UNKNOWNS, write_folder
from tests.instruments.bbq.test_asking import EXPERIMENT
from tests.polyculture.test_command_line import polyculture

HOSTILE = "<img src=x>"


def section_of(folder: Path) -> str:
    done = polyculture("report", "exp.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "runs" / "bias" / "report.html").read_text(encoding="utf-8")
    assert "<img" not in page
    return page.partition('<section id="chosen"')[2].partition("</section>")[0]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers of two models, one of them under both prompts; one answer each is hostile."""
    folder = tmp_path_factory.mktemp("section")
    (folder / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    data = write_folder(folder / HOSTILE)
    samples = (data / "data" / "KoBBQ_test_samples.tsv").read_text(encoding="utf-8").splitlines()[1:]
    names = [row.split("\t")[0] for row in samples]
    answers = [HOSTILE, *(row.split("\t")[6] for row in samples[1:])]
    for model, prompts in ((HOSTILE, ("1",)), ("two", ("1", "2"))):
        for prompt in prompts:
            lines = [
                f"{name}\t{said.replace(UNKNOWN, UNKNOWNS[prompt])}" for name, said in zip(names, answers, strict=True)
            ]
            (folder / "said.tsv").write_text("\n".join(["id\tanswer", *lines]), encoding="utf-8")
            words = ("--folder", data, "--answers", "said.tsv", "--called", model, "--prompts", prompt)
            done = polyculture("bbq", "kobbq", "exp.toml", *words, cwd=folder)
            assert done.returncode == 0, done.stderr
    return folder


def test_accuracy_is_drawn_against_bias_for_every_model_and_prompt(run: Path) -> None:
    section = section_of(run)
    assert section.count("<svg") == 2 * 2 + 3 * 2  # two models; three of model and prompt; both kinds of contexts
    assert "two, prompt 2" in section
    assert "all categories" in section
    assert re.search(r">\d\s%<", section)


def test_every_point_leads_to_questions_and_answers(run: Path) -> None:
    section = section_of(run)
    there = set(re.findall(r'<div class="answers" id="([^"]+)"', section))
    led = set(re.findall(r'href="#(answers-[^"]+)"', section))
    assert led == there == {f"answers-{group}-{number}" for group in (0, 1) for number in ("all", "1")}
    blocks = section.split('<div class="answers" id="')[1:]
    assert len(blocks) == 4
    for block in blocks:
        # Every kind of context and of choice is among the eight, so that the one answer out of choice is, too.
        assert block.count('<div class="answer"') == 8
        assert "Out of choice: no choice was named" in block
        assert "Read as unknown" in block
        assert "&lt;img src=x&gt;" in block
        assert "노인와 청년가 있었습니다." in block


def test_a_click_on_a_point_shows_its_answers_alone(run: Path) -> None:
    section_of(run)
    try:
        with opened_browser() as browser:
            page = browser.new_page()
            page.goto((run / "runs" / "bias" / "report.html").as_uri())
            assert page.locator(".answers:visible").count() == 0
            page.locator("#chosen figure svg a").first.click(force=True)
            assert page.locator(".answers:visible").count() == 1
            assert page.locator(".answers:visible .answer").count() == 8
            page.set_viewport_size({"width": 390, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
    except NoBrowserError as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))


def test_points_that_are_near_have_one_label() -> None:
    made = [("all", 0.5, 0.0), ("1", 0.5, 0.0), ("2", 0.51, 0.01), ("3", 0.9, 0.0)]
    points = pd.DataFrame(made, columns=["name", "x", "y"])
    points["mark"] = [Mark(f"point {name}", to=f"to-{name}") for name in points["name"]]
    drawn = region(points, "ambiguous", "what it shows").draw()
    assert 'what it shows"' in drawn
    assert ">1<" in drawn
    assert ">2<" not in drawn
    assert '<a href="#to-2" aria-label="point 2"' in drawn
    assert ">3<" in drawn
    assert ">3<" not in region(points, "ambiguous", "what it shows", small=True).draw()


def test_a_likelihood_and_a_failure_are_shown_for_what_they_are() -> None:
    row = {
        "category": "age", "sample_id": "s", "prompt": "1", "context": "counter-biased", "context_text": "c" * 5_000,
        "question_text": "q", "choices": ["one", "two", "three"], "shown": "bou", "raw": None,
        "scores": [-1.0, -2.5, -3.0],
        "reading": "A", "role": "biased", "status": "ok", "error": None,
    }  # fmt: skip
    failed = row | {"scores": None, "reading": None, "role": None, "status": "failed", "error": "timed out"}
    whole, age = answer_blocks(3, "title", {None: "all", "age": "1"}, [row, failed])
    assert (whole.anchor, age.anchor) == ("answers-3-all", "answers-3-1")
    scored, lost = age.answers
    assert [choice.score for choice in scored.choices] == ["-1.00", "-2.50", "-3.00"]
    assert [(choice.right, choice.biased, choice.chosen) for choice in scored.choices] == [
        (False, True, True), (True, False, False), (False, False, False)
    ]  # fmt: skip
    assert (scored.said, scored.outcome) == (None, "biased")
    assert len(scored.text) < 2_000
    assert (lost.outcome, lost.error) == ("failed", "timed out")
    assert not any(choice.chosen for choice in lost.choices)
