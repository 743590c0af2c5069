"""Who works on a job: one process at a time, on one machine or on many over one file system.

A job is held twice. The kernel's lock is exact where it works: it falls with the process that holds it, but file
systems of networks may not have it, or keep it to one machine. The lease is a file that its holder touches every few
seconds: it holds on any file system, and when its holder's machine is lost it ends `LEASE` seconds after the last
touch, by the clock of whoever waits.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, LeaseSettingsMismatch, SoftFileLease, Timeout

from polyculture.cache.errors import JobHeldError

LEASE = 30.0  # seconds after which a holder that gives no sign of life is taken for dead
BEAT = 5.0  # seconds between two signs of life

_NO_KERNEL_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK})


class JobLock:
    """A folder that this process alone works in, between `acquire` and `release`; `name` is what it is called."""

    def __init__(self, folder: Path, name: str) -> None:
        self._name, self._holder, self._marker = name, folder / ".holder", folder / ".lease"
        self._kernel = FileLock(folder / ".lock", timeout=0, fallback_to_soft=False)
        self._lease = self._new_lease(LEASE)
        self._checked = 0.0  # when the lease was last seen to be ours, by the monotonic clock

    def acquire(self) -> None:
        """Takes the folder. Waits at most for one sign of life of a holder on another machine.

        Raises `JobHeldError`, with who holds it since when, and `OSError` where the folder cannot be written.
        """
        self._take_kernel_lock()
        try:
            self._take_lease()
            self._checked = time.monotonic()
            self._holder.write_text(_signature(), encoding="utf-8")
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Gives the folder back; what is not held is left as it is."""
        self._lease.release(force=True)
        self._kernel.release(force=True)

    def check(self) -> None:
        """Raises `JobHeldError` where this process stood still for so long that another one took over.

        Cheap enough for every write; whoever wakes from a standstill looks at the lease before it writes.
        """
        now = time.monotonic()
        if now - self._checked < BEAT:
            return
        self._checked = now
        owner = self._lease.owner
        if owner is None or owner.token != self._lease.token:
            raise JobHeldError(f"{self._name} was taken over by {self.holder()} while this process stood still")

    def holder(self) -> str:
        """Who holds the folder, or held it last."""
        try:
            return self._holder.read_text(encoding="utf-8") or "another process"
        except OSError:
            return "another process"

    def _take_kernel_lock(self) -> None:
        try:
            self._kernel.acquire()
        except Timeout:
            raise self._held() from None
        except OSError as fault:
            if fault.errno not in _NO_KERNEL_LOCKS:
                raise

    def _take_lease(self) -> None:
        try:
            self._wait_for_lease()
        except LeaseSettingsMismatch:  # left by a version with another `LEASE`, which its holder relies on
            self._lease = self._new_lease(_duration(self._marker))
            self._wait_for_lease()

    def _wait_for_lease(self) -> None:
        pulse, patience = _Pulse(self._marker), self._lease.lease_duration + 2 * BEAT
        try:
            self._lease.acquire(timeout=patience, poll_interval=BEAT / 20, cancel_check=pulse.is_felt)
        except Timeout:
            raise self._held() from None

    def _new_lease(self, duration: float) -> SoftFileLease:
        beat = min(BEAT, duration / 3)
        return SoftFileLease(self._marker, lease_duration=duration, heartbeat_interval=beat, thread_local=False)

    def _held(self) -> JobHeldError:
        return JobHeldError(f"{self._name} is held by {self.holder()}; it is left to it")


class _Pulse:
    """Whether the holder of a lease lives: its file was touched, or came into being, since we look at it."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker
        self._seen = self._now()

    def is_felt(self) -> bool:
        now = self._now()
        return now is not None and now != self._seen

    def _now(self) -> tuple[int, int] | None:
        try:
            found = self._marker.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns


def is_locked(folder: Path) -> bool:
    """Whether some process works in `folder` now, as its lease tells; takes nothing, so that nobody is kept from it.

    A holder that died on another machine counts until its lease ends.
    """
    marker = folder / ".lease"
    try:
        silent = time.time() - marker.stat().st_mtime
    except OSError:
        return False
    owner = SoftFileLease(marker, lease_duration=LEASE).owner
    died_here = owner is not None and owner.hostname == socket.gethostname() and not _lives(owner.pid)
    return silent < _duration(marker) and not died_here


def _duration(marker: Path) -> float:
    """How long the lease on disk holds without a sign of life: `LEASE`, unless another version wrote it."""
    owner = SoftFileLease(marker, lease_duration=LEASE).owner
    return owner.lease_duration or LEASE if owner is not None else LEASE


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _signature() -> str:
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"process {os.getpid()} on {socket.gethostname()} since {since}"
