"""An executor of somebody else's: the loop that asks, and all that follows, know it by one method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import pytest

from polyculture.cache.work.stop_rule import StoppedStage
from polyculture.experiment.jobs import JobSelection
from polyculture.running.executor import AskedWork
from polyculture.running.opening import open_workspace
from polyculture.running.outcome import RunOutcome
from polyculture.running.start import run_experiment
from polyculture.running.steps import StepRunner
from tests.polyculture.test_jobs import tables, undisturbed, write_experiment
from tests.servers import StubServer


class Threads:
    """A thread for each work, each with models of its own."""

    def __init__(self) -> None:
        self.turns: list[list[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def run(self, runner: StepRunner, works: Sequence[AskedWork]) -> RunOutcome:
        self.turns.append(sorted({one.stage for one in works}))

        def do(one: AskedWork) -> RunOutcome:
            return runner.run_step(one.step, [one.work], tell_settled=False)

        with ThreadPoolExecutor(3) as pool:
            return sum(pool.map(do, works), RunOutcome())


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


def test_a_run_by_another_executor_ends_in_the_same_tables(tmp_path: Path, stub: StubServer) -> None:
    once, other = (write_experiment(tmp_path / name, stub.url) for name in ("once", "other"))
    undisturbed(once)
    asked = Counter(stub.asked)
    threads = Threads()
    finished = run_experiment(open_workspace(other), JobSelection(), executor=threads)
    finished.check()
    assert finished.report is not None
    assert finished.report.exists()
    assert threads.turns == [["generate"], ["extract"]]  # what reads rows comes after what makes them
    assert tables(other) == tables(once)
    assert len(stub.asked) == 2 * asked.total()
    run_experiment(open_workspace(other), JobSelection(), executor=Threads()).check()
    assert len(stub.asked) == 2 * asked.total(), "a second run sends no request"


def test_outcomes_add_up() -> None:
    one = RunOutcome(failed=("a: 1 failed",), unread=1, stopped=(StoppedStage("a", "a: stopped"),))
    two = RunOutcome(failed=("b: 2 failed",), missing=("c",), empty=("d",))
    both = one + two
    assert (both.failed, both.unread, both.missing) == (("a: 1 failed", "b: 2 failed"), 1, ("c",))
    assert (both.stopped, both.empty, both.held) == (one.stopped, ("d",), {})
    assert one + RunOutcome() == one
