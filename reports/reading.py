"""What the report reads from the store: SQL files, run on a connection that has the metric views."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from polyculture.cache.layout import Layout
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.metrics import KEPT, METRICS
from polyculture.reports.names import short

_SQL = Path(__file__).parent / "sql"
_DIGITS = 6  # the order in which threads add up may change the last bits: rounding keeps the report's bytes the same


@dataclass(frozen=True)
class Reading:
    """A run's store, open for reading while `read_store` lasts."""

    connection: duckdb.DuckDBPyConnection

    def frame(self, name: str, **values: Any) -> pd.DataFrame:
        """The rows of `sql/<name>.sql`, with fractions rounded to six digits."""
        return self.connection.execute(query(name), values or None).df().round(_DIGITS)

    def rows(self, name: str, **values: Any) -> list[dict[str, Any]]:
        """The same as dictionaries: None where nothing is known."""
        cursor = self.connection.execute(query(name), values or None)
        columns = [column[0] for column in cursor.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]

    def lines(self, name: str) -> list[dict[str, Any]]:
        """The same for a table of the page: the words of a data set at most as long as a label."""
        return [{k: short(v) if isinstance(v, str) else v for k, v in row.items()} for row in self.rows(name)]

    def run(self, name: str, **values: Any) -> None:
        """Runs `sql/<name>.sql` for the temporary tables that it makes."""
        self.connection.execute(query(name), values or None)


@contextmanager
def read_store(run: RunFolder, layout: Layout = METRICS) -> Iterator[Reading]:
    """The run's store, with all that its views rest on computed once and kept while the block lasts."""
    with open_store(run, layout, KEPT) as connection:
        reading = Reading(connection)
        reading.run("keep")
        yield reading


def query(name: str) -> str:
    """The text of `sql/<name>.sql`."""
    return (_SQL / f"{name}.sql").read_text(encoding="utf-8")
