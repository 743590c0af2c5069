"""An experiment of instruments alone: `run` asks it, in one process, in shares, on a cluster, and after kills."""

from __future__ import annotations

import json
import shlex
import shutil
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import polyculture.instruments as instruments
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.work.worker import RetryFailed, Step
from polyculture.running import validity
from polyculture.running.call_list import calls_of_run, check_calls
from polyculture.running.estimate import estimates
from polyculture.running.executor import begin
from polyculture.running.layout import layout_of
from polyculture.running.opening import open_workspace
from tests.polyculture.test_command_line import one_line, polyculture
from tests.polyculture.test_jobs import status, wait_for
from tests.quick_start import begin_polyculture
from tests.servers import Reply, StubServer, failure
from tests.stored import rows

EXPERIMENT = """
name = "alone"
models = ["openai:one", "openai:two"]
[options.openai]
base_url = "{url}"
concurrency = 2
[instruments.ask]
set = "{rules}"
{more}
"""
QUESTIONS = Path(instruments.__file__).parent / "questions" / "demo"
ASKED = 120  # of two models: five templates, twelve questions each
IN_FLIGHT = 2 * 2  # at a kill: on their way, and waiting to be written


def answer(_body: Mapping[str, Any], _before: int) -> Reply:
    return written("A")


def written(text: str) -> Reply:
    return Reply(body=json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).encode())


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(latency=0.02, behaviour=answer) as server:
        yield server


def write(folder: Path, url: str, more: str = "") -> Path:
    for name in ("made-up.toml", "made-up.tsv"):
        shutil.copyfile(QUESTIONS / name, folder / name)
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(url=url, rules="made-up.toml", more=more), encoding="utf-8")
    return file


def requests(stub: StubServer) -> Counter[str]:
    """How often each question was asked of each model."""
    return Counter(json.dumps([body["model"], body["messages"]]) for body in stub.bodies)


def is_whole(folder: Path) -> None:
    counted = rows(folder, "SELECT count(*), count(DISTINCT answer_id) FROM answers WHERE status = 'ok'")
    assert counted == [(ASKED, ASKED)]
    assert rows(folder, "SELECT count(*) FROM answer_readings")[0][0] >= ASKED
    assert (folder / "runs" / "alone" / "report.html").exists()


def test_a_run_asks_measures_and_reports_and_the_next_one_asks_nothing(tmp_path: Path, stub: StubServer) -> None:
    file = write(tmp_path, stub.url)
    planned = polyculture("plan", file, cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    assert f"Next: polyculture run {file}" in planned.stderr
    assert f"polyculture run {file}" in polyculture("status", file, cwd=tmp_path).stdout
    done = polyculture("run", file, cwd=tmp_path, report=True)
    assert done.returncode == 0, done.stderr
    assert "Numbers of question sets" in done.stdout
    assert "Report:" in done.stdout
    assert set(requests(stub).values()) == {1}
    is_whole(tmp_path)
    assert polyculture("run", file, cwd=tmp_path).returncode == 0
    assert len(stub.bodies) == ASKED
    assert polyculture("plan", file, "--jobs", cwd=tmp_path).stdout == ""
    assert "to go on" not in polyculture("status", file, cwd=tmp_path).stdout


def test_permanent_failures_are_asked_again_where_that_is_said(tmp_path: Path, stub: StubServer) -> None:
    def refuses(body: Mapping[str, Any], before: int) -> Reply:
        is_refused = crc32(json.dumps(body["messages"]).encode()) % 5 == 0
        return failure(400, "refused") if body["model"] == "one" and is_refused else answer(body, before)

    stub.behaviour = refuses
    file = write(tmp_path, stub.url, more="questions = 30")
    assert polyculture("run", file, cwd=tmp_path).returncode == 4
    failed = sum(row["failed"] for row in status(file) if row["stage"] == "ask")
    assert failed
    asked = len(stub.bodies)
    assert polyculture("run", file, cwd=tmp_path).returncode == 4
    assert len(stub.bodies) == asked, "a permanent failure is settled"
    stub.behaviour = answer
    done = polyculture("run", file, "--retry-failed", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(stub.bodies) == asked + failed


@pytest.mark.slow
def test_killed_in_the_middle_a_run_goes_on_where_it_was(tmp_path: Path, stub: StubServer) -> None:
    file = write(tmp_path, stub.url)
    killed = begin_polyculture("run", file, cwd=tmp_path)
    wait_for(lambda: len(stub.bodies) > ASKED // 3)
    killed.kill()
    killed.join()
    asked = len(stub.bodies)
    assert asked < ASKED, "the kill came too late to show anything"
    assert polyculture("run", file, cwd=tmp_path, report=True).returncode == 0
    assert len(stub.bodies) - ASKED <= IN_FLIGHT
    assert set(requests(stub).values()) <= {1, 2}
    is_whole(tmp_path)


@pytest.mark.slow
def test_shares_end_in_what_one_process_makes_whichever_is_killed(tmp_path: Path, stub: StubServer) -> None:
    """All at once, one of them killed: what it left is asked by its own line again."""
    file = write(tmp_path, stub.url)
    lines = polyculture("plan", file, "--jobs", cwd=tmp_path).stdout.splitlines()
    assert lines == [f"polyculture run {file} --job {k}/10" for k in range(1, 11)]
    killed = threading.Event()

    def waits(body: Mapping[str, Any], before: int) -> Reply:
        if len(stub.bodies) > 8:  # fewer than one job has: no share is done before the kill
            killed.wait(120)
        return answer(body, before)

    stub.behaviour = waits
    shares = [f"{k}/3" for k in (1, 2, 3)]
    said = [tmp_path / f"said-{number}.txt" for number in range(len(shares))]
    running = [
        begin_polyculture("run", file, "--job", share, cwd=tmp_path, stderr=to)
        for share, to in zip(shares, said, strict=True)
    ]
    wait_for(lambda: len(stub.bodies) > 8)
    running[0].kill()
    killed.set()
    for process in running:
        process.join()
    assert [process.exitcode for process in running[1:]] == [0, 0], [to.read_text(encoding="utf-8") for to in said]
    assert not (tmp_path / "runs" / "alone" / "report.html").exists()
    lines = polyculture("plan", file, "--jobs", cwd=tmp_path).stdout.splitlines()
    assert {int(line.rpartition(" ")[2].partition("/")[0]) % 3 for line in lines} == {1}, "of the share that was killed"
    for line in lines:
        assert polyculture(*shlex.split(line)[1:], cwd=tmp_path).returncode == 0
    assert polyculture("plan", file, "--jobs", cwd=tmp_path).stdout == ""
    assert len(stub.bodies) - ASKED <= IN_FLIGHT
    assert polyculture("run", file, cwd=tmp_path, report=True).returncode == 0
    assert len(stub.bodies) - ASKED <= IN_FLIGHT
    is_whole(tmp_path)


def test_a_table_that_another_process_begins_meanwhile_is_left_out_of_a_comparison(
    tmp_path: Path, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three shares that began at once, one looked for answers in a store that was opened before there were any."""
    file = write(tmp_path, stub.url)
    workspace = open_workspace(file)
    for call in calls_of_run(workspace):
        begin(call, lambda _level, _line: None, accept_changes=False)
    write(tmp_path, stub.url, more="[options.openai.extra_body]\nmin_p = 0.1")

    def meanwhile(run: RunFolder) -> Layout:
        layout = layout_of(run)
        (run.root / "answers").mkdir(exist_ok=True)
        return layout

    monkeypatch.setattr(validity, "layout_of", meanwhile)
    check_calls(calls_of_run(open_workspace(file)))
    assert (workspace.run.root / "answers").is_dir()


@pytest.mark.parametrize(
    ("said", "lacks"),
    [
        ("", "names no languages, topics, countries"),
        ('languages = ["en"]\ncountries = ["JP"]\n', "names no topics"),
    ],
)
@pytest.mark.parametrize("words", [("run",), ("run", "--job", "1/2"), ("plan",)])
def test_what_asks_for_nothing_is_refused(tmp_path: Path, said: str, lacks: str, words: tuple[str, ...]) -> None:
    (tmp_path / "exp.toml").write_text(f'name = "none"\nmodels = ["mock:m"]\n{said}', encoding="utf-8")
    line = one_line(polyculture(*words, "exp.toml", cwd=tmp_path))
    assert "exp.toml" in line
    assert lacks in line
    assert "[instruments." in line
    assert not (tmp_path / "runs").exists()


def test_a_step_that_the_run_does_not_have_is_refused_with_those_that_it_has(tmp_path: Path) -> None:
    file = write(tmp_path, "http://127.0.0.1:9/v1")
    for stage in ("generate", "extract", "link", "ask reed"):
        line = one_line(polyculture("run", "--only", stage, file, cwd=tmp_path))
        assert f"exp.toml: --only {stage}" in line
        assert "ask, ask read, measure" in line
    assert "Did you mean 'ask read'?" in line


def test_a_step_of_an_instrument_is_done_alone(tmp_path: Path, stub: StubServer) -> None:
    file = write(tmp_path, stub.url)

    def only(stage: str, *words: str) -> tuple[int, int, int]:
        done = polyculture("run", "--only", stage, file, *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        counts = "SELECT (SELECT count(*) FROM answers), (SELECT count(*) FROM answer_readings)"
        return (len(stub.bodies), *rows(tmp_path, counts)[0])

    assert only("ask", "--model", "openai:one") == (ASKED // 2, ASKED // 2, 0)
    asked, answers, readings = only("ask read")
    assert (asked, answers) == (ASKED // 2, ASKED // 2)
    assert readings >= answers
    assert only("ask") == (ASKED, ASKED, readings)
    assert polyculture("run", file, cwd=tmp_path, report=True).returncode == 0
    assert len(stub.bodies) == ASKED
    is_whole(tmp_path)


def test_readings_of_answers_that_are_gone_are_made_again(tmp_path: Path, stub: StubServer) -> None:
    """The model answered otherwise this time, and the answers counted as they had been read before."""
    file = write(tmp_path, stub.url)
    for stage in ("ask", "ask read"):
        assert polyculture("run", "--only", stage, file, cwd=tmp_path).returncode == 0
    next((tmp_path / "runs" / "alone" / "answers").rglob("part-*.parquet")).unlink()
    stub.behaviour = lambda _body, _before: written("B")
    for stage in ("ask", "ask read"):
        assert polyculture("run", "--only", stage, file, cwd=tmp_path).returncode == 0
    again = len(stub.bodies) - ASKED
    assert 0 < again < ASKED
    picked = """SELECT count(*), count(*) FILTER (picked = "order"[list_position(labels, raw)])
        FROM answers JOIN answer_readings USING (answer_id) WHERE reader = 'ours' GROUP BY raw ORDER BY raw"""
    assert rows(tmp_path, picked) == [(ASKED - again, ASKED - again), (again, again)]


def test_what_cannot_be_planned_is_named_and_the_rest_is_planned(tmp_path: Path) -> None:
    file = write(tmp_path, "http://127.0.0.1:9/v1", more='[instruments.probe]\nset = "blend"')
    text = file.read_text(encoding="utf-8").replace('"openai:two"', '"transformers:no/model"')
    file.write_text(text, encoding="utf-8")
    nothing = {"HF_HUB_OFFLINE": "1", "POLYCULTURE_CACHE": str(tmp_path / "cache")}
    planned = polyculture("plan", file, cwd=tmp_path, **nothing)
    assert planned.returncode == 2
    assert "60" in next(line for line in planned.stdout.splitlines() if "ask" in line and "openai:one" in line)
    assert "probe is not in this plan" in planned.stderr
    assert "polyculture data fetch blend" in planned.stderr.splitlines()[-1]
    told = polyculture("status", file, cwd=tmp_path, **nothing)
    assert told.returncode == 0
    assert "probe: nobody knows how far it is" in told.stderr


TEXTS = """
name = "jobs"
models = ["openai:one"]
languages = ["ja", "ko"]
topics = ["food"]
countries = ["IT", "JP"]
[sampling]
n = 3
[extract]
with = "openai:reads"
[options.openai]
base_url = "{url}"
concurrency = 2
"""


def test_steps_that_count_rows_count_what_their_items_say(tmp_path: Path) -> None:
    """Of failures of both kinds, of a journal that a killed process left, and of settings that have changed since."""

    def fails(body: Mapping[str, Any], before: int) -> Reply:
        number = crc32(json.dumps([body["messages"], body["seed"]]).encode())
        if number % 7 == 0:
            return failure(400, "refused")
        if number % 5 == 0 and body["model"] == "one":
            return Reply(body=b'{"unknown": 1}')  # asked again by the next run
        return written("[]" if body["model"] == "reads" else f"A text {number % 13}.")

    with StubServer(latency=0.02, behaviour=fails) as server:
        file = tmp_path / "exp.toml"
        file.write_text(TEXTS.format(url=server.url), encoding="utf-8")
        killed = begin_polyculture("run", file, cwd=tmp_path)
        wait_for(lambda: len(server.bodies) > 9)
        killed.kill()
        killed.join()
        seen = [counts_agree(file)]
        polyculture("run", file, cwd=tmp_path)
        seen.append(counts_agree(file))
    text = file.read_text(encoding="utf-8")
    for old, new in (("n = 3", "n = 2"), ("n = 3", "n = 5"), ("n = 3", "n = 3\ntemperature = 0.1")):
        file.write_text(text.replace(old, new), encoding="utf-8")
        seen.append(counts_agree(file))
    assert len(set(seen)) >= 4, "they all count the same"
    assert seen[1][1] > 0, "nothing failed"


def test_extractions_that_failed_for_good_are_planned_where_they_are_asked_again(tmp_path: Path) -> None:
    """They were taken for answers that equal texts have already: none was left, by the plan."""

    def refuses(body: Mapping[str, Any], _before: int) -> Reply:
        number = crc32(json.dumps(body["messages"]).encode())
        if body["model"] == "one":
            return written(f"A text {crc32(json.dumps(body).encode()) % 7}.")  # some are equal
        return failure(400, "refused") if number % 3 else written("[]")

    with StubServer(behaviour=refuses) as server:
        file = tmp_path / "exp.toml"
        file.write_text(TEXTS.format(url=server.url), encoding="utf-8")
        polyculture("run", file, cwd=tmp_path)
        [(failed,)] = rows(tmp_path, "SELECT count(*) FROM extractions WHERE status = 'failed'", "jobs")
        workspace = open_workspace(file)
        calls = calls_of_run(workspace)
        retries = (None, RetryFailed(), RetryFailed("refused"), RetryFailed("nothing like it"))
        left = [sum(one.left for one in estimates(workspace, calls, retry)) for retry in retries]
        asked = len(server.bodies)
        polyculture("run", "--retry-failed", file, cwd=tmp_path)
        again = len(server.bodies) - asked
    assert left == [0, failed, failed, 0]
    assert 0 < again <= failed  # equal texts are asked about once


@pytest.mark.parametrize(
    ("table", "asks", "setting", "words"),
    [
        ("responses", "one", ("n = 3", "n = 3\ntemperature = 0.1"), ("run",)),
        ("responses", "one", ("n = 3", "n = 3\ntemperature = 0.1"), ("run", "--only", "generate")),
        ("extractions", "reads", ('with = "openai:reads"', 'with = "openai:reads"\nmax_tokens = 90'), ("run",)),
    ],
)
def test_what_a_killed_process_paid_for_is_not_asked_otherwise_unasked(
    tmp_path: Path, table: str, asks: str, setting: tuple[str, str], words: tuple[str, ...]
) -> None:
    """Its rows were in journals, which were committed only behind the refusal: nothing seemed to be lost."""

    def reply(body: Mapping[str, Any], _before: int) -> Reply:
        return written("[]" if body["model"] == "reads" else f"A text {crc32(json.dumps(body).encode())}.")

    with StubServer(latency=0.05, behaviour=reply) as server:
        file = tmp_path / "exp.toml"
        file.write_text(TEXTS.format(url=server.url), encoding="utf-8")
        killed = begin_polyculture("run", file, cwd=tmp_path)
        wait_for(lambda: sum(body["model"] == asks for body in server.bodies) > 5)
        killed.kill()
        killed.join()
        asked = len(server.bodies)
        file.write_text(file.read_text(encoding="utf-8").replace(*setting), encoding="utf-8")
        refused = [polyculture(*said, file, cwd=tmp_path) for said in (("plan",), words)]
        assert len(server.bodies) == asked
    [(paid,)] = rows(tmp_path, f"SELECT count(*) FROM stored_{table}", "jobs")
    for one in refused:
        assert one.returncode == 2, one.stderr
        assert f"To be redone: {paid} {table}" in one.stderr
    assert paid > 0


def counts_agree(file: Path) -> tuple[int, int, int]:
    """What is done, failed and left of texts, by rows; the same by items, one after the other."""
    workspace, counted = open_workspace(file), []
    for call in calls_of_run(workspace):
        for step, work in call.works():
            by_rows, by_items = step.count(workspace.run, work), Step.count(step, workspace.run, work)
            assert replace(by_rows, total=by_items.total) == by_items
            counted.append(by_rows)
    return sum(one.done for one in counted), sum(one.failed for one in counted), sum(one.left for one in counted)
