"""The numbers of KoBBQ's published evaluation, from its predictions; `test_import` has those of its raw answers."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from polyculture.instruments.questions.model import Question
from polyculture.instruments.questions.rules.opened import open_set
from tests.instruments.questions.answered import UNREAD, Said, numbers

COLUMNS = {
    "out-of-choice ratio": "out_of_choice_ratio",
    "accuracy in ambiguous contexts": "acc_a",
    "accuracy in disambiguated contexts": "acc_d",
    "diff-bias in ambiguous contexts": "diff_bias_a",
    "diff-bias in disambiguated contexts": "diff_bias_d",
}


@pytest.fixture(scope="module")
def kobbq(shared_data: Path) -> Path:
    return shared_data / "kobbq"


@pytest.fixture(scope="module")
def questions(kobbq: Path) -> dict[str, Question]:
    return {question.name: question for question in open_set("kobbq", kobbq).questions}


def lines(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as text:
        yield from csv.DictReader(text, delimiter="\t")


def said(question: Question, picked: int | None, model: str) -> Said:
    return Said(
        UNREAD if picked is None else picked, question.unit, question.facets, question.name, question.roles,
        question.right, model=model,
    )  # fmt: skip


def predicted(file: Path, model: str, questions: dict[str, Question]) -> Iterator[Said]:
    for line in lines(file):
        question = questions[line["sample_id"]]
        known = line["prediction"] in question.options
        yield said(question, question.options.index(line["prediction"]) if known else None, model)


def far(rows: Iterable[Said], results: Path) -> list[float]:
    """How far each published figure is from ours."""
    found = {
        (row.model, row.facets.get("label") or ("overall" if row.topic == "*" else row.topic), row.metric): row.estimate
        for row in numbers(rows)
        if row.wording == "*"
    }
    return [
        abs((found[line["model"], line["category"], metric] or 0.0) - float(line[title]))
        for line in lines(results)
        for title, metric in COLUMNS.items()
    ]


def test_two_sets_of_predictions(kobbq: Path, questions: dict[str, Question]) -> None:
    peer = kobbq / "peer"
    rows = [
        one for model in ("mixed", "biased") for one in predicted(peer / f"predictions-{model}.tsv", model, questions)
    ]
    found = far(rows, peer / "results-of-the-publishers-evaluation.tsv")
    assert len(found) == 2 * 16 * len(COLUMNS)
    assert max(found) < 1e-9
