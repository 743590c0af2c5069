"""Locks between processes, on one machine or on many that share a file system: of a job, an import, a run's report, ...

Each is locked twice. The kernel's lock ends with the process that holds it, but network file systems may not support
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
from types import TracebackType
from typing import Self

from filelock import FileLock, SoftFileLease, Timeout

from polyculture.cache.errors import JobHeldError, StoreError

LEASE = 30.0  # seconds without a heartbeat after which a lease expires
BEAT = 5.0  # seconds between two heartbeats
SIGNED_WITHIN = 1.0  # seconds that a process takes at most, from locking a folder to its lease

_NO_KERNEL_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK})


class Lock:
    """An exclusive lock, from `acquire` to `release` or for a block; messages call it `name`.

    `path` ends in `.lock`; beside it stand its `.lease`, and its `.holder`, who signs there. With `wait` a block waits
    until the lock is free. What no other machine sees (`one_machine`) has no lease where the kernel can lock.
    """

    def __init__(self, path: Path, name: str = "", *, wait: bool = False, one_machine: bool = False) -> None:
        stem = path.name.removesuffix("lock")
        self._name, self._wait, self._one_machine = name or str(path), wait, one_machine
        self._holder, self._marker = path.with_name(f"{stem}holder"), path.with_name(f"{stem}lease")
        self._kernel = FileLock(path, timeout=0, fallback_to_soft=False)
        self._lease = SoftFileLease(self._marker, lease_duration=LEASE, heartbeat_interval=BEAT, thread_local=False)
        self._checked = 0.0  # when we last verified that the lease is ours, monotonic clock

    def __enter__(self) -> Self:
        self.acquire(wait=self._wait)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self, *, wait: bool = False) -> None:
        """Takes the lock. Waits at most for one heartbeat of a holder on another machine, or with `wait` as long as
        another process has it.

        Raises `JobHeldError`, naming the holder and since when, and `OSError` where the folder cannot be written.
        """
        if self._take_kernel_lock(wait) and self._one_machine:
            return
        try:
            self._remove_unwritten_lease()
            self._take_lease(wait)
            self._checked = time.monotonic()
            self._holder.write_text(_signature(), encoding="utf-8")
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Lets the lock go; does nothing where this process does not hold the lock."""
        self._lease.release(force=True)
        self._kernel.release(force=True)

    def remove(self) -> None:
        """Lets the lock go for good, and removes its files: nobody else may wait for it."""
        self.release()
        for file in (self._marker, self._holder, Path(self._kernel.lock_file)):
            file.unlink(missing_ok=True)

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

    def _take_kernel_lock(self, wait: bool) -> bool:
        """Whether the file system can lock files."""
        try:
            self._kernel.acquire(timeout=-1 if wait else 0)
        except Timeout:
            raise self._held() from None
        except OSError as fault:
            if fault.errno not in _NO_KERNEL_LOCKS:
                raise
            return False
        return True

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

    def _take_lease(self, wait: bool) -> None:
        pulse = _Pulse(self._marker)
        try:
            if wait:
                self._lease.acquire(timeout=-1, poll_interval=BEAT / 20)
            else:
                self._lease.acquire(timeout=LEASE + 2 * BEAT, poll_interval=BEAT / 20, cancel_check=pulse.is_felt)
        except Timeout:
            raise self._held() from None

    def _held(self) -> JobHeldError:
        return JobHeldError(f"{self._name} is held by {self.holder()}")


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


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of this `path` now, judged by its lease; takes no lock.

    A holder that died on another machine counts until its lease expires.
    """
    marker = path.with_name(f"{path.name.removesuffix('lock')}lease")
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
