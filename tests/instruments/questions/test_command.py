"""`polyculture ask` as a user runs it, against a server that answers in known ways."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import polyculture.instruments.questions as questions
from polyculture.instruments.questions.model import Question
from polyculture.instruments.questions.options import AskOptions
from polyculture.instruments.questions.rules.opened import open_set
from tests.polyculture.test_command_line import one_line, polyculture
from tests.quick_start import begin_polyculture
from tests.servers import Reply, StubServer
from tests.stored import rows
from tests.unknown_form import WORDS, in_unknown_form, later_version

DEMO = Path(questions.__file__).with_name("demo")
EXPERIMENT = """
name = "asked"
models = ["openai:stub"]
[prices."openai:stub"]
input = 100
output = 1000
[options.openai]
base_url = "{url}"
"""
UNITS = ("--units", "2")
ASKED = 12  # of two units
RIGHT = "SELECT avg(\"right\"::INT), count(*) FROM question_readings WHERE reader = 'ours'"


def answering(rule: Callable[[str], str]) -> Callable[[Mapping[str, Any], int], Reply]:
    """A server's behaviour: the answer to a message by `rule`."""

    def behave(body: Mapping[str, Any], before: int) -> Reply:
        choice = {"message": {"content": rule(body["messages"][-1]["content"])}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 7, "completion_tokens": 5}
        return Reply(body=json.dumps({"model": "stub", "choices": [choice], "usage": usage}).encode())

    return behave


@cache
def demo_questions() -> tuple[Question, ...]:
    """All questions of the demo."""
    return open_set(str(DEMO / "made-up.toml")).questions


def letter_of(message: str, option: str) -> str:
    """The letter under which an option is shown."""
    found = re.search(rf"^([A-C]): {re.escape(option)}$", message, re.MULTILINE)
    assert found, message
    return found[1]


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer(behaviour=answering(oracle)) as stub:
        yield stub


def oracle(message: str) -> str:
    """The letter of the right option of a question of the demo."""
    lines = {line.partition(": ")[2] for line in message.splitlines()}
    [one] = [one for one in demo_questions() if {one.context, one.text} <= lines]
    return letter_of(message, one.options[one.right[0]])


@pytest.fixture
def here(tmp_path: Path, server: StubServer) -> Path:
    write(tmp_path, server.url)
    return tmp_path


def write(folder: Path, url: str) -> None:
    (folder / "exp.toml").write_text(EXPERIMENT.format(url=url), encoding="utf-8")
    for file in ("made-up.toml", "made-up.tsv"):
        shutil.copyfile(DEMO / file, folder / file)


def ask(folder: Path, *words: str | Path, units: tuple[str, ...] = UNITS) -> str:
    """What the command says."""
    done = polyculture("ask", "made-up.toml", "exp.toml", *units, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_an_oracle_is_always_right_and_asked_once(here: Path, server: StubServer) -> None:
    assert "12 of 60 questions, 2 of 10 units" in ask(here)
    assert rows(here, RIGHT) == [(1.0, ASKED)]
    assert len(server.bodies) == ASKED
    assert {(body["temperature"], len(body["messages"])) for body in server.bodies} == {(0.0, 1)}
    assert {body.get("max_tokens") or body.get("max_completion_tokens") for body in server.bodies} == {30}
    files = {file: file.stat().st_mtime_ns for file in (here / "runs" / "asked").rglob("*.parquet")}
    ask(here)
    assert len(server.bodies) == ASKED
    assert files == {file: file.stat().st_mtime_ns for file in files}, "what is the same is not written again"
    numbers = "SELECT DISTINCT metric, estimate FROM numbers WHERE metric IN ('acc_a', 'acc_d') ORDER BY 1"
    assert rows(here, numbers) == [("acc_a", 1.0), ("acc_d", 1.0)]


def test_more_units_and_orders_are_added(here: Path, server: StubServer) -> None:
    ask(here)
    ask(here, "--orders", "cyclic", units=("--units", "3"))
    assert len(server.bodies) == 3 * 18
    assert rows(here, 'SELECT count(DISTINCT "order"), count(*) FROM answers') == [(3, 3 * 18)]


def test_a_changed_prompt_is_asked_and_the_old_one_counts_again_when_it_is_back(here: Path, server: StubServer) -> None:
    ask(here)
    file = here / "made-up.toml"
    before = file.read_text(encoding="utf-8")
    prompt = '[prompts]\ntemplates.en = "Context: {context}\\nQuestion: {question}\\n{options}\\nAnswer:"\n'
    file.write_text(f"{before}\n{prompt}", encoding="utf-8")
    refused = polyculture("ask", "made-up.toml", "exp.toml", *UNITS, cwd=here)
    assert refused.returncode == 2
    assert "made-up en generated, prompt house: the prompt has another text. To be redone: 12 answers" in refused.stderr
    assert len(server.bodies) == ASKED, "what was refused was asked"
    told = ask(here, "--accept-changes")
    assert "the prompt has another text. 12 answers of the last run are no longer current" in told
    assert len(server.bodies) == 2 * ASKED
    assert rows(here, "SELECT count(*) FROM answers") == [(ASKED,)]
    file.write_text(before, encoding="utf-8")
    ask(here)
    assert len(server.bodies) == 2 * ASKED


def test_answers_of_models_that_are_sent_other_options_count_together(here: Path, server: StubServer) -> None:
    text = (here / "exp.toml").read_text(encoding="utf-8").replace('["openai:stub"]', '["openai:stub", "openai:terse"]')
    (here / "exp.toml").write_text(f'{text}\n[options."openai:terse"]\nomit = ["temperature"]\n', encoding="utf-8")
    ask(here)
    assert len(server.bodies) == 2 * ASKED
    found = "SELECT model, count(*) FROM answers GROUP BY ALL ORDER BY 1"
    assert rows(here, found) == [("openai:stub", ASKED), ("openai:terse", ASKED)]


def test_another_servers_answers_are_not_taken_for_this_ones(here: Path) -> None:
    ask(here)
    with StubServer(behaviour=answering(oracle)) as other:
        write(here, other.url)
        refused = polyculture("ask", "made-up.toml", "exp.toml", *UNITS, cwd=here)
        assert refused.returncode == 2
        assert other.bodies == []
        ask(here, "--accept-changes")
        assert len(other.bodies) == ASKED
        assert "was" not in polyculture("status", "exp.toml", cwd=here).stderr, "what counts is of this server"
    assert rows(here, "SELECT count(*) FROM answers") == [(ASKED,)]
    assert rows(here, "SELECT count(*) FROM stored_answers") == [(2 * ASKED,)]


def test_plan_prices_what_is_left(here: Path, server: StubServer) -> None:
    own = here / "my sets"
    own.mkdir()
    for name in ("made-up.toml", "made-up.tsv"):
        (here / name).rename(own / name)
    text = f'[instruments.ask]\nset = "{own / "made-up.toml"}"\nunits = 2\n'
    with (here / "exp.toml").open("a", encoding="utf-8") as file:
        file.write(text)
    planned = polyculture("plan", "exp.toml", cwd=here)
    assert planned.returncode == 0, planned.stderr
    line = next(line for line in planned.stdout.splitlines() if "ask" in line and "openai:stub" in line)
    assert str(ASKED) in line
    assert server.bodies == []
    asked = polyculture("run", "exp.toml", cwd=here)
    assert asked.returncode == 0, asked.stderr
    assert len(server.bodies) == ASKED


def test_killed_it_resumes(tmp_path: Path) -> None:
    with StubServer(latency=0.05, behaviour=answering(oracle)) as stub:
        write(tmp_path, stub.url)
        process = begin_polyculture("ask", "made-up.toml", "exp.toml", cwd=tmp_path)
        while len(stub.answered) + len(stub.bodies) < 20:
            time.sleep(0.01)
            assert process.is_alive()
        process.kill()
        process.join()
        ask(tmp_path, units=())
        assert rows(tmp_path, "SELECT count(*), count(DISTINCT answer_id) FROM stored_answers") == [(60, 60)]
    assert rows(tmp_path, RIGHT) == [(1.0, 60)]


def test_what_did_not_come_is_a_failure_and_no_option(here: Path, server: StubServer) -> None:
    server.behaviour = lambda _body, _before: Reply(status=400, body=b'{"error": {"message": "no"}}')
    done = polyculture("ask", "made-up.toml", "exp.toml", *UNITS, cwd=here)
    assert done.returncode in (4, 6), done.stderr
    assert rows(here, "SELECT count(*) FROM answer_readings") == [(0,)]


def test_an_answer_in_an_unknown_form_is_kept_and_read_by_a_later_version(here: Path, server: StubServer) -> None:
    server.behaviour = in_unknown_form(oracle)
    (here / "exp.toml").write_text(EXPERIMENT.format(url=server.url) + "[stop]\nanswers = 0\n", encoding="utf-8")
    done = polyculture("ask", "made-up.toml", "exp.toml", *UNITS, cwd=here)
    asked = len(server.bodies)
    query = "SELECT DISTINCT status, raw, count(body), count(DISTINCT body) > 1 FROM stored_answers GROUP BY ALL"
    assert (done.returncode, rows(here, query)) == (6, [("failed", None, ASKED, True)])
    assert all(WORDS in error for (error,) in rows(here, "SELECT error FROM stored_answers"))
    with later_version():
        ask(here)
    assert len(server.bodies) == asked
    assert rows(here, RIGHT) == [(1.0, ASKED)]
    assert rows(here, "SELECT sum(completion_tokens) FROM bought") == [(5 * ASKED,)]


def test_answers_that_nobody_can_read_are_shown(here: Path, server: StubServer) -> None:
    server.behaviour = answering(lambda message: f"Hmm, {len(message)}.")
    done = polyculture("ask", "made-up.toml", "exp.toml", *UNITS, cwd=here)
    said = done.stderr
    told = (
        "12 of 12 answers of openai:stub to made-up, prompt house, pick no option as 'ours' reads them (12 other), for"
    )
    assert told in said
    assert said.count("'Hmm, ") == 3
    assert "no answer of a question set was measured" not in said
    assert "out_of_choice_ratio" in done.stdout, "the number that a model has whose answers nobody can read"
    assert "1.000" in done.stdout


def test_a_model_alone_needs_no_experiment(tmp_path: Path) -> None:
    write(tmp_path, "")
    words = ("ask", "made-up.toml", "--questions", "2")
    done = polyculture(*words, "--model", "mock:one", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Wrote ask-made-up.toml" in done.stderr
    assert rows(tmp_path, "SELECT count(*) FROM answers", "ask-made-up") == [(2,)]
    more = polyculture(*words, "--model", "mock:two", cwd=tmp_path)
    assert "ask-made-up.toml: added mock:two" in more.stderr
    assert rows(tmp_path, "SELECT model, count(*) FROM answers GROUP BY ALL ORDER BY ALL", "ask-made-up") == [
        ("mock:one", 2), ("mock:two", 2),
    ]  # fmt: skip


def test_a_run_remembers_how_each_of_its_sets_was_asked(tmp_path: Path) -> None:
    write(tmp_path, "")
    (tmp_path / "exp.toml").write_text('name = "two"\nmodels = ["mock:one", "mock:two"]\n', encoding="utf-8")
    rules = (tmp_path / "made-up.toml").read_text(encoding="utf-8")
    (tmp_path / "other.toml").write_text(rules.replace('name = "made-up"', 'name = "other"'), encoding="utf-8")
    for words in (("made-up.toml", "exp.toml", "--questions", "1", "--model", "mock:one"),
                  ("other.toml", "exp.toml", "--questions", "3")):  # fmt: skip
        assert polyculture("ask", *words, cwd=tmp_path).returncode == 0
    kept = json.loads((tmp_path / "runs" / "two" / "instruments.json").read_bytes())
    told = {call["options"]["set"]: call["options"] for call in kept.values() if "command" in call}
    assert [(Path(name).name, one["questions"], one["model"]) for name, one in sorted(told.items())] == [
        ("made-up.toml", 1, "mock:one"), ("other.toml", 3, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("made-up.toml", "--model", "gpt-4o"), "'gpt-4o' names no engine"),
        (("made-up.toml", "--model", "openay:gpt-4o"), "unknown engine 'openay'"),
        (("nosuch", "--model", "mock:x"), "there is no question set 'nosuch'"),
        (("made-up.toml:none", "--model", "mock:x"), "there is no selection 'none'"),
        (
            ("made-ub.toml", "--model", "mock:x"),
            "made-ub.toml: there is no such file, neither the rules that SET names",
        ),
        (("made-ub.toml",), "Did you mean 'made-up.toml'?"),
    ],
)
def test_no_experiment_is_written_of_what_cannot_be_asked(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    write(tmp_path, "")
    before = sorted(tmp_path.iterdir())
    assert told in one_line(polyculture("ask", *words, cwd=tmp_path))
    assert sorted(tmp_path.iterdir()) == before


def test_several_answers_of_the_likeliest_are_one() -> None:
    with pytest.raises(ValueError, match="several answers to a request need a temperature above 0"):
        AskOptions(set="made-up.toml", n=3)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("ask", "made-up.toml"), "name an experiment file, or a model with --model"),
        (("ask", "exp.toml"), "SET is missing"),
        (("ask", "made-up.toml", "exp.toml", "--only", "category"), "is not FACET=VALUE"),
        (
            ("ask", "made-up.toml", "exp.toml", "--method", "gap"),
            "--method gap: no questions of kind 'choice' are asked so",
        ),
        (("ask", "absent.toml", "exp.toml"), "absent.toml"),
    ],
)
def test_mistakes_are_one_line_each(here: Path, server: StubServer, words: tuple[str, ...], told: str) -> None:
    done = polyculture(*words, cwd=here)
    assert done.returncode == 2, done.stderr
    assert told in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert server.bodies == []


def test_the_demo_takes_no_other_data(tmp_path: Path) -> None:
    assert "leave out SET, or --demo" in one_line(polyculture("ask", "kobbq", "--demo", cwd=tmp_path))


def test_requests_tokens_and_cost_are_told_before_anything_is_asked(tmp_path: Path) -> None:
    for file in ("made-up.toml", "made-up.tsv"):
        shutil.copyfile(DEMO / file, tmp_path / file)
    words = ("ask", "made-up.toml", "--model", "mock:one", "--questions", "6")
    said = [polyculture(*words, cwd=tmp_path).stderr for _ in "ab"]
    [line] = [line for line in said[0].splitlines() if "to ask" in line]
    assert "mock:one: 6 to ask" in line
    assert f"at most {6 * 30:,} out" in line
    assert said[0].index("to ask") < said[0].index("6 done")
    assert "to ask" not in said[1]  # nothing is left
