"""Rows as files that a reader takes away: CSV that no spreadsheet runs, or an object a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from polyculture.reports.escaping import csv_text, defuse
from polyculture.reports.view.live import Answer

ROWS = 10_000  # of one file; `polyculture sql` writes all
TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson"}


def as_file(answer: Answer, format: str) -> bytes:
    """The rows as CSV or as lines of JSON, in UTF-8."""
    if format == "csv":
        return csv_text([defuse(name) for name in answer.columns], answer.rows).encode("utf-8", "replace")
    return _lines(answer.columns, answer.rows)


def _lines(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    names = [name if name not in columns[:place] else f"{name}_{place}" for place, name in enumerate(columns)]
    return b"".join(orjson.dumps(dict(zip(names, row, strict=True)), default=str) + b"\n" for row in rows)
