"""The ledger of a run: spent and reserved money in one small file, which all processes update under a lock.

An account is the work of one stage on one job. `spent` is the cost of its rows on disk, `reserved` the upper bound of
its requests in flight. The sum over all accounts never exceeds the limit. A reservation names its process, by a lock
file that the system frees when the process ends, and expires with it. Reservations of batches do not expire: the
provider goes on with them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel

from polyculture.cache.files import replacing, store_faults

_ROUNDING = 1e-9  # rounding errors of sums of floats are smaller


class Account(BaseModel):
    """One stage's work on one job."""

    spent: float = 0.0
    reserved: float = 0.0
    batch: bool = False  # the reservation outlives its holder
    holder: str | None = None


class _Book(BaseModel):
    accounts: dict[str, Account] = {}

    @property
    def committed(self) -> float:
        return sum(account.spent + account.reserved for account in self.accounts.values())


class Ledger:
    """The ledger in `folder`, with its limit. Safe for many threads, processes and machines over one file system."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.limit = limit
        self._file, self._folder = folder / "ledger.json", folder
        self._me = secrets.token_hex(8)
        self._counts: dict[str, Callable[[], float]] = {}
        with store_faults(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._alive = FileLock(self._holder_file(self._me))
            self._alive.acquire()

    def close(self) -> None:
        """Releases the reservations of this process."""
        with self._book() as book:
            for account in book.accounts.values():
                if account.holder == self._me:
                    _bury(account, account.spent)
        self._alive.release()
        self._holder_file(self._me).unlink(missing_ok=True)

    def refresh(self, spent: Mapping[str, Callable[[], float]]) -> None:
        """Sets the spending of accounts that no process works on now, by `spent` per account."""
        self._counts.update(spent)
        with self._book() as book:
            for name, count in spent.items():
                account = book.accounts.setdefault(name, Account())
                if self._is_dead(account.holder):
                    _bury(account, count())

    def begin(self, name: str, spent: float, *, batch: bool) -> float:
        """Opens an account whose rows have cost `spent`; returns how much is reserved for it already."""
        with self._book() as book:
            before = book.accounts.get(name, Account())
            kept = before.reserved if before.batch and batch else 0.0
            book.accounts[name] = Account(spent=spent, reserved=kept, batch=batch, holder=self._me)
            return kept

    def reserve(self, name: str, spent: float, least: float, most: float) -> float:
        """Books `spent` out of the reservation, and adds to it `most`, or what there is if that is `least`, or 0."""
        with self._book() as book:
            account = book.accounts[name]
            account.spent, account.reserved = account.spent + spent, account.reserved - spent
            room = self.limit - book.committed
            granted = most if room >= most else room if room >= least - _ROUNDING else 0.0
            account.reserved += granted
            return granted

    def settle(self, name: str, spent: float, outstanding: float = 0.0) -> None:
        """Books `spent`, and releases the reservation except for what is `outstanding`."""
        with self._book() as book:
            account = book.accounts[name]
            account.spent, account.reserved = account.spent + spent, outstanding

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
                    _bury(account, self._counts[other]() if other in self._counts else account.spent)
                else:
                    others[other] = account.reserved
            return others

    @contextmanager
    def _book(self) -> Iterator[_Book]:
        with store_faults(self._file), FileLock(self._folder / ".lock"):
            book = _Book.model_validate_json(self._file.read_bytes()) if self._file.exists() else _Book()
            before = book.model_dump_json()
            yield book
            after = book.model_dump_json()
            if after != before:
                with replacing(self._file) as temporary:
                    temporary.write_text(after, encoding="utf-8")

    def _holder_file(self, holder: str) -> Path:
        return self._folder / f".holder-{holder}"

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


def _bury(account: Account, spent: float) -> None:
    """An account without a living process."""
    account.spent, account.holder = spent, None
    account.reserved = account.reserved if account.batch else 0.0
