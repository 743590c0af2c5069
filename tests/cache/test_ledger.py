"""The ledger: what a dead process had on its way is booked, and nothing that was booked is forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polyculture.cache.errors import StoreError
from polyculture.cache.in_flight import InFlightFile, InFlightSpend
from polyculture.cache.ledger import Ledger


def die(ledger: Ledger) -> None:
    """What the system does when a process is killed: its lock is free, its files stay."""
    ledger._alive.release()


@pytest.fixture
def dead(tmp_path: Path) -> Ledger:
    """A process that reserved 0.5, has spent 0.1 that the ledger does not know of, and sent requests for 0.05."""
    ledger = Ledger(tmp_path, 1.0)
    ledger.begin("a", 0.0, batch=False)
    assert ledger.reserve("a", 0.0, 0.1, 0.5) == 0.5
    ledger.on_the_way("a", 0.1, 0.05)
    die(ledger)
    return ledger


@pytest.mark.parametrize("rows", [0.0, 0.06, 0.1])
def test_what_was_on_its_way_is_booked_whatever_rows_came_of_it(tmp_path: Path, dead: Ledger, rows: float) -> None:
    ledger = Ledger(tmp_path, 1.0)
    ledger.begin("a", rows, batch=False)
    assert ledger.spent() == pytest.approx(0.15)
    ledger.begin("b", 0.0, batch=False)
    assert ledger.reserve("b", 0.0, 0.1, 0.85) == pytest.approx(0.85)  # the rest is free again
    ledger.close()
    again = Ledger(tmp_path, 1.0)
    again.refresh({"a": lambda: rows, "b": lambda: 0.0})
    assert again.spent() == pytest.approx(0.15)
    again.close()
    assert not list(tmp_path.glob(".flight-*"))


def test_without_its_file_the_whole_reservation_is_booked(tmp_path: Path, dead: Ledger) -> None:
    for file in tmp_path.glob(".flight-*"):
        file.unlink()
    ledger = Ledger(tmp_path, 1.0)
    ledger.refresh({"a": lambda: 0.0})
    assert ledger.spent() == pytest.approx(0.5)
    ledger.close()


def test_a_booking_is_not_counted_twice_where_the_process_died_before_it_said_so(tmp_path: Path, dead: Ledger) -> None:
    ledger = json.loads((tmp_path / "ledger.json").read_text())
    ledger["accounts"]["a"].update(spent=0.1, turn=ledger["accounts"]["a"]["turn"] + 1)
    (tmp_path / "ledger.json").write_text(json.dumps(ledger))
    after = Ledger(tmp_path, 1.0)
    after.refresh({"a": lambda: 0.1})
    assert after.spent() == pytest.approx(0.15)
    after.close()


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


def test_a_ledger_of_an_earlier_version_frees_what_its_processes_reserved(tmp_path: Path) -> None:
    account = {"spent": 0.2, "reserved": 0.7, "batch": False, "holder": "0123456789abcdef"}
    (tmp_path / "ledger.json").write_text(json.dumps({"accounts": {"a": account}}))
    ledger = Ledger(tmp_path, 1.0)
    ledger.refresh({"a": lambda: 0.2})
    assert ledger.spent() == pytest.approx(0.2)
    assert ledger.reserved_by_others("b") == {}
    ledger.close()


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe"])
def test_a_damaged_ledger_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ledger.json").write_bytes(content)
    with pytest.raises(StoreError, match="is no ledger"):
        Ledger(tmp_path, 1.0).refresh({})


def test_one_process_asks_a_model_first(tmp_path: Path) -> None:
    mine, other = Ledger(tmp_path, 1.0), Ledger(tmp_path, 1.0)
    assert mine.may_ask_first("m")
    assert mine.may_ask_first("m")
    assert not other.may_ask_first("m")
    die(mine)
    assert other.may_ask_first("m")
    other.counted("m", 0.4)
    third = Ledger(tmp_path, 1.0)
    assert third.may_ask_first("m")
    assert third.dearest("m") == 0.4


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 25])
def test_a_cut_flight_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f").write_bytes(content)
    assert InFlightSpend.read(tmp_path / "f") is None
    assert InFlightSpend.read(tmp_path / "absent") is None
    flight = InFlightFile(tmp_path / "f")
    flight.write(InFlightSpend(3, 0.5, 0.25))
    assert InFlightSpend.read(tmp_path / "f") == InFlightSpend(3, 0.5, 0.25)
    flight.close()
