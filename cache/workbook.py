"""Reads the sheets of a workbook in a process of its own, which ends where it takes too much memory or time.

A reader of workbooks gives each cell its own copy of a text that many share: a file of 114 KB took 12.9 GB, and the
process that read it was aborted. So another process reads it, watched from outside, and sends the rows.

`python -m polyculture.cache.workbook` is that process: a workbook on standard input, pickled sheets on standard output.
"""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from polyculture.cache.errors import DataSetError
from polyculture.cache.guard import watching

SECONDS = 300.0
MOST = 4 * 2**30  # bytes of memory, where more is free
_MOST_SENT = 2**30  # bytes of all rows
_ROWS = 1_000  # sent at a time
_REMEDY = "Save its sheets as CSV UTF-8."


@dataclass(frozen=True, slots=True)
class WorkSheet:
    """A sheet: its rows and cells from A1, empty ones included, and the corners of its merged cells, from 0.

    The first `left` columns are empty; `width` others are not.
    """

    name: str
    is_hidden: bool
    left: int
    width: int
    merged: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    rows: list[list[Any]]


def read_sheets(path: Path, content: bytes) -> list[WorkSheet]:
    """The sheets of the workbook `path`, whose bytes are `content`.

    Raises `DataSetError` where it cannot be read, or takes more than it may.
    """
    from polyculture.cache.database import most_memory  # DuckDB, which the process that reads does without

    command = [sys.executable, "-P", "-m", "polyculture.cache.workbook"]
    memory = min(MOST, most_memory())
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process,  # noqa: S603
        watching(process.pid, SECONDS, memory) as watch,
    ):
        to, back = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        try:
            to.write(content)
            to.close()
            sheets, fault = _received(back)
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):
            sheets, fault = [], ""
        except BaseException:
            process.kill()
            raise
        if fault is None:
            return sheets
        process.kill()
        process.wait()
    if fault:
        raise DataSetError(f"cannot be read as a workbook: {fault}", where=path, remedy="Save or fetch it again.")
    limit = f"{SECONDS:g} seconds" if watch.over == "time" else f"{memory / 2**30:.1f} GiB of memory"
    raise DataSetError(f"takes more than {limit} to read: its cells repeat long texts, or lie far apart", where=path,
                       remedy=_REMEDY)  # fmt: skip


def _received(stream: IO[bytes]) -> tuple[list[WorkSheet], str | None]:
    """The sheets that the other process sends, and what it says is wrong; "" where it sends too much."""
    sheets: list[WorkSheet] = []
    sent = 0
    while True:
        size = int.from_bytes(stream.read(8), "little")
        sent += size
        if sent > _MOST_SENT:
            return [], ""
        told = pickle.loads(stream.read(size))  # noqa: S301, of our own process
        if isinstance(told, WorkSheet):
            sheets.append(told)
        elif isinstance(told, list):
            sheets[-1].rows.extend(told)
        else:
            return sheets, told


def _messages(content: bytes) -> Iterator[WorkSheet | list[list[Any]] | str | None]:
    """Each sheet, its rows behind it; at last what is wrong, or None."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(content)) as book:
            hidden = {one.name for one in book.sheets_metadata if not str(one.visible).endswith(".Visible")}
            for name in book.sheet_names:
                sheet = book.get_sheet_by_name(name)
                merged, left = tuple(sheet.merged_cell_ranges or ()), (sheet.start or (0, 0))[1]
                yield WorkSheet(name, name in hidden, left, sheet.width, merged, [])
                rows = sheet.to_python(skip_empty_area=False)
                for start in range(0, len(rows), _ROWS):
                    yield rows[start : start + _ROWS]
        yield None
    except (CalamineError, OSError, RuntimeError) as fault:
        yield str(fault) or type(fault).__name__


def main() -> None:
    """The process that reads."""
    for message in _messages(sys.stdin.buffer.read()):
        data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
        sys.stdout.buffer.write(len(data).to_bytes(8, "little") + data)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    from polyculture.cache import workbook  # under its own name: as `__main__` its classes would be others

    workbook.main()
