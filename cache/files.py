"""Files that are whole or absent, and folders of Polyculture's own: the cache, and those that it may remove."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from polyculture.cache.errors import JobHeldError, StoreError

ABANDONED = 3600.0  # seconds after which a temporary file is taken for abandoned
MARKER = ".polyculture"
_WORDS = "Polyculture made this folder and removes it with all that is in it.\n"
# What `replacing` writes to; and DuckDB's log of a database there.
_TEMPORARY = re.compile(r"\..+\.\d+-[0-9a-f]{8}\.tmp(?:\.wal)?")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Free space"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "Allow yourself to write there"),
}
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD; RENAME_EXCHANGE, which macOS calls RENAME_SWAP
_LOCK = ".lock"  # held as long as its process lives; a folder without one is not ours


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to; flushed to disk and renamed to `path` if the block succeeds."""
    # Processes of many machines may write to the same folder: their numbers alone do not keep them apart.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    with store_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield temporary
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def sweep(folder: Path, older: float = ABANDONED) -> None:
    """Removes temporary files of `replacing`, `older` than so many seconds, that killed processes left in `folder`.

    Only in a run's own folders: in a user's, a name alone does not say who made a file.
    """
    for temporary in folder.glob(".*.tmp*"):
        with suppress(OSError):  # another process removes it, too
            if _TEMPORARY.fullmatch(temporary.name) and time.time() - temporary.stat().st_mtime >= older:
                temporary.unlink()


def exchange(one: Path, other: Path) -> None:
    """Lets two folders of one file system change names in one step, so that neither name is ever without a folder.

    Where the system has no such call (Windows, some network file systems), `other` is renamed away and back: `one` is
    then without a folder for a moment.
    """
    if _exchanged(one, other):
        return
    aside = other.with_name(f"{other.name}.aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def _exchanged(one: Path, other: Path) -> bool:
    """Linux and macOS have the call in their C library, and Python has no name for it."""
    names = os.fsencode(one), os.fsencode(other)
    if os.name != "posix":
        return False
    import ctypes  # here: few commands exchange folders

    libc = ctypes.CDLL(None)
    if hasattr(libc, "renameat2"):
        return bool(libc.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE) == 0)
    if hasattr(libc, "renamex_np"):
        return bool(libc.renamex_np(*names, _EXCHANGE) == 0)
    return False


@contextmanager
def store_faults(path: Path) -> Iterator[None]:
    """Turns an operating-system fault of the block (full disk, no permission) into a `StoreError` about `path`."""
    try:
        yield
    except OSError as fault:
        reason = os.strerror(fault.errno) if fault.errno else str(fault)
        remedy = _REMEDIES.get(fault.errno or 0, "Choose another place")
        raise StoreError(
            f"cannot be written: {reason}",
            where=path,
            remedy=f"{remedy}, then run the same command again: it resumes.",
        ) from fault


def is_folder_name(text: str) -> bool:
    """Can `text` be a file's name anywhere: letters, digits, '-', '_' and '.', neither '.' nor '-' first?"""
    return _NAME.fullmatch(text) is not None


def claim_folder(folder: Path) -> None:
    """Makes `folder` ours: it is new, empty, or was ours before. Raises `StoreError` where it is somebody else's."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise _not_ours(folder)
    folder.mkdir(parents=True, exist_ok=True)
    there = {path.name for path in folder.iterdir()}
    if MARKER in there:
        return
    if there:
        raise _not_ours(folder)
    (folder / MARKER).write_text(_WORDS, encoding="utf-8")


def remove_folder(folder: Path) -> None:
    """Removes a folder that was claimed, with all that is in it. Raises `StoreError` for any other."""
    if folder.is_symlink() or not (folder / MARKER).is_file():
        raise _not_ours(folder)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MARKER:
            path.unlink()
    (folder / MARKER).unlink()  # last: whoever is killed before leaves a folder that is still ours
    folder.rmdir()


def sweep_claimed(parent: Path, name: str) -> None:
    """Removes claimed folders in `parent` that killed processes left: those whose names match the pattern `name`, and
    in which nothing was written for `ABANDONED` seconds."""
    for folder in parent.iterdir() if parent.is_dir() else ():
        with suppress(OSError, StoreError):  # another process removes it, too
            if not re.fullmatch(name, folder.name) or folder.is_symlink() or not (folder / MARKER).is_file():
                continue
            latest = max(path.lstat().st_mtime for path in (folder, *folder.rglob("*")))
            if time.time() - latest >= ABANDONED:
                remove_folder(folder)


@contextmanager
def arriving_folder(target: Path) -> Iterator[Path]:
    """A claimed folder of a hidden name beside `target`, to write in; it is removed with the block.

    What killed processes left beside the same target is removed, too.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    sweep_claimed(target.parent, rf"\.{re.escape(target.name)}\.\d+-[0-9a-f]{{8}}\.tmp")
    folder = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    claim_folder(folder)
    try:
        yield folder
    finally:
        if folder.exists():
            remove_folder(folder)


def _not_ours(folder: Path) -> StoreError:
    remedy = "Move it away, or choose another place; nothing in it was touched."
    return StoreError("is there, and Polyculture did not make it", where=folder, remedy=remedy)


@contextmanager
def scratch_folder(name: str) -> Iterator[Path]:
    """A new folder in the system's temporary folder, removed with the block.

    A folder of a process that was killed is removed by the next call with its `name`: a locked file in each says
    whether its process is alive.
    """
    from polyculture.cache.locks import Lock  # here, and below: most commands have no such folder

    prefix = f"polyculture-{name}-"
    sweep_scratch(Path(tempfile.gettempdir()), prefix)
    with ExitStack() as stack:
        while True:
            # Another process may be sweeping the folder, or looking at its lock, while it is removed here.
            made = tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(made))
            lock = Lock(folder / _LOCK, one_machine=True)
            with suppress(JobHeldError, FileNotFoundError):  # it was swept before it was locked
                lock.acquire()
                stack.callback(lock.release)
                if (folder / _LOCK).is_file():
                    break
        yield folder


def sweep_scratch(parent: Path, prefix: str) -> None:
    """Removes the folders of processes that have ended: of this user, with a lock file that nobody holds."""
    from polyculture.cache.locks import Lock

    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):  # another process removes it, too
            if folder.is_symlink() or folder.stat().st_uid != os.getuid() or not (folder / _LOCK).is_file():
                continue
            try:
                with Lock(folder / _LOCK, one_machine=True):  # until it is gone: who made it may be about to lock it
                    shutil.rmtree(folder, ignore_errors=True)
            except JobHeldError:
                continue


def cache_folder() -> Path:
    """`$POLYCULTURE_CACHE`, or `polyculture` in the user's cache folder (XDG base directory specification)."""
    chosen = os.environ.get("POLYCULTURE_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "polyculture"
