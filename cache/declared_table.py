"""A table: an SQL file whose header (`sql_header`) is its title, its rows, its columns and its parameters.

The terminal, `polyculture table`, the report's downloads and LaTeX, and `docs/tables.md` all read this one file:

    table = read_table(Path("separations.sql"))
    table.select(store, {"layer": 12, "model": ["a", "b"]}).fetchall()
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import StoreError, did_you_mean
from polyculture.cache.sql_header import Header, read_headers

if TYPE_CHECKING:
    import duckdb

# Columns that say why a number has no interval, or is missing: printed beside the number.
REASONS = ("no_interval", "lacking")
# A second interval that an estimate of texts has.
WORDINGS = {
    "wordings_low": "lower limit of the 95 % interval of other wordings and names",
    "wordings_high": "upper limit of the 95 % interval of other wordings and names",
    "no_wordings_interval": "why there is no interval of other wordings and names",
}
# Columns that are NULL where a number is over all of them.
OVER_ALL = ("language", "culture", "entity_type", "category")


@dataclass(frozen=True)
class DeclaredTable:
    """A query over the store with what its header says."""

    file: Path
    header: Header
    sql: str  # the whole text

    @property
    def name(self) -> str:
        """Its name, which is the file's."""
        return self.header.name

    def parameters(self, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The values of its parameters: those that are given, else the defaults."""
        defaults = {name: one.default for name, one in self.header.parameters.items()}
        return {name: (values or {}).get(name, default) for name, default in defaults.items()}

    def filled(self, values: Mapping[str, Any] | None = None) -> str:
        """The text with values in the places of its parameters, as a reader of the report may run it."""
        given = self.parameters(values)
        return re.sub(r"\$(\w+)", lambda found: _literal(given[found[1]]) if found[1] in given else found[0], self.sql)

    def select(
        self, store: duckdb.DuckDBPyConnection, values: Mapping[str, Any] | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Its rows. A value whose name is no parameter is a filter (`filtered`)."""
        rows = store.sql(self.sql.rstrip().rstrip(";"), params=self.parameters(values) or None)
        return self.filtered(rows, values)

    def filtered(
        self, rows: duckdb.DuckDBPyRelation, values: Mapping[str, Any] | None = None
    ) -> duckdb.DuckDBPyRelation:
        """The rows whose columns have the values that are no parameters; a list allows each of its members.

        Raises `StoreError` where a name is neither a parameter nor a column.
        """
        import duckdb

        for name, value in (values or {}).items():
            if name in self.header.parameters:
                continue
            if name not in rows.columns:
                remedy = did_you_mean(name, [*self.header.parameters, *rows.columns])
                raise StoreError(f"the table {self.name} has neither a parameter nor a column {name}", remedy=remedy)
            wanted = [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]
            column = duckdb.ColumnExpression(name)
            among = column.cast("VARCHAR").isin(*map(duckdb.ConstantExpression, wanted))
            rows = rows.filter(column.isnull() if value is None else among)
        return rows

    def meanings(self, store: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> dict[str, str]:
        """What its columns mean: what the header says, else what the dictionary says of the views that it reads."""
        read = set(re.findall(r"\w+", self.sql))
        said = store.sql('SELECT view, "column", meaning FROM dictionary WHERE "column" <> \'\'').fetchall()
        said.sort(key=lambda one: one[0] not in read)
        known = {column: meaning for _, column, meaning in reversed(said)}
        bounds = dict(WORDINGS)
        for name, (low, high) in limits(columns).items():
            bounds |= {low: f"lower limit of the 95 % interval of {name}"}
            bounds |= {high: f"upper limit of the 95 % interval of {name}"}
        return {name: self.header.columns.get(name) or bounds.get(name) or known.get(name, "") for name in columns}

    def shown_title(self, values: Mapping[str, Any] | None = None) -> str:
        """Its title with the values of its parameters: they decide what the numbers are."""
        said = [f"{name} {value}" for name, value in self.parameters(values).items() if value not in (None, False)]
        return f"{self.header.title} ({', '.join(said)})" if said else self.header.title


@cache
def read_table(file: Path) -> DeclaredTable:
    """The table that an SQL file declares. Raises `ValueError` where the header is missing or names another table."""
    text = file.read_text(encoding="utf-8")
    header = next(read_headers(text), None)
    if header is None or header.name != file.stem or not header.title:
        raise ValueError(f"{file.name} has no header with a title and the name {file.stem}")
    return DeclaredTable(file, header, text)


def limits(columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The columns that have a 95 % interval, each with those of its limits.

    `X_low` and `X_high` are the limits of `X`; `low` and `high` are those of the column before them.
    """
    found = {name: (f"{name}_low", f"{name}_high") for name in columns if f"{name}_low" in columns}
    if "low" in columns and columns.index("low"):
        found[columns[columns.index("low") - 1]] = ("low", "high")
    return found


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else str(value).lower()
