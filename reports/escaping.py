"""Escapes untrusted data: JSON without markup, CSV without formulas, LaTeX without commands."""

from __future__ import annotations

import base64
import csv
import gzip
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson
from markupsafe import Markup

if TYPE_CHECKING:
    import pandas as pd

LONGEST_CSV = 20_000  # letters of a table in the page that are not packed: a page is under 5 MB
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedblright{}", "\ufffd": "?",
}  # fmt: skip


def latex_text(text: str) -> str:
    """Text that LaTeX prints as it stands: no sign of it is a command."""
    return "".join(_LATEX.get(sign, sign) for sign in text)


def packed(data: Any) -> Markup:
    """`data` as gzipped JSON in base64: a fifth of its size, and free of markup."""
    zipped = gzip.compress(orjson.dumps(data), mtime=0)
    return Markup(base64.b64encode(zipped).decode())  # noqa: S704  letters, digits, + / =


def table_text(frame: pd.DataFrame) -> str:
    """A frame's rows as CSV; a missing value is an empty cell."""
    return csv_text(list(frame.columns), _rows(frame))


def table_link(frame: pd.DataFrame) -> str:
    """A `data:` address that downloads a frame's rows as CSV."""
    return csv_link(list(frame.columns), _rows(frame))


def _rows(frame: pd.DataFrame) -> Iterator[list[Any]]:
    from polyculture.reports.numbers import known

    return ([known(value) for value in row] for row in frame.itertuples(index=False, name=None))


def csv_link(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A `data:` address that downloads the rows as CSV, or as gzipped CSV where they are many."""
    text = csv_text(columns, rows)
    if len(text) > LONGEST_CSV:
        return f"data:application/gzip;base64,{base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()}"
    return "data:text/csv;charset=utf-8," + quote(text, safe=",:/;()!*'~.-_")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The rows as CSV with a header line; every cell is defused."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([defuse(value) for value in row] for row in rows)
    return buffer.getvalue()


def defuse(value: Any) -> Any:
    """A CSV cell that a spreadsheet does not take for a formula: generated text is untrusted."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
