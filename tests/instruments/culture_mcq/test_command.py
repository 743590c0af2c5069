"""`polyculture culture-mcq` as a user runs it, against a server that answers in known ways."""

from __future__ import annotations

import csv
import io
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.instruments.cultures.cultures import BUILT_IN
from polyculture.running.layout import store_layout
from tests.instruments.bbq.made_up import answering
from tests.instruments.culture_mcq.made_up import (
    LEVELS,
    of_most_resources,
    options_of,
    oracle,
    resource_row,
    write_blend,
    write_rows,
    write_sheets,
)
from tests.polyculture.test_command_line import one_line, polyculture, start_polyculture
from tests.servers import StubServer

EXPERIMENT = """
name = "usual"
models = ["{model}"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
[instruments.culture-mcq]
sheets = "{sheets}"
[prices."openai:stub"]
input = 100
output = 1000
[options.openai]
base_url = "{url}"
"""
LEVELS_OF_TABLE = ("high", "mid", "low")
QUESTIONS = 2
ASKED = QUESTIONS * len(LEVELS) * 2  # both types
OVERALL = "FROM culture_mcq_metrics WHERE part = 'overall' ORDER BY question_type"
SHARES = f"SELECT question_type, accuracy, biased, others, refusal, out_of_choice {OVERALL}"


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer(behaviour=answering(oracle)) as stub:
        yield stub


@pytest.fixture
def here(tmp_path: Path, server: StubServer) -> Path:
    write(tmp_path, server.url)
    return tmp_path


def write(folder: Path, url: str, model: str = "openai:stub") -> None:
    sheets = write_sheets(folder / "sheets", QUESTIONS)
    (folder / "exp.toml").write_text(EXPERIMENT.format(sheets=sheets, url=url, model=model), encoding="utf-8")


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with open_store(RunFolder(folder / "runs" / "usual"), store_layout()) as store:
        return [tuple(row) for row in store.sql(query).fetchall()]


def test_an_oracle_knows_what_is_usual(here: Path, server: StubServer) -> None:
    done = polyculture("culture-mcq", "exp.toml", cwd=here)
    assert done.returncode == 0, done.stderr
    assert rows(here, SHARES) == [(kind, 1.0, 0.0, 0.0, 0.0, 0.0) for kind in ("region", "resource")]
    assert len(server.bodies) == ASKED
    refused = polyculture("culture-mcq", "exp.toml", "--format", "csv", cwd=here)
    assert refused.returncode == 2
    assert "polyculture table" in refused.stderr
    assert len(server.bodies) == ASKED
    message = server.bodies[0]["messages"][0]["content"]
    assert message.endswith("\nAnswer:")
    assert len(options_of(message)) == 4
    assert not any(f"{letter}:" in message or f"{letter})" in message for letter in "ABCD")
    assert {body["temperature"] for body in server.bodies} == {0.0}
    assert "accuracy" in done.stdout
    assert "of wrong" not in done.stdout  # nothing is wrong
    assert "not known without --blend" in done.stderr
    again = polyculture("culture-mcq", "exp.toml", "--type", "region", cwd=here)
    assert again.returncode == 0, again.stderr
    assert len(server.bodies) == ASKED
    assert rows(here, SHARES) == [(kind, 1.0, 0.0, 0.0, 0.0, 0.0) for kind in ("region", "resource")]  # both stay
    report = polyculture("report", "exp.toml", cwd=here)
    assert report.returncode == 0, report.stderr
    page = (here / "runs" / "usual" / "report.html").read_text(encoding="utf-8")
    assert "What it takes for usual" in page
    assert "the study's sheets, resource questions: its answers" in page.replace("&#39;", "'")
    assert "targets of level mid" in page
    assert page.count("By the target&#39;s level</h4>") == 2
    assert "accuracy 1.00, biased 0.00, others, halved 0.00, refused 0.00, out of choice 0.00" in page


def test_a_model_that_answers_for_rich_countries_is_biased(here: Path, server: StubServer) -> None:
    server.behaviour = answering(of_most_resources)
    done = polyculture("culture-mcq", "exp.toml", "--type", "resource", cwd=here)
    assert done.returncode == 0, done.stderr
    assert rows(here, SHARES) == [("resource", 0.0, 1.0, 0.0, 0.0, 0.0)]
    wrong = QUESTIONS * len(LEVELS)
    [(p, size, q)] = rows(here, "SELECT p, first_size, q FROM culture_mcq_tests "
                                "WHERE comparison = 'biased > 1/3 of wrong, all'")  # fmt: skip
    assert p == pytest.approx((1 / 3) ** wrong)
    assert size == wrong
    assert q >= p
    assert "Hypotheses on cultural knowledge" in done.stdout


def test_refusals_letters_and_failures_are_told_apart(here: Path, server: StubServer) -> None:
    def said(message: str) -> str:
        if "day 0" in message:
            return "I'm sorry, but I can't help with that."
        return "B" if " in China?" in message else oracle(message)

    server.behaviour = answering(said)
    done = polyculture("culture-mcq", "exp.toml", "--type", "resource", cwd=here)
    assert done.returncode == 0, done.stderr
    [(_, accuracy, biased, others, refusal, out)] = rows(here, SHARES)
    assert (biased, others) == (0.0, 0.0)
    assert (accuracy, refusal, out) == pytest.approx((7 / 16, 8 / 16, 1 / 16))
    named_none = (
        "SELECT reading, ground, count(*) FROM culture_mcq_answers WHERE role IS NULL GROUP BY ALL ORDER BY ALL"
    )
    found = rows(here, named_none)
    assert found == [("out-of-choice", "other", 1), ("refusal", "refusal", 8)]


def test_built_and_strict_questions_come_from_blend(here: Path, server: StubServer) -> None:
    blend = write_blend(here / "blend", 3)
    done = polyculture("culture-mcq", "exp.toml", "--mode", "strict", "--blend", blend, "--questions", "2", cwd=here)
    assert done.returncode == 0, done.stderr
    assert rows(here, "SELECT DISTINCT dataset FROM culture_mcq_answers") == [("blend-strict",)]
    assert rows(here, "SELECT count(DISTINCT source_id), count(*) FROM culture_mcq_answers") == [
        (2, len(server.bodies))
    ]
    [(answered, right)] = rows(
        here, "SELECT sum(answered), sum(n_right) FROM culture_mcq_counts WHERE part = 'overall'"
    )
    assert answered == right == 2 * 2 * len(LEVELS)
    asked = len(server.bodies)
    more = polyculture("culture-mcq", "exp.toml", "--mode", "strict", "--blend", blend, cwd=here)
    assert more.returncode == 0, more.stderr
    assert len(server.bodies) == asked * 3 // 2  # the third question alone
    built = polyculture("culture-mcq", "exp.toml", "--mode", "built", "--blend", blend, cwd=here)
    assert built.returncode == 0, built.stderr
    assert {row[0] for row in rows(here, "SELECT DISTINCT dataset FROM culture_mcq_answers")} == {
        "blend",
        "blend-strict",
    }


def test_what_annotators_also_gave_stands_apart(here: Path) -> None:
    blend = write_blend(here / "blend", QUESTIONS, [one for one in LEVELS if one != "Assam"])
    file = blend / "annotations" / "Mexico_data.json"
    text = file.read_text(encoding="utf-8").replace('"rice"', '"indonesia dish 0"')
    file.write_text(text, encoding="utf-8")
    done = polyculture("culture-mcq", "exp.toml", "--type", "resource", "--blend", blend, cwd=here)
    assert done.returncode == 0, done.stderr
    assert "in 2 of 28 questions annotators of the target gave a wrong option, too" in done.stderr
    found = rows(here, "SELECT name, answered FROM culture_mcq_metrics WHERE part = 'also given' ORDER BY name")
    assert found == [("no", 13), ("not known", 2), ("yes", 1)]


def test_likelihoods_are_kept_and_read_in_three_ways(tmp_path: Path) -> None:
    write(tmp_path, "", "mock:one")
    done = polyculture("culture-mcq", "exp.toml", "--type", "region", "--method", "text", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    counted = rows(tmp_path, "SELECT reader, count(*), count(role) FROM culture_mcq_read GROUP BY ALL ORDER BY ALL")
    half = ASKED // 2  # what stands before an option changes nothing for this engine: corrected, all are alike
    assert counted == [("corrected", half, 0), ("mean", half, half), ("sum", half, half)]
    for scores, tokens, reading, role, choices, right, biased in rows(
        tmp_path, "SELECT scores, tokens, reading, role, choices, \"right\", biased FROM culture_mcq_answers"
    ):  # fmt: skip
        assert tokens == [float(len(choice)) for choice in choices]  # the engine has a token per letter
        chosen = scores.index(max(scores))
        assert reading == str(chosen + 1)
        assert role == ("right" if chosen == right else "biased" if chosen == biased else "other")


def test_plan_prices_what_is_left(here: Path, server: StubServer) -> None:
    planned = polyculture("plan", "exp.toml", cwd=here)
    assert planned.returncode == 0, planned.stderr
    lines = [line for line in planned.stdout.splitlines() if "culture-mcq ask" in line]
    assert any(line.split()[-1] == str(ASKED) for line in lines), planned.stdout
    assert server.bodies == []


def test_killed_it_resumes(tmp_path: Path) -> None:
    with StubServer(latency=0.1, behaviour=answering(oracle)) as stub:
        write(tmp_path, stub.url)
        process = start_polyculture("culture-mcq", "exp.toml", cwd=tmp_path)
        while len(stub.bodies) < 5:
            time.sleep(0.01)
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = polyculture("culture-mcq", "exp.toml", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    found = rows(tmp_path, "SELECT count(*), count(DISTINCT answer_id) FROM stored_culture_mcq_answers")
    assert found == [(ASKED, ASKED)]


def test_a_prompt_of_yours_is_asked_anew(here: Path, server: StubServer) -> None:
    assert polyculture("culture-mcq", "exp.toml", "--type", "region", cwd=here).returncode == 0
    text = '[mine]\nquestion = "Q: "\noptions = "Choose:"\noption = "* "\nanswer = "A:"\n'
    (here / "mine.toml").write_text(text, encoding="utf-8")
    server.behaviour = answering(lambda message: oracle(message) if message.startswith("Q: ") else "nothing")
    done = polyculture("culture-mcq", "exp.toml", "--type", "region", "--prompt", "mine.toml", cwd=here)
    assert done.returncode == 0, done.stderr
    found = rows(here, "SELECT prompt, answered, n_right FROM culture_mcq_metrics WHERE part = 'overall' ORDER BY 1")
    half = ASKED // 2
    assert found == [("house", half, half), ("mine", half, half)]  # wordings are never pooled
    (here / "mine.toml").write_text(text.replace("Q: ", "Tell: "), encoding="utf-8")
    done = polyculture("culture-mcq", "exp.toml", "--type", "region", "--prompt", "mine.toml", cwd=here)
    assert done.returncode == 0, done.stderr
    found = rows(here, "SELECT prompt, answered, n_right FROM culture_mcq_metrics WHERE part = 'overall' ORDER BY 1")
    assert found == [("house", half, half), ("mine", half, 0)]  # the same name, another wording: asked anew


def test_check_needs_no_experiment(tmp_path: Path) -> None:
    sheets, blend = write_sheets(tmp_path / "sheets", 1), write_blend(tmp_path / "blend", 1)
    done = polyculture("culture-mcq", "--check", "--sheets", sheets, "--blend", blend, "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {(row["what"], row["of"]): row for row in csv.DictReader(io.StringIO(done.stdout))}
    one = found["questions", "resource"]
    assert (one["found"], one["published"], one["agrees"]) == ("8", "5050", "False")
    assert found["BLEnD questions that stay", "all"]["found"] == "8"
    assert found["BLEnD questions that stay", "Greece"]["note"] == "no answers of it are in the folder"


def test_check_of_the_published_files_agrees(shared_data: Path, tmp_path: Path) -> None:
    folders = ("--sheets", shared_data / "culturescope", "--blend", shared_data / "blend")
    done = polyculture("culture-mcq", "--check", *folders, "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["agrees"] for row in found if row["published"]] == ["True"] * 18
    assert any(row["found"] == "901" for row in found)


def listed(folder: Path, *words: Any) -> list[dict[str, str]]:
    done = polyculture("culture-mcq", *words, "--format", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def table(folder: Path, name: str) -> list[dict[str, str]]:
    done = polyculture("table", name, "exp.toml", "--format", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_the_studys_tables_are_equal_from_its_sheets(shared_data: Path, tmp_path: Path) -> None:
    sheets = ("--sheets", shared_data / "culturescope")
    counts = {(row["questions"], row["of"]): row for row in listed(tmp_path, *sheets, "--table", "questions")}
    assert {row["equal"] for row in counts.values()} == {"True"}
    assert [counts["resource questions by level", one]["count"] for one in LEVELS_OF_TABLE] == ["2548", "1077", "1425"]
    options = {row["options"]: row for row in listed(tmp_path, *sheets, "--table", "options")}
    assert len(options) == 6
    assert {row["equal"] for row in options.values()} == {"True"}
    assert options["right, region"]["mean ± SD"] == options["right, region"]["paper"] == "269.71 ± 16.49"
    cells = listed(tmp_path, *sheets, "--table", "published")
    assert [row["agrees"] for row in cells] == ["True"] * 18
    assert {row["table"] for row in cells} == {"4", "5", ""}
    assert cells[-1]["found"] == "0.0035"


def test_tables_of_a_run_have_its_shares_and_tests(here: Path, server: StubServer) -> None:
    server.behaviour = answering(of_most_resources)
    assert polyculture("culture-mcq", "exp.toml", "--type", "resource", cwd=here).returncode == 0
    shares = table(here, "culture_mcq")
    overall = [row for row in shares if row["part"] == "overall"]
    assert [(row["answered"], row["biased"]) for row in overall] == [(str(QUESTIONS * len(LEVELS)), "1.0")]
    assert {row["name"] for row in shares if row["part"] == "level"} == set(LEVELS.values())
    assert {"H1", "H2", "H3"} >= {row["hypothesis"] for row in table(here, "culture_mcq_tests")} > set()
    other = listed(here, "--sheets", here / "sheets", "--table", "questions")
    assert {row["equal"] for row in other} == {"False"}


def test_mistakes_are_one_line_each(here: Path) -> None:
    (here / "bad.toml").write_text('levels = ["high"]', encoding="utf-8")
    (here / "lettered.toml").write_text(
        '[x]\nquestion = "Q"\noptions = "O"\noption = "A) "\nanswer = "A:"\n', encoding="utf-8"
    )
    write_rows(here / "few" / "s.csv", [resource_row("Mexico", 0, answer_idx="Z")])
    mine = BUILT_IN.read_text(encoding="utf-8").replace('"high"', '"top"')
    (here / "mine.toml").write_text(mine, encoding="utf-8")
    for words, told in (
        (("--sheets", "none"), "none: there is no such folder"),
        (("--mode", "built"), "--blend"),
        (("--mode", "built", "--blend", "few"), "there is no annotations/<country>_data.json"),
        (("--sheets", "few"), "s.csv row 2: left out: answer_idx 'Z' contradicts"),
        (("--cultures", "bad.toml"), "bad.toml: "),
        (("--cultures", "mine.toml", "--type", "resource"), "'high' is neither a level nor a region"),
        (("--prompt", "lettered.toml"), "options stand without letters"),
        (("--prompt", "nowhere.toml"), "nowhere.toml: cannot be read"),
    ):
        done = polyculture("culture-mcq", "exp.toml", *words, cwd=here)
        assert done.returncode == 2, words
        assert told in one_line(done), words
