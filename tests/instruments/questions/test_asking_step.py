"""Asking and reading, step by step: what is stored, what is asked again, and what is taken over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.layout import compose
from polyculture.cache.store.parquet import objects_to_table, present_rows, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.store import open_store
from polyculture.generate.engines import ModelSpec, Scored, TokenScore
from polyculture.generate.engines.mock import MockEngine
from polyculture.generate.sampling import SamplingSettings
from polyculture.instruments.questions.asking import question_rows
from polyculture.instruments.questions.asking_step import GenerationStep, LikelihoodStep, shared_tokens
from polyculture.instruments.questions.layout import ANSWERS, LAYOUT, QUESTIONS, READINGS, WANTED_ANSWERS
from polyculture.instruments.questions.model import QuestionSet
from polyculture.instruments.questions.reading import readers
from polyculture.instruments.questions.reading_step import ReadingStep
from tests.instruments.questions.answered import Said, stored
from tests.instruments.questions.made_up import GAPPED, OWN, PAIR, choice, made_up
from tests.instruments.questions.test_asking import GREEDY, job
from tests.steps import do_step

SPEC = ModelSpec("mock:one")


def ask(run: RunFolder, *jobs: Any, text: str = "B", method: str = "generated") -> int:
    """Asks jobs; how many requests that took."""
    script = Counting(text)
    step = GenerationStep("ask", jobs) if method == "generated" else LikelihoodStep(f"score {method}", jobs)
    do_step(run, step, SPEC, script)
    return script.asked


class Counting(MockEngine):
    """A mock model with one answer, that counts what it is asked."""

    def __init__(self, text: str) -> None:
        super().__init__(SPEC)
        self.text, self.asked = text, 0

    def _complete(self, request: Any, prompt: str, seed: int) -> Any:
        self.asked += 1
        return replace(super()._complete(request, prompt, seed), text=self.text, raw=None)

    def _scored(self, request: Any, index: int, continuation: str) -> Scored:
        self.asked += 1
        return super()._scored(request, index, continuation)


def rows(run: RunFolder, of: Any, table: Any) -> list[dict[str, Any]]:
    """The rows of a job."""
    found: list[dict[str, Any]] = JobShards(run, of.job, [table]).read(table.name).to_pylist()
    return found


def read(run: RunFolder, of: QuestionSet) -> None:
    """Reads what is stored."""
    do_step(run, ReadingStep(run, [of]), SPEC)


def test_what_is_answered_is_not_asked_again(tmp_path: Path) -> None:
    run, asked = RunFolder(tmp_path / "a"), job(choice(1), choice(2), orders="published")
    assert ask(run, asked) == 6
    assert ask(run, asked) == 0
    first = rows(run, asked, ANSWERS)[0]
    assert (first["raw"], first["order"], first["labels"], first["shown"]) == (
        "B", [0, 2, 1], ["A", "B", "C"], ["The old man", "Cannot be known", "The young man"],
    )  # fmt: skip
    assert ask(run, job(choice(1), choice(2), choice(3), orders="published")) == 3


def test_more_samples_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    run, sampling = RunFolder(tmp_path / "a"), SamplingSettings(2, 0.7, 1.0, None, 30)
    assert ask(run, job(choice(), sampling=sampling)) == 2
    assert ask(run, job(choice(), sampling=replace(sampling, n=5))) == 3


def test_answers_are_taken_over_where_a_right_option_was_corrected(tmp_path: Path) -> None:
    run, before, now = (
        RunFolder(tmp_path / "a"),
        job(choice()),
        job(choice(right=(0,), roles=("other", "biased", "unknown"))),
    )
    assert ask(run, before) == 1
    assert ask(run, now) == 0
    ids = {row["question_id"] for row in rows(run, now, ANSWERS)}
    assert ids == {before.questions[0].question_id, now.questions[0].question_id}


def test_answers_of_a_run_beside_this_one_are_taken_over(tmp_path: Path) -> None:
    assert ask(RunFolder(tmp_path / "a"), job(choice())) == 1
    other = RunFolder(tmp_path / "b")
    assert ask(other, job(choice(name="renamed"))) == 0
    (row,) = rows(other, job(choice()), ANSWERS)
    assert (row["raw"], row["purchase"]) == ("B", None)
    assert ask(RunFolder(tmp_path / "c"), job(choice(), setup={"base_url": "http://other"})) == 1


def test_readings_are_a_row_for_each_answer_and_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, of, asked = (
        RunFolder(tmp_path / "a"),
        made_up(choice(1), choice(2)),
        job(choice(1), choice(2), orders="cyclic"),
    )
    ask(run, asked)
    read(run, of)
    found = rows(run, asked, READINGS)
    assert {(row["reader"], row["ground"]) for row in found} == {("ours", "letter")}
    answers = {row["answer_id"]: row for row in rows(run, asked, ANSWERS)}
    assert {row["answer_id"]: row["picked"] for row in found} == {key: row["order"][1] for key, row in answers.items()}
    read(run, of)
    assert len(rows(run, asked, READINGS)) == 6
    monkeypatch.setattr(readers, "_rules", lambda: "other rules")
    read(run, of)
    assert len(rows(run, asked, READINGS)) == 12
    assert ask(run, asked) == 0


@pytest.mark.parametrize(
    ("method", "question", "prompts"),
    [
        ("letter", choice(), (OWN,)),
        ("text", choice(), (OWN,)),
        ("sentence", PAIR, (None,)),
        ("gap", GAPPED, (None,)),
    ],
)
def test_likelihoods_are_kept_and_read_in_several_ways(
    tmp_path: Path, method: Any, question: Any, prompts: Any
) -> None:
    run, asked = RunFolder(tmp_path / "a"), job(question, method=method, prompts=prompts)
    assert ask(run, asked, method=method) == len(question.options)
    (row,) = rows(run, asked, ANSWERS)
    assert (row["raw"], len(row["scores"])) == (None, len(question.options))
    read(run, made_up(question, prompts=[prompt for prompt in prompts if prompt], kind=question.kind))
    found = {one["reader"]: one for one in rows(run, asked, READINGS)}
    assert sorted(found) == ["mean", "sum"]
    assert found["sum"]["picked"] == row["order"][row["scores"].index(max(row["scores"]))]


def test_a_masked_model_is_asked_about_the_tokens_that_sentences_share() -> None:
    first, second = (
        [TokenScore(word, score) for word, score in words]
        for words in (
            [("the", -1.0), ("poor", -2.0), ("man", -3.0), ("stole", -4.0)],
            [("the", -1.5), ("rich", -2.5), ("old", -9.0), ("man", -3.5), ("stole", -4.5)],
        )
    )
    shared = shared_tokens([first, second])
    assert [[token.token for token in some] for some in shared] == [["the", "man", "stole"]] * 2
    assert [sum(token.log_probability for token in some) for some in shared] == [-8.0, -9.5]


def test_the_present_questions_take_the_place_of_those_of_their_set_and_language(tmp_path: Path) -> None:
    run, asked = RunFolder(tmp_path / "a"), job(choice(1), choice(2))
    run.root.mkdir()

    def write(of: QuestionSet, jobs: Any) -> list[str]:
        tables = present_rows(run, QUESTIONS, list(question_rows(of)))
        tables |= present_rows(run, WANTED_ANSWERS, [row for one in jobs for row in one.wanted()])
        for table, found in tables.items():
            write_parquet(found, run.table(table.name))
        return sorted(table.name for table in tables)

    assert write(made_up(choice(1), choice(2)), [asked]) == [QUESTIONS.name, WANTED_ANSWERS.name]
    assert write(made_up(choice(1), choice(2)), [asked]) == []
    assert write(made_up(choice(1)), [job(choice(1))]) == [QUESTIONS.name]
    other = replace(choice(1), set="other")
    assert write(replace(made_up(other), name="other"), []) == [QUESTIONS.name]
    assert write(made_up(choice(1)), [job(choice(1), sampling=replace(GREEDY, n=1))]) == []


def test_an_answer_to_a_question_that_its_set_no_longer_has_does_not_count(tmp_path: Path) -> None:
    first, second = Said(0, "first"), Said(0, "second")
    run = stored([first, second], tmp_path / "run")

    def counted() -> list[str]:
        with open_store(run, compose(CORE, LAYOUT)) as store:
            return [name for (name,) in store.sql("SELECT question_id FROM answers ORDER BY ALL").fetchall()]

    assert counted() == [first.question.question_id, second.question.question_id]
    write_parquet(objects_to_table(QUESTIONS, [second.question]), run.table(QUESTIONS.name))
    assert counted() == [second.question.question_id]
