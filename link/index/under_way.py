"""The folder beside a snapshot with what it is made of, until the snapshot is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from polyculture.cache.errors import JobHeldError
from polyculture.cache.files import claim_folder, remove_folder, store_faults

_WRITTEN = "written"


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Makes the folder, and locks it for this process.

    Raises `JobHeldError` where another process has it, and `StoreError` where it cannot be made.
    """
    with store_faults(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        claim_folder(folder)
    try:
        with FileLock(folder / ".lock", timeout=0):
            (folder / _WRITTEN).unlink(missing_ok=True)  # what is made from here on is another file
            yield
    except Timeout:
        raise JobHeldError(f"{folder}: another process is making this snapshot") from None


def building_folder(out: Path) -> Path:
    """Where the rows of a dump for the snapshot `out` stand until it is written."""
    return out.with_name(f"{out.name}.building")


def answers_folder(out: Path) -> Path:
    """Where answers for the snapshot `out` stand until it is written."""
    return out.with_name(f"{out.name}.asked")


def note_written(folder: Path, file: Path) -> None:
    """Notes in the folder which file is about to be moved into the snapshot's place."""
    (folder / _WRITTEN).write_text(_stamp(file), encoding="utf-8")


def tidied_after_kill(out: Path) -> bool:
    """Whether `out` was made of a folder beside it, whose process was killed once it was there; removes the folder.

    Raises `JobHeldError` where another process has the folder.
    """
    for folder in (building_folder(out), answers_folder(out)):
        note = folder / _WRITTEN
        if out.is_file() and note.is_file() and note.read_text(encoding="utf-8") == _stamp(out):
            with locked_folder(folder):
                remove_folder(folder)
            return True
    return False


def _stamp(file: Path) -> str:
    found = file.stat()  # neither changes when the file is moved
    return f"{found.st_size} {found.st_mtime_ns}"
