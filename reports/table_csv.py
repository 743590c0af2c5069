"""A table of the report as CSV: a file's text, or an address that downloads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from polyculture.reports.escaping import csv_link, csv_text
from polyculture.reports.numbers import known


def table_text(frame: pd.DataFrame) -> str:
    """A frame's rows as CSV; a missing value is an empty cell."""
    return csv_text(list(frame.columns), _rows(frame))


def table_link(frame: pd.DataFrame) -> str:
    """A `data:` address that downloads a frame's rows as CSV."""
    return csv_link(list(frame.columns), _rows(frame))


def _rows(frame: pd.DataFrame) -> Iterator[list[Any]]:
    return ([known(value) for value in row] for row in frame.itertuples(index=False, name=None))
