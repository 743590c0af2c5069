"""The ledger: what a dead process had in flight is charged, nothing that was booked is forgotten, the limit is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from polyculture.cache.errors import StoreError
from polyculture.cache.store.ledger import Ledger


def die(ledger: Ledger) -> None:
    """What the system does when a process is killed: its locks are free, its files stay."""
    ledger._store.close()
    ledger._alive.release()


@pytest.fixture
def dead(tmp_path: Path) -> Ledger:
    """A process that spent 0.1 and had requests for 0.05 in flight."""
    ledger = Ledger(tmp_path, 1.0)
    ledger.begin("a", 0.0, batch=False)
    for bound, cost in ((0.2, 0.1), (0.05, None)):
        flight = ledger.reserve("a", bound)
        assert flight is not None
        if cost is not None:
            ledger.book(flight, cost)
    die(ledger)
    return ledger


@pytest.mark.parametrize("rows", [0.0, 0.06, 0.1])
def test_what_was_in_flight_is_charged_whatever_rows_came_of_it(tmp_path: Path, dead: Ledger, rows: float) -> None:
    ledger = Ledger(tmp_path, 1.0)
    ledger.begin("a", rows, batch=False)
    assert ledger.spent() == pytest.approx(0.15)
    ledger.begin("b", 0.0, batch=False)
    assert ledger.reserve("b", 0.85) is not None
    assert ledger.reserve("b", 0.01) is None
    ledger.close()
    again = Ledger(tmp_path, 1.0)
    again.refresh({"a": lambda: rows, "b": lambda: 0.0})
    assert again.spent() == pytest.approx(1.0), "who leaves off pays for what is in flight"
    again.close()
    assert [file.name for file in tmp_path.iterdir() if "holder" not in file.name] == ["ledger.sqlite"]


def test_batches_go_on_when_their_process_is_gone(tmp_path: Path) -> None:
    first = Ledger(tmp_path, 1.0)
    first.begin("a", 0.0, batch=True)
    assert first.reserve("a", 0.6) is not None
    die(first)
    second = Ledger(tmp_path, 1.0)
    second.begin("b", 0.0, batch=False)
    assert second.reserve("b", 0.6) is None, "the provider may still bill it"
    second.begin("a", 0.0, batch=True)
    flight = second.reserve("a", 0.6)
    assert flight is not None, "the same requests, which it had reserved before"
    second.book(flight, 0.3)
    assert second.spent() == pytest.approx(0.3)
    assert second.in_flight_elsewhere("b") == {}
    second.close()


def test_rows_that_are_gone_were_paid_for_all_the_same(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, 1.0)
    ledger.begin("a", 0.3, batch=False)
    ledger.begin("a", 0.1, batch=False)
    assert ledger.spent() == pytest.approx(0.3)
    ledger.begin("a", 0.25, batch=False)  # others were bought without a ledger
    assert ledger.spent() == pytest.approx(0.45)
    ledger.close()


def test_under_other_prices_rows_are_counted_anew(tmp_path: Path) -> None:
    first = Ledger(tmp_path, 1.0, "dear")
    first.begin("a", 0.8, batch=False)
    first.close()
    second = Ledger(tmp_path, 1.0, "cheap")
    second.refresh({"a": lambda: 0.008})
    assert second.spent() == pytest.approx(0.008)
    second.close()


@pytest.mark.parametrize("content", [b"[]", b"x" * 5000, b"\xff\xfe"])
def test_a_damaged_ledger_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(content)
    with pytest.raises(StoreError, match="is no ledger"):
        Ledger(tmp_path, 1.0).refresh({})


class Processes(RuleBasedStateMachine):
    """Processes that ask a server, are killed and started again, in any order. The server's bill is the judge.

    The promise: the bill never passes the limit by more than requests in flight cost beyond their bounds. The server
    may answer a request whose process is dead, and bill up to twice its bound.
    """

    LIMIT = 1.0

    @initialize()
    def begin(self) -> None:
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.processes: dict[str, Ledger] = {}
        self.open: list[tuple[str, int, float]] = []  # process, flight, bound
        self.bill = self.beyond = self.rows = 0.0

    @rule(name=st.sampled_from("abc"))
    def start(self, name: str) -> None:
        if name not in self.processes:
            ledger = self.processes[name] = Ledger(Path(self.folder.name), self.LIMIT)
            ledger.refresh({})
            ledger.begin(name, 0.0, batch=False)

    @precondition(lambda self: self.processes)
    @rule(data=st.data(), bound=st.floats(0.01, 0.3))
    def ask(self, data: Any, bound: float) -> None:
        name = data.draw(st.sampled_from(sorted(self.processes)))
        flight = self.processes[name].reserve(name, bound)
        if flight is not None:
            self.open.append((name, flight, bound))

    @precondition(lambda self: self.open)
    @rule(data=st.data(), share=st.floats(0, 2))
    def answer(self, data: Any, share: float) -> None:
        """The server answers and bills; a living process books it."""
        name, flight, bound = self.open.pop(data.draw(st.integers(0, len(self.open) - 1)))
        self.bill += bound * share
        self.beyond += max(0.0, bound * (share - 1))
        if name in self.processes:
            self.processes[name].book(flight, bound * share)

    @precondition(lambda self: self.processes)
    @rule(data=st.data(), in_order=st.booleans())
    def stop(self, data: Any, in_order: bool) -> None:
        """A kill, or Ctrl-C: what is in flight may be billed later, and is known no more."""
        name = data.draw(st.sampled_from(sorted(self.processes)))
        ledger = self.processes.pop(name)
        ledger.close() if in_order else die(ledger)
        self.open = [("" if asked == name else asked, flight, bound) for asked, flight, bound in self.open]

    @invariant()
    def the_limit_is_kept(self) -> None:
        if hasattr(self, "bill"):
            assert self.bill <= self.LIMIT + self.beyond + 1e-6
            assert self.bill + sum(bound for *_, bound in self.open) <= self.LIMIT + self.beyond + 1e-6

    def teardown(self) -> None:
        for ledger in getattr(self, "processes", {}).values():
            ledger.close()
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestProcesses = Processes.TestCase
TestProcesses.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
