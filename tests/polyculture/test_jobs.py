"""Jobs as a cluster runs them: one by one, many at once, twice by mistake; and what `status` says meanwhile."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.running.layout import store_layout
from tests.polyculture.test_command_line import polyculture
from tests.quick_start import begin_polyculture
from tests.servers import StubServer, failure

# Languages that are told by their scripts: no process loads the models of those in Latin letters, three seconds each.
EXPERIMENT = """
name = "jobs"
models = ["openai:one", "openai:two"]
languages = ["ja", "ko"]
topics = ["food"]
countries = ["IT", "JP"]
conditions = ["neutral", "explicit"]
[sampling]
n = {n}
[options.openai]
base_url = "{url}"
concurrency = 2
"""
TABLES = ("responses", "extractions", "mentions", "links", "candidates", "entities", "entity_countries", "numbers")


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(latency=0.02) as server:
        yield server


def write_experiment(folder: Path, url: str, n: int = 4) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(url=url, n=n), encoding="utf-8")
    return file


def tables(experiment: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that a run ends in."""
    with open_store(RunFolder(experiment.parent / "runs" / "jobs"), store_layout()) as store:
        return {name: store.sql(f"SELECT * FROM {name} ORDER BY ALL").fetchall() for name in TABLES}


def undisturbed(experiment: Path) -> None:
    """All that a run ends in but its page, which takes as long as the rest and is read by none of these tests."""
    for stage in ("generate", "extract", "link", "measure"):
        assert polyculture("run", "--only", stage, experiment, cwd=experiment.parent).returncode == 0


def status(experiment: Path) -> list[dict[str, Any]]:
    shown = polyculture("status", experiment, "--format", "json", cwd=experiment.parent)
    assert shown.returncode == 0, shown.stderr
    return [json.loads(line) for line in shown.stdout.splitlines()]


def wait_for(condition: Callable[[], bool], seconds: float = 400) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


@pytest.mark.slow
def test_the_lines_of_jobs_run_all_at_once_end_in_the_same_tables(tmp_path: Path, stub: StubServer) -> None:
    once, many = (write_experiment(tmp_path / name, stub.url) for name in ("once", "many"))
    for file in (once, many):
        file.write_text(file.read_text(encoding="utf-8").replace(', "openai:two"', ""), encoding="utf-8")
    undisturbed(once)
    asked = len(stub.asked)
    lines = polyculture("plan", many, "--jobs", cwd=many.parent).stdout.splitlines()
    assert lines == [f"polyculture run {many} --job {k}/2" for k in (1, 2)]
    running = [begin_polyculture(*shlex.split(line)[1:], cwd=many.parent) for line in lines]
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0, 0]
    assert not (many.parent / "runs" / "jobs" / "report.html").exists()
    assert polyculture("plan", many, "--jobs", cwd=many.parent).stdout == ""
    undisturbed(many)
    assert tables(many) == tables(once)
    assert len(stub.asked) == 2 * asked


def test_two_processes_given_the_same_job(tmp_path: Path, stub: StubServer) -> None:
    """The second says who holds it and leaves; killed, the first holds it no longer; interrupted, it resumes."""
    experiment = write_experiment(tmp_path, stub.url, n=400)
    words = ("run", experiment, "--model", "openai:one", "--language", "ja")
    first = begin_polyculture(*words, cwd=tmp_path)
    wait_for(lambda: len(stub.answered) > 10)
    second = polyculture(*words, cwd=tmp_path)
    assert second.returncode == 3
    assert f"job openai:one ja food is held by process {first.pid} on " in second.stderr.splitlines()[-1]
    assert " since " in second.stderr
    assert "Traceback" not in second.stderr
    mine, *others = status(experiment)
    assert (mine["stage"], mine["running"]) == ("generate", True)
    assert 0 < mine["done"] < mine["total"] == mine["done"] + mine["left"] == 1200
    assert not any(row["running"] or row["done"] for row in others)
    first.kill()
    first.join()
    wait_for(lambda: not status(experiment)[0]["running"])
    third = begin_polyculture(*words, cwd=tmp_path)
    resumed = len(stub.answered)
    wait_for(lambda: len(stub.answered) > resumed + 10)
    os.kill(third.pid or 0, signal.SIGINT)
    third.join()
    assert third.exitcode == 130
    kept = status(experiment)[0]["done"]
    assert len(stub.answered) - kept <= 2 * 4  # at each of two ends: in flight, and waiting to be written


def test_status_before_the_first_run_after_it_and_of_failures(tmp_path: Path, stub: StubServer) -> None:
    experiment = write_experiment(tmp_path, stub.url, n=2)
    before = polyculture("status", experiment, cwd=tmp_path)
    assert before.returncode == 0, before.stderr
    assert "6 left" in before.stdout
    assert not (tmp_path / "runs").exists(), "status writes nothing"
    faults = {"one": failure(400, "too long"), "two": failure(500, "busy", **{"retry_after": "0"})}
    stub.behaviour = lambda body, _: faults[body["model"]] if body["seed"] % 2 else None
    text = experiment.read_text(encoding="utf-8")
    experiment.write_text(text.replace("concurrency = 2", "concurrency = 2\nmax_retries = 0"), encoding="utf-8")
    assert polyculture("run", "--only", "generate", experiment, cwd=tmp_path).returncode == 4
    assert polyculture("run", "--only", "extract", experiment, cwd=tmp_path).returncode == 0
    found = {(row["model"], row["language"], row["stage"]): row for row in status(experiment)}
    for language in ("ja", "ko"):
        one, two = found["openai:one", language, "generate"], found["openai:two", language, "generate"]
        assert (one["done"], one["failed"], one["failed_to_retry"], one["left"]) == (3, 3, 0, 0)
        assert (two["done"], two["failed"], two["failed_to_retry"], two["left"]) == (3, 3, 3, 0)
        extracted = found["openai:one", language, "extract"]
        assert (extracted["total"], extracted["done"], extracted["left"]) == (3, 3, 0)
    left = polyculture("plan", experiment, "--jobs", cwd=tmp_path).stdout.splitlines()
    assert [line.rpartition(" ")[2] for line in left] == ["3/4", "4/4"], "what failed for good is not run again"
    shown = polyculture("status", experiment, cwd=tmp_path).stdout
    assert "3 done, 3 failed" in shown
    assert "3 failed, to retry" in shown
    table = polyculture("status", experiment, "--format", "csv", cwd=tmp_path).stdout
    assert len(list(csv.DictReader(io.StringIO(table)))) == 8
