"""Two runs of one experiment at once: one of them links, measures and reports, also where the other is killed."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from polyculture.cache.run_folder import RunFolder
from polyculture.running.at_work import FOLDER, AtWork
from tests.polyculture.test_command_line import polyculture, start_polyculture
from tests.polyculture.test_jobs import status, tables, undisturbed, wait_for, write_experiment
from tests.servers import StubServer


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(latency=0.02) as server:
        yield server


def run_folder(experiment: Path) -> RunFolder:
    return RunFolder(experiment.parent / "runs" / "jobs")


def holders(experiment: Path) -> list[str]:
    """The processes that hold jobs now."""
    return [
        holder.read_text(encoding="utf-8") for holder in run_folder(experiment).root.glob("responses/*/*/*/.holder")
    ]


def two(experiment: Path, stub: StubServer) -> tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]:
    """A run, and a second one that found a job of it held and works on another; the server is slow until it does."""
    before, stub.latency = stub.latency, 0.5
    first = start_polyculture("run", experiment, cwd=experiment.parent, stderr=subprocess.PIPE)
    wait_for(lambda: len(stub.answered) > 10)
    second = start_polyculture("run", experiment, cwd=experiment.parent, stderr=subprocess.PIPE)
    wait_for(lambda: any(f"process {second.pid} " in holder for holder in holders(experiment)))
    stub.latency = before
    return first, second


def end(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    _, said = process.communicate(timeout=300)
    assert b"Traceback" not in said
    return process.returncode, said.decode()


def test_the_last_of_two_runs_finishes_what_both_began(tmp_path: Path, stub: StubServer) -> None:
    experiment = write_experiment(tmp_path / "two", stub.url, n=20)
    alone = write_experiment(tmp_path / "alone", stub.url, n=20)
    ends = [end(process) for process in two(experiment, stub)]
    assert 0 in [code for code, _ in ends], ends
    assert {code for code, _ in ends} <= {0, 3}
    for code, said in ends:
        if code == 3:
            assert " works on this run, too: it does what is left, and links, measures and reports" in said
            assert " on " in said.splitlines()[-1]
            assert " since " in said.splitlines()[-1]
    assert not any(row["left"] or row["failed"] for row in status(experiment))
    assert run_folder(experiment).report.exists()
    asked = len(stub.asked)
    assert asked == 4 * 3 * 20, "nothing is asked twice"
    undisturbed(alone)
    assert tables(experiment) == tables(alone)
    assert not (run_folder(experiment).root / FOLDER).exists()


@pytest.mark.parametrize("killed", [0, pytest.param(1, marks=pytest.mark.full)])
def test_the_other_run_takes_over_what_a_killed_one_held(tmp_path: Path, stub: StubServer, killed: int) -> None:
    experiment = write_experiment(tmp_path, stub.url, n=20)
    processes = two(experiment, stub)
    processes[killed].kill()
    processes[killed].wait()
    code, said = end(processes[1 - killed])
    assert code == 0, said
    assert not any(row["left"] or row["failed"] for row in status(experiment))
    assert run_folder(experiment).report.exists()
    processes[killed].communicate()


def test_a_job_that_a_part_of_the_run_holds_is_named_and_left(tmp_path: Path, stub: StubServer) -> None:
    experiment = write_experiment(tmp_path, stub.url, n=200)
    words = ("--model", "openai:one", "--language", "ja")
    part = start_polyculture("run", experiment, *words, cwd=tmp_path, stderr=subprocess.PIPE)
    wait_for(lambda: len(stub.answered) > 10)
    whole = polyculture("run", experiment, "--model", "openai:one", cwd=tmp_path)
    assert whole.returncode == 3
    assert f"held by process {part.pid} on " in whole.stderr.splitlines()[-1]
    part.kill()
    part.communicate()


def test_of_two_at_the_door_one_finishes(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    with AtWork(run) as first, AtWork(run) as second:
        other = first.leaves_to()
        assert other is not None
        assert other.startswith("process ")
        assert second.leaves_to() is None
        with AtWork(run) as third, second.finishing():
            assert third.leaves_to() is None, "one that finishes already may have passed what is left"
    assert not (tmp_path / FOLDER).exists()


def test_what_a_killed_process_left_counts_for_nobody(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    gone = tmp_path / FOLDER / "1-0123abcd"
    gone.mkdir(parents=True)
    (gone / ".holder").write_text("process 1 on nowhere since long ago", encoding="utf-8")
    mine = tmp_path / FOLDER / "notes"
    mine.mkdir()
    before = time.monotonic()
    with AtWork(run) as only:
        assert only.leaves_to() is None
    assert time.monotonic() - before < 30
    assert not gone.exists()
    assert mine.exists()
