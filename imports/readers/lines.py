"""JSON Lines: one object a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from polyculture.cache.errors import UserError
from polyculture.cache.sanitize import parse
from polyculture.imports.record import LONGEST_LINE, BadRow, Reader, Record, Rows, shown

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_lines(path: Path, _inputs: Path | None = None) -> Rows:
    """The objects of a file, line by line, in constant memory. Raises `UserError` where it is in UTF-16."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if number == 1:
                _refuse_utf16(line, path)
                line = line.removeprefix(b"\xef\xbb\xbf")
            if len(line) > LONGEST_LINE:
                while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                    line = file.readline(LONGEST_LINE + 1)
                yield BadRow(str(number), f"the line is longer than {LONGEST_LINE // 2**20} MiB")
            elif line.strip():
                yield _record(number, line)


def first_object(path: Path) -> dict[str, Any]:
    """The first object of a file; empty where it begins with none."""
    try:
        first = next((row for row in read_lines(path)), None)
    except UserError:
        return {}
    return dict(first.values) if isinstance(first, Record) else {}


def _record(number: int, line: bytes) -> Record | BadRow:
    try:
        parsed = parse(line)
    except ValueError as fault:
        return BadRow(str(number), f"no JSON: {shown(fault)}", shown(line[:80].decode(errors="replace")))
    if not isinstance(parsed, dict):
        return BadRow(str(number), "is no JSON object", shown(line[:80].decode(errors="replace")))
    return Record(str(number), parsed)


def _refuse_utf16(line: bytes, path: Path) -> None:
    if line.startswith(_UTF16):
        raise UserError("is in UTF-16", where=path, remedy=f"Write it anew as UTF-8: iconv -f UTF-16 -t UTF-8 {path}")


READER = Reader(
    "jsonl",
    "JSON Lines: an object a line, with any columns",
    lambda path: path.suffix.lower() in (".jsonl", ".ndjson"),
    read_lines,
    {},
)
