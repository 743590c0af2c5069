"""The ledger of a run: spent and reserved money in one small file, which all processes update under a lock.

An account is the work of one stage on one job. `spent` is all that was booked for it: its rows on disk, answers of no
use, and what was on its way when a process died. `reserved` is the upper bound of its requests in flight. The sum over
all accounts never exceeds the limit by more than one answer costs beyond its reservation.

A reservation names its process, by a lock file that the system frees when the process ends. What that process had sent
by then stands in a file of its own (`in_flight.py`) and is booked; the rest of its reservation is free again.
Reservations of batches do not expire: the provider goes on with them.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ValidationError

from polyculture.cache.errors import StoreError
from polyculture.cache.files import ABANDONED, replacing, store_faults
from polyculture.cache.identity import content_id
from polyculture.cache.in_flight import InFlightFile, InFlightSpend

_ROUNDING = 1e-9  # rounding errors of sums of floats are smaller


class Account(BaseModel):
    """One stage's work on one job."""

    spent: float = 0.0
    lost: float = 0.0  # of `spent`: booked, and in no row
    reserved: float = 0.0
    batch: bool = False  # the reservation outlives its holder
    holder: str | None = None
    turn: int | None = None  # counts the bookings; None: of a version that had no flights
    tariff: str | None = None  # the prices at which it was booked

    def count(self, rows: float, tariff: str | None) -> None:
        """Compares with what the rows on disk cost. They may have been bought without a ledger, or be gone."""
        repriced = tariff is not None and self.tariff not in (None, tariff)
        self.spent = rows + self.lost if repriced else max(self.spent, rows + self.lost)
        self.lost, self.tariff = self.spent - rows, tariff or self.tariff

    def reclaim_from_dead_process(self, left: InFlightSpend | None) -> None:
        """Books what a dead process had sent; frees the rest of its reservation."""
        if self.turn is not None and self.holder is not None:
            # Without its file nobody knows what was sent: at most all that was reserved.
            spent = self.reserved if left is None else left.spent if left.turn == self.turn else 0.0
            sent = 0.0 if left is None or self.batch else left.reserved
            self.spent, self.reserved = self.spent + spent + sent, max(0.0, self.reserved - spent)
        self.holder = None
        self.reserved = self.reserved if self.batch else 0.0


class ModelState(BaseModel):
    """What is known of how a model's server counts."""

    counted: bool = False  # an answer came with its tokens
    asking: str | None = None  # who has the one request until then
    dearest: float = 0.0  # of the answers that cost more than was reserved for them


class _Book(BaseModel):
    accounts: dict[str, Account] = {}
    models: dict[str, ModelState] = {}

    @property
    def committed(self) -> float:
        return sum(account.spent + account.reserved for account in self.accounts.values())


class Ledger:
    """The ledger in `folder`, with its limit. Safe for many threads, processes and machines over one file system."""

    def __init__(self, folder: Path, limit: float, tariff: str | None = None) -> None:
        self.limit, self._tariff = limit, tariff
        self._file, self._folder = folder / "ledger.json", folder
        self._me = secrets.token_hex(8)
        self._counts: dict[str, Callable[[], float]] = {}
        self._flights: dict[str, InFlightFile] = {}
        self._turns: dict[str, int] = {}
        self._dearest: dict[str, float] = {}
        with store_faults(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._sweep()
            self._alive = FileLock(self._holder_file(self._me))
            self._alive.acquire()

    def close(self) -> None:
        """Releases the reservations of this process."""
        with self._book() as book:
            for name, account in book.accounts.items():
                if account.holder == self._me:
                    account.reclaim_from_dead_process(self._left(name, account))
            for model in book.models.values():
                model.asking = None if model.asking == self._me else model.asking
        for flight in self._flights.values():
            flight.close()
        self._alive.release()
        self._holder_file(self._me).unlink(missing_ok=True)

    def refresh(self, spent: Mapping[str, Callable[[], float]]) -> None:
        """Compares accounts that no process works on now with what their rows cost, by `spent` per account."""
        self._counts.update(spent)
        with self._book() as book:
            for name, count in spent.items():
                account = book.accounts.setdefault(name, Account())
                if self._is_dead(account.holder):
                    self._bury(name, account)
                    account.count(count(), self._tariff)
        self._sweep_flights()

    def begin(self, name: str, rows: float, *, batch: bool) -> float:
        """Opens an account whose rows have cost `rows`; returns how much is reserved for it already."""
        if name not in self._flights:
            with store_faults(self._folder):
                self._flights[name] = InFlightFile(self._flight_file(self._me, name))
        with self._book() as book:
            account = book.accounts.setdefault(name, Account())
            self._bury(name, account)
            account.count(rows, self._tariff)
            account.reserved = account.reserved if batch else 0.0
            account.batch, account.holder, account.turn = batch, self._me, (account.turn or 0) + 1
            kept, turn = account.reserved, account.turn
        self._turns[name] = turn
        self.on_the_way(name, 0.0, 0.0)
        return kept

    def on_the_way(self, name: str, spent: float, reserved: float) -> None:
        """Writes down what is spent and not booked, and what is reserved for requests that are sent."""
        self._flights[name].write(InFlightSpend(self._turns[name], spent, reserved))

    def reserve(self, name: str, spent: float, least: float, most: float) -> float:
        """Books `spent` out of the reservation, and adds to it `most`, or what there is if that is `least`, or 0."""
        with self._book() as book:
            account = self._booked(book, name, spent)
            account.reserved = max(0.0, account.reserved - spent)
            room = self.limit - book.committed
            granted = most if room >= most else room if room >= least - _ROUNDING else 0.0
            granted = max(0.0, granted)
            account.reserved += granted
            turn = account.turn or 0
        self._turns[name] = turn
        return granted

    def settle(self, name: str, spent: float, outstanding: float = 0.0) -> None:
        """Books `spent`, and releases the reservation except for what is `outstanding`."""
        with self._book() as book:
            account = self._booked(book, name, spent)
            account.reserved = outstanding
            turn = account.turn or 0
        self._turns[name] = turn

    def may_ask_first(self, model: str) -> bool:
        """Whether a model may be asked: its server has counted an answer, or nobody else waits for the first count."""
        with self._book() as book:
            state = book.models.setdefault(model, ModelState())
            if state.counted:
                return True
            if state.asking != self._me and not self._is_dead(state.asking):
                return False
            state.asking = self._me
            return True

    def counted(self, model: str, beyond: float = 0.0) -> None:
        """Notes that a model's server counts; `beyond`: the cost of an answer that passed its reservation."""
        with self._book() as book:
            state = book.models.setdefault(model, ModelState())
            state.counted, state.asking = True, None
            state.dearest = max(state.dearest, beyond)

    def let_others_ask(self, model: str) -> None:
        """Hands on the turn of `may_ask_first`."""
        with self._book() as book:
            state = book.models.get(model)
            if state is not None and state.asking == self._me:
                state.asking = None

    def dearest(self, model: str) -> float:
        """The most that an answer of a model has cost beyond its reservation, as of the last look into the ledger."""
        return self._dearest.get(model, 0.0)

    def spent(self) -> float:
        """The booked spending of the whole run."""
        with self._book() as book:
            return sum(account.spent for account in book.accounts.values())

    def reserved_by_others(self, name: str) -> dict[str, float]:
        """What other accounts have reserved and may still release. Reservations of ended processes are removed."""
        with self._book() as book:
            others = {}
            for other, account in book.accounts.items():
                if other == name or account.reserved <= _ROUNDING:
                    continue
                if self._is_dead(account.holder):
                    self._bury(other, account)
                    if other in self._counts:
                        account.count(self._counts[other](), self._tariff)
                else:
                    others[other] = account.reserved
            return others

    @contextmanager
    def _book(self) -> Iterator[_Book]:
        with store_faults(self._file), FileLock(self._folder / ".lock"):
            book = self._read()
            before = book.model_dump_json()
            yield book
            after = book.model_dump_json()
            if after != before:
                with replacing(self._file) as temporary:
                    temporary.write_text(after, encoding="utf-8")
            self._dearest = {name: state.dearest for name, state in book.models.items()}

    def _read(self) -> _Book:
        if not self._file.exists():
            return _Book()
        try:
            return _Book.model_validate_json(self._file.read_bytes())
        except ValidationError as fault:
            remedy = "Remove it: what was spent is then counted from the rows, without answers of no use."
            raise StoreError("is no ledger", where=self._file, remedy=remedy) from fault

    def _booked(self, book: _Book, name: str, spent: float) -> Account:
        account = book.accounts[name]
        account.spent, account.turn = account.spent + spent, (account.turn or 0) + 1
        return account

    def _bury(self, name: str, account: Account) -> None:
        """An account without a living process, or one that this process opens again."""
        account.reclaim_from_dead_process(self._left(name, account))

    def _left(self, name: str, account: Account) -> InFlightSpend | None:
        return None if account.holder is None else InFlightSpend.read(self._flight_file(account.holder, name))

    def _sweep_flights(self) -> None:
        """Removes files of dead processes that no account names any more."""
        with self._book() as book:
            held = {account.holder for account in book.accounts.values()}
            for file in self._folder.glob(".flight-*"):
                holder = file.name.split("-")[1]
                if holder not in held and holder != self._me and self._is_dead(holder):
                    file.unlink(missing_ok=True)

    def _holder_file(self, holder: str) -> Path:
        return self._folder / f".holder-{holder}"

    def _sweep(self) -> None:
        """Removes the lock files of processes that were killed, unless they are so new that one may just be locking."""
        for file in self._folder.glob(f"{self._holder_file('').name}*"):
            with suppress(OSError):  # another process removes it, too
                if time.time() - file.stat().st_mtime > ABANDONED:
                    self._is_dead(file.name.removeprefix(self._holder_file("").name))

    def _flight_file(self, holder: str, name: str) -> Path:
        return self._folder / f".flight-{holder}-{content_id(name)[:16]}"

    def _is_dead(self, holder: str | None) -> bool:
        if holder is None or holder == self._me:
            return holder is None
        file = self._holder_file(holder)
        if not file.exists():
            return True
        try:
            with FileLock(file, timeout=0):
                pass
        except Timeout:
            return False
        file.unlink(missing_ok=True)
        return True
