"""Reads the store for the report: runs SQL files on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from polyculture.cache.store.layout import Layout
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.sql_file import read_headers
from polyculture.cache.store.store import Store, open_store
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.reports.names import short

SQL = Path(__file__).parent / "sql"  # of the report's own sections
Sql = Path | str  # a file of one statement, or a statement
_DIGITS = 6  # threads add up in any order, which changes the last bits; rounding keeps the report's bytes equal


def statements(file: Path) -> dict[str, str]:
    """The statements of an SQL file by their names: each begins, after an empty line, with `-- name: what a row is`."""
    parts = re.split(r"\n\n(?=-- \w+: )", file.read_text(encoding="utf-8"))[1:]
    return {part[3 : part.index(":")]: part for part in parts}


@dataclass(frozen=True)
class Reading:
    """A run's store, open for reading while `read_store` lasts.

    Several sections ask for the same tables, some as frames and others as rows: a file's query is run once.
    """

    store: Store
    _found: dict[tuple[object, ...], str] = field(default_factory=dict, repr=False)  # temporary tables, by query

    def frame(self, sql: Sql, **values: Any) -> pd.DataFrame:
        """The rows that an SQL file selects, with fractions rounded to six digits.

        `attrs["counts"]` names the columns of whole numbers, which pandas makes fractions where one is missing.
        """
        text, given = self._once(sql, values)
        rows = self.store.sql(text, params=given)
        frame: pd.DataFrame = rows.df().round(_DIGITS)
        kinds = zip(rows.columns, rows.types, strict=True)
        frame.attrs["counts"] = [name for name, kind in kinds if kind.id.endswith("int")]
        return frame

    def rows(self, sql: Sql, **values: Any) -> list[dict[str, Any]]:
        """The same rows as dictionaries, unrounded; None where nothing is known."""
        cursor = self.store.execute(*self._once(sql, values))
        columns = [column[0] for column in cursor.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]

    def lines(self, sql: Sql) -> list[dict[str, Any]]:
        """The same rows for a table of the page: strings are cut to the length of a label."""
        return [{k: short(v) if isinstance(v, str) else v for k, v in row.items()} for row in self.rows(sql)]

    def run(self, sql: Sql, **values: Any) -> None:
        """Runs an SQL file that creates temporary tables."""
        self.store.execute(*self._query(sql, values))

    def _once(self, sql: Sql, values: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
        """The statement that gives the rows of `sql`: of a file those of its first time."""
        text, given = self._query(sql, values)
        if isinstance(sql, str):
            return text, given
        asked = (sql, *sorted((given or {}).items()))
        if asked not in self._found:
            name = f"found_{len(self._found)}"
            self.store.execute(f"CREATE TEMP TABLE {name} AS {text}", given)
            self._found[asked] = name
        return f"FROM {self._found[asked]}", None

    def _query(self, sql: Sql, values: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
        """A statement with its parameters; those that its header declares have defaults."""
        text = sql if isinstance(sql, str) else sql.read_text(encoding="utf-8")
        declared = next(read_headers(text), None)
        defaults = {name: one.default for name, one in declared.parameters.items()} if declared else {}
        return text, {**defaults, **values} or None


@contextmanager
def read_store(run: RunFolder, layout: Layout = METRICS_LAYOUT) -> Iterator[Reading]:
    """The run's store with the views of `layout`; shared ones are computed once for the block."""
    with open_store(run, layout, KEPT) as store:
        yield Reading(store)


RUN_FACTS = statements(SQL / "run_facts.sql")
