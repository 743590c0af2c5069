"""What a reader yields: records of a file, and rows that are none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LONGEST_LINE = 16 * 2**20  # bytes of a line, or of a record in an archive
LONGEST_TEXT = 1_000_000  # characters of a text that is taken
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file: values by column. Nested ones are reached with a dot: `doc.language`."""

    row: str  # where it stands in the file
    values: Mapping[str, Any]

    def get(self, column: str) -> Any:
        """The value of a column; None where there is none."""
        if column in self.values:
            return self.values[column]
        value: Any = self.values
        for part in column.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be taken, and why."""

    row: str
    reason: str
    value: str | None = None


Rows = Iterator[Record | BadRow]


@dataclass(frozen=True)
class Reader:
    """A format: how its files are recognised and read, and where its columns stand if nobody says otherwise."""

    name: str
    about: str  # one line for the documentation
    recognises: Callable[[Path], bool]
    read: Callable[[Path, Path | None], Rows]  # the file, and a second one with the requests, where there is one
    columns: Mapping[str, str]  # what a text has -> the column that says it; '=value' says it of all rows
    items: bool = False  # whether its files say which items are in a text


def merged(records: Iterable[Record]) -> Record | None:
    """One record with the columns of several, each with its first value: rows need not have all of them."""
    values: dict[str, Any] | None = None
    for record in records:
        values = _joined({} if values is None else values, record.values)
    return None if values is None else Record("", values)


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(one)
    for name, value in other.items():
        known = both.get(name)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            both[name] = _joined(known, value)
        elif known is None:
            both[name] = value
    return both


def shown(value: object) -> str:
    """A value in a line, shortened."""
    line = " ".join(str(value).split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
