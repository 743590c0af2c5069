"""What is asked: prompts from their parts, orders, draws of templates; and likelihoods."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.store import open_store
from polyculture.generate.engines.base import Decoding
from polyculture.instruments.bbq.asking import AskJob
from polyculture.instruments.bbq.opened import chosen_prompts, open_questions, some_templates
from polyculture.instruments.bbq.orders import ALL, CYCLIC, PUBLISHED, read_order, shown_roles
from polyculture.instruments.bbq.prompts import house_prompt
from polyculture.instruments.bbq.reading import LikelihoodReader, Read
from polyculture.running.layout import store_layout
from tests.instruments.bbq.made_up import QUESTIONS, UNKNOWNS, write_folder
from tests.polyculture.test_command_line import one_line, polyculture

SHARED = Path(os.environ.get("POLYCULTURE_SHARED", Path(__file__).parents[3] / ".." / "shared")).resolve() / "data"
published = pytest.mark.skipif(not (SHARED / "kobbq").is_dir(), reason="KoBBQ's files are not here")
EXPERIMENT = """
name = "bias"
models = ["mock:one"]
"""


def test_a_prompt_is_its_parts_in_order(tmp_path: Path) -> None:
    opened = open_questions("kobbq", write_folder(tmp_path), "evaluation")
    question, (first, second) = opened.questions[0], chosen_prompts(opened, ["1..2"])
    assert first.labels == ("A", "B", "C")
    assert second.labels == ("(a)", "(b)", "(c)")
    shown = second.shown(question, (2, 0, 1))
    assert shown == (UNKNOWNS["2"], *question.choices[:2])
    assert second.text(question, shown) == (
        f"보기에서 고르시오.\n\n지문: {question.context_text}\n물음: {question.question_text}\n"
        f"보기:(a) {shown[0]}\n(b) {shown[1]}\n(c) {shown[2]}\n답:"
    )
    assert shown_roles(question, (2, 0, 1)) == "ubo"


def test_orders_are_the_publishers_and_others() -> None:
    assert PUBLISHED == ((0, 2, 1), (1, 0, 2), (2, 1, 0))
    assert CYCLIC == ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    assert len(set(ALL)) == 6
    for orders in (PUBLISHED, CYCLIC):  # each choice stands once under each letter
        assert all(set(column) == {0, 1, 2} for column in zip(*orders, strict=True))
    said = {"021": (0, 2, 1), "[2, 1, 0]": (2, 1, 0), "1": (1, 0, 2), "001": None, "x": None}
    assert {text: read_order(text) for text in said} == said


def test_a_questions_orders_come_in_turn_and_are_one_group(tmp_path: Path) -> None:
    opened = open_questions("kobbq", write_folder(tmp_path), "evaluation")
    prompts = chosen_prompts(opened, ())
    decoding = Decoding(0.0, 1.0, None, max_tokens=30)
    job = AskJob(Job("m", "ko", "t"), "kobbq", "ko", "generated", "s", opened.questions, prompts, PUBLISHED, decoding)
    asks = list(job.asks())
    assert len({ask.answer_id for ask in asks}) == len(asks) == job.size
    first = asks[: QUESTIONS * 3]
    assert {ask.prompt.name for ask in first} == {"1"}
    assert [ask.order for ask in first] == [order for order in PUBLISHED for _ in range(QUESTIONS)]
    groups = Counter(ask.group for ask in asks)
    assert set(groups.values()) == {3}
    for group in groups:
        one, *others = [ask.text for ask in asks if ask.group == group]
        assert all(one.partition("\n보기")[0].partition("\nA: ")[0] in other for other in others)


def test_more_templates_hold_the_fewer_ones(tmp_path: Path) -> None:
    opened = open_questions("kobbq", write_folder(tmp_path), "evaluation")
    one = some_templates(opened.questions, 1, seed=1)
    assert len(one) == QUESTIONS // 2
    assert len({question.template_id for question in one}) == 1
    assert some_templates(opened.questions, 2, seed=1) == list(opened.questions)


@published
def test_the_published_prompts_are_read_from_their_parts() -> None:
    opened = open_questions("kobbq", SHARED / "kobbq", "evaluation")
    prompts = chosen_prompts(opened, ())
    assert [prompt.name for prompt in prompts] == ["1", "2", "3", "4", "5"]
    assert ["".join(prompt.labels) for prompt in prompts] == ["ABC", "ABC", "abc", "abc", "(A)(B)(C)"]
    assert len({prompt.unknown for prompt in prompts}) == 5
    assert len(opened.questions) == 2280
    question = opened.questions[0]
    for prompt in prompts:
        text = prompt.text(question, prompt.shown(question, (0, 2, 1)))
        assert "{" not in text
        assert Counter(text.splitlines())[f"{prompt.options[1]}{prompt.unknown}"] == 1


@published
def test_check_needs_no_experiment(tmp_path: Path) -> None:
    done = polyculture("bbq", "kobbq", "--check", "--folder", SHARED / "kobbq", "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "what,category,found,paper,difference,note"
    assert any(line.startswith("samples,all,76568,76048,520") for line in lines)
    assert list(tmp_path.iterdir()) == []


def test_without_an_experiment_nothing_is_asked(tmp_path: Path) -> None:
    done = polyculture("bbq", "kobbq", cwd=tmp_path)
    assert done.returncode == 2
    assert "name an experiment file" in done.stderr
    other = polyculture("bbq", "bbq", "--check", cwd=tmp_path)
    assert "no counts of 'bbq' are published here" in one_line(other)


@published
def test_raw_answers_read_as_the_publisher_does_give_its_numbers(tmp_path: Path) -> None:
    peer = SHARED / "kobbq" / "peer"
    (tmp_path / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    told = ("--answers", peer / "raw-answers-prompt-3.tsv", "--prompts", "3", "--parser", "publisher")
    done = polyculture("bbq", "kobbq", "exp.toml", "--folder", SHARED / "kobbq", *told, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = (peer / "results-raw-answers-prompt-3.tsv").read_text(encoding="utf-8").splitlines()
    expected = {cells[1]: tuple(map(float, cells[2:])) for cells in (line.split("\t") for line in results[1:])}
    numbers = "out_of_choice_ratio, acc_a, acc_d, diff_bias_a, diff_bias_d"
    query = f"SELECT coalesce(name, 'overall'), {numbers} FROM bbq_metrics WHERE averaging = 'pooled'"
    with open_store(RunFolder(tmp_path / "runs" / "bias"), store_layout()) as store:
        found = {row[0]: row[1:] for row in store.sql(query).fetchall()}
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, abs=1e-9), name


def test_likelihoods_are_kept_and_read_in_three_ways(tmp_path: Path) -> None:
    (tmp_path / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    words = ("--folder", write_folder(tmp_path / "kobbq"), "--prompts", "2", "--method", "letter", "--method", "text")
    done = polyculture("bbq", "kobbq", "exp.toml", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with open_store(RunFolder(tmp_path / "runs" / "bias"), store_layout()) as store:
        counted = store.sql("SELECT answer_method, reader, count(*) FROM bbq_read GROUP BY ALL ORDER BY ALL").fetchall()
        rows = store.sql("SELECT scores, tokens, unconditional, reading, role, choices FROM bbq_answers "
                         "WHERE answer_method = 'text'").fetchall()  # fmt: skip
    methods = [(method, rule) for method in ("letter", "text") for rule in ("corrected", "mean", "sum")]
    assert counted == [(*method, QUESTIONS * 3) for method in methods]
    for scores, tokens, alone, reading, role, choices in rows:
        assert max(scores) < 0
        assert max(alone) < 0
        assert tokens == [float(len(choice)) for choice in choices]  # the engine has a token per letter
        assert reading == "ABC"[scores.index(max(scores))]
        assert role is not None


def test_a_rule_weighs_the_likelihoods() -> None:
    scores, tokens, alone = (-4.0, -6.0, -9.0), (1.0, 3.0, 3.0), (-1.0, -5.0, -8.5)
    found = {rule: LikelihoodReader(rule).read(scores, tokens, alone) for rule in ("sum", "mean", "corrected")}
    assert found == {"sum": Read("A", "likeliest"), "mean": Read("B", "likeliest"), "corrected": Read("C", "likeliest")}
    assert LikelihoodReader("sum").read((-1.0, -1.0, -2.0), tokens, alone) == Read("out-of-choice", "tie")


def test_our_own_prompt_is_english_where_we_have_none() -> None:
    assert house_prompt("ca") == house_prompt("en")
    assert house_prompt("ko") != house_prompt("en")
