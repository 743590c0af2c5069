"""The folder beside a snapshot with what it is made of, until the snapshot is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from polyculture.cache.errors import JobHeldError, WikidataError
from polyculture.cache.files import claim_folder, remove_folder, store_faults


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
            yield
    except Timeout:
        raise JobHeldError(f"{folder}: another process is making this snapshot") from None


def answers_folder(out: Path) -> Path:
    """Where answers for the snapshot `out` stand until it is written."""
    return out.with_name(f"{out.name}.asked")


@contextmanager
def answers_beside(out: Path, pattern: str) -> Iterator[Path]:
    """The locked folder of the answers; one in which no file of `pattern` came to be is removed."""
    folder = answers_folder(out)
    with locked_folder(folder):
        try:
            yield folder
        except WikidataError:
            if not any(folder.glob(pattern)):
                remove_folder(folder)  # nothing was answered
            raise
