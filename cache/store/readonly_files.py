"""The only files that a reader's SQL reaches: a run's Parquet, to read, and a temporary folder to spill into.

Read-only is a property of the connection here, not of the statement. What was tried on DuckDB 2.0.0:

- The parser alone does not hold: `COPY (PIVOT ...) TO` is of the type MULTI, as a PIVOT is, and
  `WITH x AS (COPY ... TO ...) FROM x` is of the type SELECT. Both write.
- A read-only database does not hold: it says nothing of other files. `allowed_directories` allows writing, too, so
  the run's folder must not be among them.
- A read-only file system in Python, registered with the connection, holds. Views read Parquet lazily, so they name
  their files by its addresses (`run:///...`); DuckDB's own file system is left with one temporary folder, which holds
  none of the run's files. Measured on a small store, a query took as long as before.
- `disabled_filesystems = 'LocalFileSystem'` beside it holds, too, but then DuckDB cannot spill: it ends with a
  permission error, and to a second file system in Python it writes blocks that it does not find again.
- A thread or process that the kernel keeps from writing (Landlock) was not taken: it is for Linux alone, and must
  leave the same temporary folder open.
"""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import duckdb
from fsspec import AbstractFileSystem

RUN = "run"


def run_address(path: Path) -> str:
    """How a view names a file of the run, or its folder: by the read-only file system. `path` begins with the run's
    folder as it is when all links in it are followed."""
    return f"{RUN}://{path}"


def register_run_files(connection: duckdb.DuckDBPyConnection, root: Path) -> None:
    """Lets a connection read the Parquet files below `root` by their addresses (`run_address`)."""
    connection.register_filesystem(RunFiles(root.resolve()))


def confine(connection: duckdb.DuckDBPyConnection, root: Path, spill: Path) -> None:
    """Takes every file from a connection but the Parquet files of a run, to read, and the folder `spill`.

    It holds for good once the configuration is locked.
    """
    register_run_files(connection, root)
    connection.execute("SET temp_directory = $spill", {"spill": str(spill.resolve())})
    # They end in a slash: `/run` does not stand for `/run-2`.
    folders = [f"{run_address(root.resolve())}/", f"{spill.resolve()}/"]
    connection.execute("SET allowed_directories = $folders", {"folders": folders})
    connection.execute("SET enable_external_access = false")


class RunFiles(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """The Parquet files of a run, to read. Every other path is one that is not there."""

    protocol: ClassVar[str] = RUN
    cachable: ClassVar[bool] = False  # fsspec keeps one instance for equal arguments

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root

    def info(self, path: str, **_options: Any) -> dict[str, Any]:
        found = self._inside(path)
        return {"name": str(found), "size": found.stat().st_size, "type": "file"}

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(self._inside(path).stat().st_mtime, tz=UTC)

    def exists(self, path: str, **_options: Any) -> bool:
        try:
            return self._inside(path).is_file()
        except OSError:
            return False

    def isfile(self, path: str) -> bool:
        return self.exists(path)

    def isdir(self, path: str) -> bool:  # noqa: ARG002  a run's folders are not shown
        return False

    def glob(self, path: str, **_options: Any) -> list[str]:
        """The path itself, where it is there: patterns are not expanded."""
        return [str(self._inside(path))] if self.exists(path) else []

    def _open(self, path: str, mode: str = "rb", **_options: Any) -> _OpenFile:
        if mode != "rb":
            raise PermissionError(f"{path} is read-only")
        return _OpenFile(self._inside(path))

    def _inside(self, path: str) -> Path:
        found = Path(str(self._strip_protocol(path))).resolve()
        if found.suffix != ".parquet" or not found.is_relative_to(self._root):
            raise FileNotFoundError(path)
        return found


class _OpenFile:
    """A file to read, with a position per thread: DuckDB's threads seek before they read, and may share a file."""

    def __init__(self, path: Path) -> None:
        self._descriptor = -1
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._at: dict[int, int] = {}

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        size = os.fstat(self._descriptor).st_size
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self.tell(), os.SEEK_END: size}[whence]
        self._at[threading.get_ident()] = start + offset
        return start + offset

    def tell(self) -> int:
        return self._at.get(threading.get_ident(), 0)

    def read(self, size: int = -1) -> bytes:
        wanted = size if size >= 0 else max(0, os.fstat(self._descriptor).st_size - self.tell())
        found = os.pread(self._descriptor, wanted, self.tell())  # other threads run meanwhile
        while 0 < len(found) < wanted and (
            more := os.pread(self._descriptor, wanted - len(found), self.tell() + len(found))
        ):
            found += more
        self.seek(len(found), os.SEEK_CUR)
        return found

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.close()
