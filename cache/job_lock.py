"""The lock of a job: one process at a time, on one machine or on many that share a file system.

A job is locked twice. The kernel's lock ends with the process that holds it, but network file systems may not support
it, or only within one machine. The lease is a file that its holder touches every few seconds. It works on any file
system, and expires `LEASE` seconds after the last touch, by the clock of the process that waits.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, SoftFileLease, Timeout

from polyculture.cache.errors import JobHeldError, StoreError

LEASE = 30.0  # seconds without a heartbeat after which a lease expires
BEAT = 5.0  # seconds between two heartbeats
SIGNED_WITHIN = 1.0  # seconds that a process takes at most, from locking a folder to its lease

_NO_KERNEL_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK})


class JobLock:
    """An exclusive lock on a folder, from `acquire` to `release`; messages call it `name`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._name, self._holder, self._marker = name, folder / ".holder", folder / ".lease"
        self._kernel = FileLock(folder / ".lock", timeout=0, fallback_to_soft=False)
        self._lease = SoftFileLease(self._marker, lease_duration=LEASE, heartbeat_interval=BEAT, thread_local=False)
        self._checked = 0.0  # when we last verified that the lease is ours, monotonic clock

    def acquire(self) -> None:
        """Locks the folder. Waits at most for one heartbeat of a holder on another machine.

        Raises `JobHeldError`, naming the holder and since when, and `OSError` where the folder cannot be written.
        """
        self._take_kernel_lock()
        try:
            self._remove_unwritten_lease()
            self._take_lease()
            self._checked = time.monotonic()
            self._holder.write_text(_signature(), encoding="utf-8")
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Unlocks the folder; does nothing where this process does not hold the lock."""
        self._lease.release(force=True)
        self._kernel.release(force=True)

    def check(self) -> None:
        """Raises `JobHeldError` where this process was suspended for so long that another one took over, and
        `StoreError` where the folder is no longer there.

        Cheap enough to be called before every write: it reads the lease only after a pause.
        """
        if not self._holder.exists():
            what = "was moved or removed while this process wrote to it"
            raise StoreError(what, where=self._holder.parent, remedy="Move it back, then run the same command again.")
        now = time.monotonic()
        if now - self._checked < BEAT:
            return
        self._checked = now
        owner = self._lease.owner
        if owner is None or owner.token != self._lease.token:
            raise JobHeldError(f"{self._name} was taken over by {self.holder()} while this process was suspended")

    def holder(self) -> str:
        """The process that holds the lock, or held it last.

        Between locking a folder and signing it, a process is known by its lease, and before that not at all: then this
        waits a moment. A signature is of another process than the lease where the former holder left it.
        """
        end = time.monotonic() + SIGNED_WITHIN
        while True:
            signature, owner = self._signature(), self._lease.owner
            process = f"process {owner.pid} on {owner.hostname}" if owner is not None else ""
            if signature and signature.startswith(process):
                return signature
            if process or time.monotonic() >= end:
                return process or signature or "another process"
            time.sleep(SIGNED_WITHIN / 20)

    def _signature(self) -> str:
        try:
            return self._holder.read_text(encoding="utf-8")
        except OSError:
            return ""

    def _take_kernel_lock(self) -> None:
        try:
            self._kernel.acquire()
        except Timeout:
            raise self._held() from None
        except OSError as fault:
            if fault.errno not in _NO_KERNEL_LOCKS:
                raise

    def _remove_unwritten_lease(self) -> None:
        """Removes an empty lease: filelock never takes one over, and a process that is killed between creating its
        lease and writing it leaves one. One on another machine may be between the two, but not for long."""
        end = time.monotonic() + SIGNED_WITHIN
        while _is_empty(self._marker):
            if time.monotonic() >= end:
                aside = self._marker.with_name(f".lease.{os.getpid()}.unwritten")
                with suppress(FileNotFoundError):  # another process was first
                    self._marker.rename(aside)
                    if _is_empty(aside):
                        aside.unlink()
                    else:  # it was written at this very moment
                        aside.rename(self._marker)
                return
            time.sleep(SIGNED_WITHIN / 20)

    def _take_lease(self) -> None:
        pulse = _Pulse(self._marker)
        try:
            self._lease.acquire(timeout=LEASE + 2 * BEAT, poll_interval=BEAT / 20, cancel_check=pulse.is_felt)
        except Timeout:
            raise self._held() from None

    def _held(self) -> JobHeldError:
        return JobHeldError(f"{self._name} is held by {self.holder()}; skipped")


class _Pulse:
    """Whether the holder of a lease is alive: its file was touched, or created, since we began to watch it."""

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


def _is_empty(file: Path) -> bool:
    try:
        return file.stat().st_size == 0
    except OSError:
        return False


def is_locked(folder: Path) -> bool:
    """Whether a process holds the lock of `folder` now, judged by its lease; takes no lock.

    A holder that died on another machine counts until its lease expires.
    """
    marker = folder / ".lease"
    try:
        silent = time.time() - marker.stat().st_mtime
    except OSError:
        return False
    owner = SoftFileLease(marker, lease_duration=LEASE).owner
    died_here = owner is not None and owner.hostname == socket.gethostname() and not _lives(owner.pid)
    return silent < LEASE and not died_here


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
