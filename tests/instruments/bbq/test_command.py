"""`polyculture bbq` as a user runs it, against a server that answers in known ways."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.running.layout import store_layout
from tests.instruments.bbq.made_up import PAIRS, QUESTIONS, UNKNOWNS, answering, letter_of, oracle, write_folder
from tests.polyculture.test_command_line import one_line, polyculture, start_polyculture
from tests.servers import StubServer

EXPERIMENT = """
name = "bias"
models = ["openai:stub"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
[instruments.bbq]
data = "kobbq"
folder = "{folder}"
[prices."openai:stub"]
input = 100
output = 1000
[options.openai]
base_url = "{url}"
"""
ASKED = QUESTIONS * 2 * 3  # prompts, orders
OVERALL = "FROM bbq_over_prompts WHERE part = 'overall' AND averaging = 'pooled'"
SCORES = f"SELECT acc_a, acc_d, diff_bias_a, diff_bias_d, out_of_choice {OVERALL}"


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer(behaviour=answering(oracle)) as stub:
        yield stub


@pytest.fixture
def here(tmp_path: Path, server: StubServer) -> Path:
    write(tmp_path, server.url)
    return tmp_path


def write(folder: Path, url: str) -> None:
    data = write_folder(folder / "kobbq")
    (folder / "exp.toml").write_text(EXPERIMENT.format(folder=data, url=url), encoding="utf-8")


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with open_store(RunFolder(folder / "runs" / "bias"), store_layout()) as store:
        return [tuple(row) for row in store.sql(query).fetchall()]


def test_an_oracle_is_always_right_and_never_biased(here: Path, server: StubServer) -> None:
    done = polyculture("bbq", "kobbq", "exp.toml", cwd=here)
    assert done.returncode == 0, done.stderr
    assert rows(here, SCORES) == [(1.0, 1.0, 0.0, 0.0, 0)]
    assert len(server.bodies) == ASKED
    assert {(body["temperature"], len(body["messages"])) for body in server.bodies} == {(0.0, 1)}
    assert {body.get("max_tokens") or body.get("max_completion_tokens") for body in server.bodies} == {30}
    assert "Accuracy and diff-bias" in done.stdout
    message = server.bodies[0]["messages"][0]["content"]
    assert "{wrong}" not in message  # the publisher's whole-prompt cell is not read
    listed = polyculture("bbq", "kobbq", "exp.toml", "--table", "published", "--format", "csv", cwd=here)
    assert listed.returncode == 0, listed.stderr
    assert "Jin et al. 2024,GPT-4" in listed.stdout
    assert "this run,openai:stub,generated,paper,ambiguous,accuracy,1.0,0.0,False" in listed.stdout
    again = polyculture("bbq", "exp.toml", cwd=here)  # the data set may stand in the experiment alone
    assert again.returncode == 0, again.stderr
    assert len(server.bodies) == ASKED


def test_what_is_printed_is_written_where_a_format_or_a_file_is_named(here: Path) -> None:
    assert polyculture("bbq", "kobbq", "exp.toml", cwd=here).returncode == 0
    printed = polyculture("table", "multiple_choice", "exp.toml", "--format", "csv", cwd=here)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.startswith("model,dataset,language,answer_method,reader,category,prompts,")
    written = polyculture("table", "multiple_choice", "exp.toml", "-f", "csv", "-o", "table.csv", cwd=here)
    assert written.returncode == 0, written.stderr
    assert written.stdout == ""
    assert (here / "table.csv").read_text(encoding="utf-8").splitlines() == printed.stdout.splitlines()


def test_a_model_that_always_follows_the_stereotype_is_as_biased_as_can_be(here: Path, server: StubServer) -> None:
    def biased(message: str) -> str:
        target, other = next(pair for pair in PAIRS if pair[0] in message)
        return letter_of(message, target if "누가 잘못" in message else other)

    server.behaviour = answering(biased)
    done = polyculture("bbq", "kobbq", "exp.toml", "--permutations", "all", cwd=here)
    assert done.returncode == 0, done.stderr
    assert rows(here, SCORES) == [(0.0, 0.5, 1.0, 1.0, 0)]
    assert rows(here, "SELECT count(*), count(DISTINCT permutation) FROM bbq_answers") == [(ASKED * 2, 6)]


def test_each_prompt_has_its_own_unknown_and_letters(here: Path, server: StubServer) -> None:
    done = polyculture("bbq", "kobbq", "exp.toml", "--prompts", "2", cwd=here)
    assert done.returncode == 0, done.stderr
    message = server.bodies[0]["messages"][0]["content"]
    assert message.startswith("보기에서 고르시오.\n\n지문: ")
    assert message.endswith("\n답:")
    assert "정답을 모름" in message
    assert "알 수 없음" not in message
    assert rows(here, "SELECT DISTINCT list_contains(choices, '알 수 없음') FROM bbq_answers") == [(False,)]
    assert rows(here, "SELECT count(*), count(*) FILTER (role = 'unknown') FROM bbq_answers") == [(48, 24)]


def test_another_parser_asks_nothing_again(here: Path, server: StubServer) -> None:
    server.behaviour = answering(
        lambda message: f"따라서 {oracle(message)}입니다"
    )  # the publisher's reads no such thing
    assert polyculture("bbq", "kobbq", "exp.toml", cwd=here).returncode == 0
    asked = len(server.bodies)
    done = polyculture("bbq", "kobbq", "exp.toml", "--parser", "publisher", "--parser", "paper", cwd=here)
    assert done.returncode == 0, done.stderr
    assert len(server.bodies) == asked
    found = rows(here, "SELECT reader, count(*), count(role) FROM bbq_read GROUP BY ALL ORDER BY ALL")
    assert found == [("paper", ASKED, ASKED), ("publisher", ASKED, 0)]


def test_another_servers_answers_are_not_taken_for_this_ones(here: Path) -> None:
    assert polyculture("bbq", "kobbq", "exp.toml", cwd=here).returncode == 0
    with StubServer(behaviour=answering(oracle)) as other:
        write(here, other.url)
        refused = polyculture("bbq", "kobbq", "exp.toml", cwd=here)
        assert refused.returncode == 2
        assert other.bodies == []
        done = polyculture("bbq", "kobbq", "exp.toml", "--accept-changes", cwd=here)
        assert done.returncode == 0, done.stderr
        assert len(other.bodies) == ASKED
    assert rows(here, "SELECT count(*) FROM bbq_answers") == [(ASKED,)]
    assert rows(here, "SELECT count(*) FROM stored_bbq_answers") == [(2 * ASKED,)]


def test_a_changed_question_is_asked_again(here: Path, server: StubServer) -> None:
    assert polyculture("bbq", "kobbq", "exp.toml", "--prompts", "1", cwd=here).returncode == 0
    asked = len(server.bodies)
    file = next((here / "kobbq" / "data").glob("*samples.tsv"))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("0 a 노인와", "0 a 그 노인와", 1), encoding="utf-8")
    done = polyculture("bbq", "kobbq", "exp.toml", "--prompts", "1", cwd=here)
    assert done.returncode == 0, done.stderr
    assert len(server.bodies) == asked + 3
    assert rows(here, "SELECT count(*) FROM bbq_answers") == [(asked,)]


def test_plan_prices_what_is_left(here: Path, server: StubServer) -> None:
    planned = polyculture("plan", "exp.toml", cwd=here)
    assert planned.returncode == 0, planned.stderr
    line = next(line for line in planned.stdout.splitlines() if "bbq ask" in line)
    assert str(ASKED) in line
    assert server.bodies == []


def test_killed_it_resumes(tmp_path: Path) -> None:
    with StubServer(latency=0.05, behaviour=answering(oracle)) as stub:
        write(tmp_path, stub.url)
        process = start_polyculture("bbq", "kobbq", "exp.toml", cwd=tmp_path)
        while len(stub.answered) + len(stub.bodies) < 20:
            time.sleep(0.01)
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = polyculture("bbq", "kobbq", "exp.toml", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert rows(tmp_path, "SELECT count(*), count(DISTINCT answer_id) FROM stored_bbq_answers") == [(ASKED, ASKED)]
    assert rows(tmp_path, SCORES) == [(1.0, 1.0, 0.0, 0.0, 0)]


def test_what_did_not_come_is_a_failure_and_no_choice(here: Path, server: StubServer) -> None:
    server.behaviour = answering(lambda message: "" if "(a)" in message else "죄송하지만 도와드릴 수 없습니다.")
    done = polyculture("bbq", "kobbq", "exp.toml", cwd=here)
    assert done.returncode == 0, done.stderr
    found = rows(here, "SELECT prompt, reading, ground, role, count(*) FROM bbq_answers GROUP BY ALL ORDER BY ALL")
    assert found == [
        ("1", "refusal", "refusal", None, ASKED // 2),
        ("2", "out-of-choice", "empty", None, ASKED // 2),
    ]
    assert rows(here, SCORES) == [(None, None, None, None, ASKED)]


def test_answers_in_a_file_are_measured_without_a_model(here: Path, server: StubServer) -> None:
    samples = (here / "kobbq" / "data" / "KoBBQ_test_samples.tsv").read_text(encoding="utf-8").splitlines()[1:]
    lines = [f"{row.split(chr(9))[0]}\t{row.split(chr(9))[6]}" for row in samples]
    lines[0] = lines[0].rpartition("\t")[0] + "\t모르는 말"
    lines += [lines[1], lines[1].rpartition("\t")[0] + "\t다른 말", "age-999a-001-amb-bsd\t노인", "only one cell"]
    text = "\r\n".join(["sample_id\tprediction", *lines[:5], *lines[6:]]) + "\r\n"
    (here / "said.tsv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    done = polyculture("bbq", "kobbq", "exp.toml", "--answers", "said.tsv", "--called", "gpt", cwd=here)
    assert done.returncode == 0, done.stderr
    assert server.bodies == []
    for told in (
        f"{QUESTIONS - 1} answers read",
        "1 lines with an id that no question has: 'age-999a-001-amb-bsd' (said.tsv row 19)",
        "1 questions without an answer: age-001a-002-amb-bsd".replace("001a-002-amb-bsd", "001b-002-amb-cnt"),
        "1 lines that contradict another of the same id, which counts: 'age-001a-002-amb-cnt' (said.tsv row 18)",
        "1 lines left out: said.tsv row 20: 1 cells where the header has 2",
        "1 lines that say the same as another",
    ):
        assert told in done.stderr, done.stderr
    found = rows(here, f"SELECT model, answered, out_of_choice, acc_a, acc_d {OVERALL}")
    assert found == [("file:gpt", QUESTIONS - 1, 1, 1.0, 1.0)]


def test_the_unknown_of_another_prompt_is_pointed_out(here: Path) -> None:
    lines = ["id\tanswer", f"age-001a-002-amb-bsd\t{UNKNOWNS['2']}", "age-001a-002-amb-cnt\tA"]
    (here / "said.tsv").write_text("\n".join(lines), encoding="utf-8")
    words = ("bbq", "kobbq", "exp.toml", "--answers", "said.tsv")
    done = polyculture(*words, "--prompts", "1", cwd=here)
    assert "1 answers are 'unknown' in the words of prompt '2', and out of choice here" in done.stderr
    assert "in the words of" not in polyculture(*words, "--prompts", "2", cwd=here).stderr


def test_texts_in_a_column_of_another_name_are_asked_for(here: Path) -> None:
    (here / "said.jsonl").write_text('{"id": "age-001a-002-amb-bsd", "Output": "A"}', encoding="utf-8")
    words = ("bbq", "kobbq", "exp.toml", "--answers", "said.jsonl")
    refused = polyculture(*words, cwd=here)
    assert refused.returncode == 2
    assert "row 1: 'raw' is missing, or no text. Name the column of the texts with --column." in refused.stderr
    done = polyculture(*words, "--column", "Output", cwd=here)
    assert "1 answers read, from column 'Output'" in done.stderr


def test_a_newer_file_takes_the_place_of_the_older_one(here: Path) -> None:
    for name in ("age-001a-002-amb-bsd-0", "age-001a-002-amb-cnt-2"):
        line = json.dumps({"guid": name, "raw": "A", "prompt_id": "1"})
        (here / "said.jsonl").write_text(line + "\n", encoding="utf-8")
        done = polyculture("bbq", "kobbq", "exp.toml", "--answers", "said.jsonl", cwd=here)
        assert done.returncode == 0, done.stderr
    found = rows(here, "SELECT sample_id, prompt, permutation, shown, reading FROM bbq_answers ORDER BY 1")
    assert found == [
        ("age-001a-002-amb-bsd", "1", "021", "buo", "A"),
        ("age-001a-002-amb-cnt", "1", "210", "ubo", "A"),
    ]  # other permutations stand beside it
    (here / "said.jsonl").write_text(line.replace('"A"', '"C"') + "\n", encoding="utf-8")
    assert polyculture("bbq", "kobbq", "exp.toml", "--answers", "said.jsonl", cwd=here).returncode == 0
    assert rows(here, "SELECT reading FROM bbq_answers WHERE permutation = '210'") == [("C",)]


def test_mistakes_are_one_line_each(here: Path) -> None:
    (here / "bad.tsv").write_bytes(b"id\traw\nage\t\xff\n")
    (here / "other.tsv").write_text("name\traw\nage\tA\n", encoding="utf-8")
    (here / "said.jsonl").write_text('{"id": "age-001a-002-amb-cnt", "said": "A"}\n', encoding="utf-8")
    for words, told in (
        (("bbq", "kobbk", "exp.toml"), "there is no data set 'kobbk'"),
        (("bbq", "kobbq", "exp.toml", "--prompts", "7"), "there is no prompt '7'"),
        (("bbq", "kobbq", "exp.toml", "--folder", "."), "there is no KoBBQ_test_samples.tsv"),
        (("bbq", "kobbq", "exp.toml", "--answers", "bad.tsv"), "bad.tsv: row 2: it is not in UTF-8 (byte 0xff)"),
        (("bbq", "kobbq", "exp.toml", "--answers", "other.tsv"), "other.tsv: has no column 'id'"),
        (("bbq", "kobbq", "exp.toml", "--answers", "none.tsv"), "none.tsv: cannot be read"),
    ):
        done = polyculture(*words, cwd=here)
        assert told in one_line(done)
    untold = polyculture("bbq", "kobbq", "exp.toml", "--answers", "said.jsonl", cwd=here)
    assert untold.returncode == 2
    assert "row 1: 'raw' is missing, or no text. Name the column" in untold.stderr.splitlines()[-1]
