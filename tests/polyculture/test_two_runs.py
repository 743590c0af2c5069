"""Two runs of one experiment at once: each waits for the jobs of the other, also where that is killed."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from polyculture.cache.store.run_folder import RunFolder
from tests.polyculture.test_command_line import polyculture
from tests.polyculture.test_jobs import status, tables, undisturbed, wait_for, write_experiment
from tests.quick_start import begin_polyculture
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


def begin(experiment: Path, number: int, *words: str) -> ForkServerProcess:
    return begin_polyculture("run", experiment, *words, cwd=experiment.parent, stderr=said(experiment, number))


def said(experiment: Path, number: int) -> Path:
    return experiment.with_name(f"{number}.txt")


def two(experiment: Path, stub: StubServer) -> tuple[ForkServerProcess, ForkServerProcess]:
    """A run, and a second one that found a job of it held and works on another; the server is slow until it does."""
    before, stub.latency = stub.latency, 0.5
    first = begin(experiment, 0)
    wait_for(lambda: len(stub.answered) > 10)
    second = begin(experiment, 1)
    wait_for(lambda: any(f"process {second.pid} " in holder for holder in holders(experiment)))
    stub.latency = before
    return first, second


def ends_well(process: ForkServerProcess, experiment: Path, number: int) -> None:
    process.join()
    told = said(experiment, number).read_text(encoding="utf-8")
    assert "Traceback" not in told
    assert process.exitcode == 0, told


@pytest.mark.slow
def test_two_runs_do_every_job_once_and_both_finish(tmp_path: Path, stub: StubServer) -> None:
    experiment = write_experiment(tmp_path / "two", stub.url, n=20)
    alone = write_experiment(tmp_path / "alone", stub.url, n=20)
    for number, process in enumerate(two(experiment, stub)):
        ends_well(process, experiment, number)
    assert not any(row["left"] or row["failed"] for row in status(experiment))
    assert run_folder(experiment).report.exists()
    asked = len(stub.asked)
    assert asked == 4 * 3 * 20, "nothing is asked twice"
    undisturbed(alone)
    assert tables(experiment) == tables(alone)


@pytest.mark.parametrize("killed", [0, pytest.param(1, marks=pytest.mark.full)])
def test_the_other_run_takes_over_what_a_killed_one_held(tmp_path: Path, stub: StubServer, killed: int) -> None:
    experiment = write_experiment(tmp_path, stub.url, n=20)
    processes = two(experiment, stub)
    processes[killed].kill()
    ends_well(processes[1 - killed], experiment, 1 - killed)
    assert not any(row["left"] or row["failed"] for row in status(experiment))
    assert run_folder(experiment).report.exists()


def test_a_job_that_a_part_of_the_run_holds_is_named_and_left(tmp_path: Path, stub: StubServer) -> None:
    experiment = write_experiment(tmp_path, stub.url, n=200)
    part = begin(experiment, 0, "--model", "openai:one", "--language", "ja")
    wait_for(lambda: len(stub.answered) > 10)
    whole = polyculture("run", experiment, "--model", "openai:one", cwd=tmp_path)
    assert whole.returncode == 3
    assert f"held by process {part.pid} on " in whole.stderr.splitlines()[-1]
    part.kill()
    part.join()
