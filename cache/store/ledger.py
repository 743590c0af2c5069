"""The ledger of a run: what it spent, and a row for every request in flight, in one SQLite file of all its processes.

    ledger = Ledger(folder, limit=5.0)                               # without a limit, it only counts
    flight = ledger.reserve("generate openai:one ja food", 0.02)     # before a request is sent; None: it cannot be paid
    ledger.book(flight, 0.013, in_row=True)                          # when its bill is known, and a row will name it

The promise: the sum of what is spent and in flight, at its upper bound, never exceeds the limit, restarts and several
processes counted. So the bill passes it by no more than requests in flight cost beyond their bounds.

An account is the work of one stage on one job. A request in flight names its process, by a lock file that the system
frees when the process ends: then it is charged at its bound. In batches it is not: the provider goes on with them.
"""

from __future__ import annotations

import math
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from threading import RLock

from polyculture.cache.errors import StoreError
from polyculture.cache.files import ABANDONED, store_faults
from polyculture.cache.locks import Lock, is_locked

FOLDER = "ledger"  # in the run's
FILE = "ledger.sqlite"
_ROUNDING = 1e-9  # rounding errors of sums of floats are smaller
_WAIT = 60.0  # seconds for the file while other processes write
# `lost` is the part of `spent` that is in no row, and `unknown` the number of requests in that part whose bill nobody
# knows; `held` is what batches of an ended process have reserved.
_TABLES = """
CREATE TABLE IF NOT EXISTS accounts (
    name TEXT PRIMARY KEY, spent REAL DEFAULT 0, lost REAL DEFAULT 0, unknown INTEGER DEFAULT 0,
    held REAL DEFAULT 0, batch INTEGER DEFAULT 0, tariff TEXT
);
CREATE TABLE IF NOT EXISTS flights (id INTEGER PRIMARY KEY, account TEXT, holder TEXT, bound REAL);
"""


class Ledger:
    """The ledger in `folder`, with its limit. Safe for many threads, processes and machines over one file system."""

    def __init__(self, folder: Path, limit: float = math.inf, tariff: str | None = None) -> None:
        """`tariff` names the prices: what was booked under others is counted anew from the rows."""
        self.limit, self._tariff = limit, tariff
        self._folder, self._file = folder, folder / FILE
        self._me = secrets.token_hex(8)
        self._lock = RLock()
        with store_faults(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._sweep()
            self._alive = Lock(self._holder_file(self._me), "the ledger")
            self._alive.acquire()
        with self._faults():
            self._store = sqlite3.connect(self._file, timeout=_WAIT, isolation_level=None, check_same_thread=False)
            try:
                # A killed process leaves a whole file; a machine that loses power may not.
                self._store.execute("PRAGMA synchronous = OFF")
                self._store.executescript(_TABLES)
            except sqlite3.Error:
                self._store.close()
                raise

    def close(self) -> None:
        """Charges what this process has in flight."""
        with self._transaction():
            self._charge(self._me)
        self._store.close()
        self._alive.remove()

    def refresh(self, spent: Mapping[str, Callable[[], float]]) -> None:
        """Charges what dead processes had in flight; compares accounts without any with their rows, by `spent`."""
        with self._transaction():
            self._charge_the_dead()
            busy = {name for (name,) in self._store.execute("SELECT DISTINCT account FROM flights")}
            for name, count in spent.items():
                if name not in busy:
                    self._count(name, count())

    def begin(self, name: str, rows: float, *, batch: bool) -> None:
        """Opens an account whose rows have cost `rows`."""
        with self._transaction():
            self._charge_the_dead()
            self._charge(self._me, name)
            self._count(name, rows)
            # Whoever asks directly leaves no batch behind.
            self._store.execute(
                "UPDATE accounts SET batch = ?, held = CASE WHEN ? THEN held ELSE 0 END WHERE name = ?",
                (batch, batch, name),
            )

    def reserve(self, name: str, bound: float) -> int | None:
        """A request in flight that may cost `bound`; None where the limit has no room for it."""
        with self._transaction():
            [(held,)] = self._store.execute("SELECT held FROM accounts WHERE name = ?", (name,)).fetchall()
            if held >= bound - _ROUNDING:  # it was reserved before the restart
                self._store.execute("UPDATE accounts SET held = max(0, held - ?) WHERE name = ?", (bound, name))
            elif bound > 0 and self._committed() + bound > self.limit + _ROUNDING:
                return None
            row = (name, self._me, bound)
            return self._store.execute("INSERT INTO flights (account, holder, bound) VALUES (?, ?, ?)", row).lastrowid

    def book(self, flight: int, cost: float, *, in_row: bool = True) -> None:
        """A request has ended, and cost so much; `in_row`: a row of the store will have what it cost."""
        with self._transaction():
            self._store.execute(
                "UPDATE accounts SET spent = spent + ?, lost = lost + ?, unknown = unknown + ? "
                "WHERE name = (SELECT account FROM flights WHERE id = ?)",
                (cost, 0.0 if in_row else cost, not in_row, flight),
            )
            self._store.execute("DELETE FROM flights WHERE id = ?", (flight,))

    def leave(self, name: str) -> None:
        """Charges what this process has in flight for an account: whoever breaks off pays."""
        with self._transaction():
            self._charge(self._me, name)

    def has_room(self, bound: float) -> bool:
        """Whether a request that may cost `bound` can be paid now."""
        with self._transaction():
            return self._committed() + bound <= self.limit + _ROUNDING

    def spent(self) -> float:
        """What the whole run has spent."""
        return self._sum("spent")

    def lost(self) -> float:
        """The part of it that is in no row: what was in flight when a process ended, failures that may be billed, and
        rows that are gone."""
        return self._sum("lost")

    def unknown(self) -> int:
        """The number of requests in it whose bill nobody knows: each is counted at its most."""
        return int(self._sum("unknown"))

    def _sum(self, column: str) -> float:
        with self._transaction():
            [(found,)] = self._store.execute(f"SELECT coalesce(sum({column}), 0) FROM accounts").fetchall()  # noqa: S608
            return float(found)

    def in_flight_elsewhere(self, name: str) -> dict[str, float]:
        """What other accounts have in flight or held, and may still release."""
        with self._transaction():
            self._charge_the_dead()
            rows = self._store.execute(
                "SELECT name, held + coalesce((SELECT sum(bound) FROM flights WHERE account = name), 0) FROM accounts"
            )
            return {other: amount for other, amount in rows if other != name and amount > _ROUNDING}

    def _count(self, name: str, rows: float) -> None:
        """Compares an account with what its rows cost: they may have been bought without a ledger, or be gone."""
        self._store.execute("INSERT OR IGNORE INTO accounts (name) VALUES (?)", (name,))
        query = "SELECT spent, lost, tariff FROM accounts WHERE name = ?"
        [(spent, lost, tariff)] = self._store.execute(query, (name,)).fetchall()
        repriced = self._tariff is not None and tariff not in (None, self._tariff)
        spent = rows + lost if repriced else max(spent, rows + lost)
        self._store.execute(
            "UPDATE accounts SET spent = ?, lost = ?, tariff = ? WHERE name = ?",
            (spent, spent - rows, self._tariff or tariff, name),
        )

    def _committed(self) -> float:
        query = (
            "SELECT (SELECT coalesce(sum(spent + held), 0) FROM accounts)"
            " + (SELECT coalesce(sum(bound), 0) FROM flights)"
        )
        return float(self._store.execute(query).fetchone()[0])

    def _charge(self, holder: str, name: str | None = None) -> None:
        """Ends a process's requests in flight: as spent, or in batches as held."""
        query = (
            "SELECT account, sum(bound), count(*) FROM flights WHERE holder = ? AND account = coalesce(?, account) "
            "GROUP BY account"
        )
        for account, bound, number in self._store.execute(query, (holder, name)).fetchall():
            self._store.execute(
                "UPDATE accounts SET spent = spent + iif(batch, 0, ?), unknown = unknown + iif(batch, 0, ?), "
                "held = held + iif(batch, ?, 0) WHERE name = ?",
                (bound, number, bound, account),
            )
        self._store.execute("DELETE FROM flights WHERE holder = ? AND account = coalesce(?, account)", (holder, name))

    def _charge_the_dead(self) -> None:
        for (holder,) in self._store.execute("SELECT DISTINCT holder FROM flights").fetchall():
            if self._is_dead(holder):
                self._charge(holder)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Whole or not at all, and after those of all other threads and processes."""
        with self._lock, self._faults():
            self._store.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._store.execute("ROLLBACK")
                raise
            self._store.execute("COMMIT")

    def _faults(self) -> AbstractContextManager[None]:
        return _faults(self._file)

    def _holder_file(self, holder: str) -> Path:
        return _holder_file(self._folder, holder)

    def _sweep(self) -> None:
        """Removes the lock files of processes that were killed, unless they are so new that one may just be locking."""
        for file in self._folder.glob(".holder-*.lock"):
            with suppress(OSError):  # another process removes it, too
                if time.time() - file.stat().st_mtime > ABANDONED:
                    self._is_dead(file.name.removeprefix(".holder-").removesuffix(".lock"))

    def _is_dead(self, holder: str) -> bool:
        if holder == self._me:
            return False
        file = self._holder_file(holder)
        if is_locked(file):
            return False
        Lock(file).remove()
        return True


def charges(folder: Path) -> dict[str, tuple[float, int]]:
    """By account, what was charged for requests that are in no row: those that failed and may be billed, those that
    were in flight when a process ended, and rows that are gone; and the number of those whose bill nobody knows.

    Empty where a run has no ledger. Changes nothing.
    """
    file = folder / FILE
    if not file.exists():
        return {}
    address = f"{file.resolve().as_uri()}?mode=ro"
    with _faults(file), closing(sqlite3.connect(address, uri=True, timeout=_WAIT)) as store:
        accounts = store.execute("SELECT name, lost, unknown FROM accounts").fetchall()
        found = {name: (lost, unknown) for name, lost, unknown in accounts}
        flights = "SELECT account, holder, sum(bound), count(*) FROM flights JOIN accounts ON name = account"
        for account, holder, bound, number in store.execute(
            f"{flights} WHERE NOT batch GROUP BY account, holder"
        ).fetchall():
            if not is_locked(_holder_file(folder, holder)):
                lost, unknown = found[account]
                found[account] = lost + bound, unknown + number
    return {name: one for name, one in found.items() if one[0] > _ROUNDING}


def _holder_file(folder: Path, holder: str) -> Path:
    return folder / f".holder-{holder}.lock"


@contextmanager
def _faults(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as fault:  # a full disk, no permission, a lock that others keep
        remedy = "Free space or choose another place, then run the same command again: it resumes."
        raise StoreError(f"cannot be read or written: {fault}", where=file, remedy=remedy) from fault
    except sqlite3.DatabaseError as fault:
        remedy = "Remove it: what was spent is then counted from the rows, without answers of no use."
        raise StoreError("is no ledger", where=file, remedy=remedy) from fault
