"""All declared tables: those of the report's sections, and those that an instrument hands in beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from polyculture.instruments import INSTRUMENTS
from polyculture.reports.section import ReportTable

if TYPE_CHECKING:
    import duckdb

    from polyculture.experiment.workspace import Workspace


def all_tables() -> dict[str, ReportTable]:
    """The tables by name, in the order of the page."""
    from polyculture.running.layout import report_sections

    of_sections = [table for section in report_sections() for table in section.tables]
    commands = [command for entry in INSTRUMENTS for command in entry.commands.values()]
    others = [ReportTable(file) for command in commands for file in command.tables]
    found: dict[str, ReportTable] = {}
    for table in (*of_sections, *others):
        found.setdefault(table.declared.name, table)  # that of a section may compute its rows
    return found


@contextmanager
def table_rows(
    workspace: Workspace, table: ReportTable, values: Mapping[str, Any] | None = None
) -> Iterator[duckdb.DuckDBPyRelation]:
    """The rows of a table of a run, while the block lasts. Raises `StoreError` where a value fits nothing."""
    from polyculture.cache.store.store import open_store
    from polyculture.metrics import KEPT
    from polyculture.running.layout import report_sections, store_layout

    if table.computed is None:
        with open_store(workspace.run, store_layout(), keep=KEPT) as store:
            yield table.declared.select(store, values)
        return
    from polyculture.reports.building import open_report

    with open_report(workspace.run, workspace.catalog, store_layout(), report_sections()) as data:
        rows = data.reading.store.from_df(table.read(data))
        yield table.declared.filtered(rows, values)


def table_columns(table: ReportTable) -> list[tuple[str, str, str]]:
    """The columns of a table with their types and what they mean; of a computed one those that its header explains."""
    from polyculture.cache.store.store import open_store
    from polyculture.running.layout import store_layout

    declared = table.declared
    if table.computed:
        return [(name, "", meaning) for name, meaning in declared.header.columns.items()]
    with open_store(None, store_layout()) as store:
        rows = declared.select(store)
        meanings = declared.meanings(store, rows.columns)
        return [(name, str(kind), meanings[name]) for name, kind in zip(rows.columns, rows.types, strict=True)]
