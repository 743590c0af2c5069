"""Untrusted data inside a page: JSON that cannot close its element, CSV that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

import orjson
from markupsafe import Markup

# What could end the element, open a comment, or end a line of JavaScript, as JSON's own escapes.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def json_for_script(data: Any) -> Markup:
    """`data` as JSON for a `<script type="application/json">`: no letter of it can end the element."""
    text = orjson.dumps(data).decode()
    return Markup(text.translate(_ESCAPES))  # noqa: S704  escaped in this line


def csv_link(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A `data:` address that downloads the rows as CSV."""
    return "data:text/csv;charset=utf-8," + quote(csv_text(columns, rows), safe=",:/;()!*'~.-_")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The rows as CSV under a line of names, every cell defused."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([defuse(value) for value in row] for row in rows)
    return buffer.getvalue()


def defuse(value: Any) -> Any:
    """A CSV cell that a spreadsheet will not take for a formula: generated text is not to be trusted."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
