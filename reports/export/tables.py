"""The tables of an export: what is in it, and their rows without what must not leave this machine."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pyarrow as pa

from polyculture.cache.store.portable import is_map, portable_type
from polyculture.cache.store.sql_file import DICTIONARY
from polyculture.cache.store.store import Store
from polyculture.reports.export.redaction import MACHINE_COLUMNS, Redaction

# Views that other views are computed from, and that tell a reader nothing: hashes and running numbers, or rows that
# other exported tables hold, too.
WORKING_VIEWS = frozenset(
    {
        *("answer_texts", "checked_responses", "prompt_texts", "read_texts", "dependent_responses"),
        *("ranked_sides", "ranked_pairs", "numbered_entries", "told_orders", "question_requests"),
    }
)
MOST_DERIVED = 1_000_000  # rows of a view that can be computed again from other tables


@dataclass(frozen=True)
class ExportedColumn:
    """A column of an exported table.

    Maps are exported as lists of their keys and values: many a reader of Parquet, `datasets` among them, has no maps.
    `map_from_entries` of DuckDB makes them maps again.
    """

    name: str
    stored: str  # its type in the store, as DuckDB writes it
    meaning: str

    @property
    def is_map(self) -> bool:
        """Whether the store has a map there."""
        return is_map(self.stored)

    @property
    def type(self) -> str:
        """Its type in the export, as DuckDB writes it."""
        return portable_type(self.stored)


@dataclass(frozen=True)
class ExportedTable:
    """A table that is exported, or that is not, with the reason."""

    name: str
    meaning: str
    columns: tuple[ExportedColumn, ...]
    rows: int
    left_out: str | None = None


def choose_tables(store: Store, stored: Collection[str]) -> list[ExportedTable]:
    """All tables of the dictionary that have rows, but for `WORKING_VIEWS`.

    `stored` names those that were collected, not computed.
    """
    said: dict[str, tuple[str, list[ExportedColumn]]] = {}
    for view, column, kind, meaning in store.sql(DICTIONARY).fetchall():
        if view in WORKING_VIEWS:
            continue
        if column:
            said[view][1].append(ExportedColumn(column, kind, meaning))
        elif "*" not in view:
            said[view] = (meaning, [])
    found = []
    for view, (meaning, columns) in said.items():
        [(rows,)] = store.execute(f'SELECT count(*) FROM "{view}"').fetchall()  # noqa: S608
        many = rows > MOST_DERIVED and view not in stored
        reason = f"{rows} rows, computed from the other tables" if many else None
        if rows:
            found.append(ExportedTable(view, meaning, tuple(columns), rows, reason))
    return found


def rows_of(store: Store, table: ExportedTable, redaction: Redaction) -> pa.RecordBatchReader:
    """The rows of a table as batches, redacted. All columns give the order: two exports are the same bytes."""
    values: dict[str, str] = {}
    cells = ", ".join(_cell(column, redaction, values) for column in table.columns)
    query = f'SELECT {cells} FROM "{table.name}" ORDER BY ALL'  # noqa: S608  names are the dictionary's, values are parameters
    found: pa.RecordBatchReader = store.sql(query, params=values or None).to_arrow_reader(100_000)
    return found


def _cell(column: ExportedColumn, redaction: Redaction, values: dict[str, str]) -> str:
    name = f'"{column.name}"'
    if column.type == "VARCHAR":
        return f"{_redacted(name, column.name, redaction, values)} AS {name}"
    if column.is_map:
        return f"map_entries({name}) AS {name}"
    if column.type == "VARCHAR[]":
        return f"list_transform({name}, lambda one: {_redacted('one', column.name, redaction, values)}) AS {name}"
    return name


def _redacted(cell: str, column: str, redaction: Redaction, values: dict[str, str]) -> str:
    """The expression of a cell; words and patterns are added to the parameters."""
    for word, instead in redaction.pairs:
        cell = f"replace({cell}, {_parameter(word, values)}, {_parameter(instead, values)})"
    for pattern, instead in redaction.patterns if column in MACHINE_COLUMNS else ():
        cell = f"regexp_replace({cell}, {_parameter(pattern, values)}, {_parameter(instead, values)}, 'g')"
    return cell


def _parameter(value: str, values: dict[str, str]) -> str:
    known = next((name for name, one in values.items() if one == value), None)
    name = known or f"p{len(values)}"
    values[name] = value
    return f"${name}"
