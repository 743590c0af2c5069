"""Reads the claims that a starter leaves out."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from polyculture.cache.errors import SnapshotError
from polyculture.link.entity import PROPERTIES, number
from polyculture.link.select.selection import ClaimKey

COLUMNS = ("item", "property")
_FORM = "Write a CSV file with the columns item and property, a line like Q2095,P279."


def read_without(file: Path) -> frozenset[ClaimKey]:
    """The claims of a CSV file, each as item and property. Raises `SnapshotError` for a file of another form."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines)
            if not set(COLUMNS) <= set(rows.fieldnames or ()):
                raise SnapshotError(f"has no columns {' and '.join(COLUMNS)}", where=file, remedy=_FORM)
            return frozenset(_key(file, rows.line_num, row["item"], row["property"]) for row in rows)
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise SnapshotError(f"cannot be read: {fault}", where=file, remedy=_FORM) from fault


def _key(file: Path, line: int, item: str | None, code: str | None) -> ClaimKey:
    if not re.fullmatch(r"Q[1-9][0-9]*", item or "") or code not in PROPERTIES:
        known = ", ".join(PROPERTIES)
        raise SnapshotError(
            f"line {line}: {item!r}, {code!r} is no item and property of {known}", where=file, remedy=_FORM
        )
    return number(item or ""), code
