"""Writes the tables of the report as files: for programs (CSV, Parquet) and for publications (LaTeX)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pandas as pd
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import replacing
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.parquet import write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.metrics import METRICS_LAYOUT
from polyculture.reports.building import build_sections, open_report
from polyculture.reports.escaping import table_text
from polyculture.reports.latex import latex_table
from polyculture.reports.names import Names
from polyculture.reports.section import ReportTable, Section
from polyculture.reports.sections import OWN_SECTIONS


class TableFormat(StrEnum):
    """How the tables are written."""

    CSV = "csv"
    PARQUET = "parquet"
    LATEX = "latex"


@dataclass(frozen=True)
class Export:
    """A table to write: its declaration, its rows, and names of columns beside the shared ones."""

    table: ReportTable
    frame: pd.DataFrame
    headings: Mapping[str, str]


def write_tables(
    run: RunFolder,
    formats: Iterable[TableFormat],
    catalog: Catalog | None = None,
    layout: Layout = METRICS_LAYOUT,
    sections: Sequence[Section] = OWN_SECTIONS,
) -> list[Path]:
    """Writes the tables of all `sections` that have something to show to `report-tables/`; returns the paths.

    The same store gives the same bytes. A table without rows is not written. Numbers come with their 95 % intervals.
    CSV cells that a spreadsheet would take for a formula are defused. LaTeX needs the packages booktabs and longtable;
    a table without printed columns is for programs only. For `catalog` and `layout` see `open_report`. Raises
    `StoreError` where there is no run or a file cannot be written.
    """
    exporting = [section for section in sections if section.tables]
    with open_report(run, catalog, layout, sections) as data:
        exports = [
            Export(table, data.frame(table), built.texts.headings)
            for built in build_sections(data, exporting)
            for table in built.section.tables
        ]
        names = data.names
    written = []
    for format in dict.fromkeys(formats):
        write, ending = _WRITERS[format]
        for export in exports:
            printed = export.table.declared.header.printed
            if export.frame.empty or (format is TableFormat.LATEX and not printed):
                continue
            path = run.report_tables / f"{export.table.name}.{ending}"
            write(export, path, names)
            written.append(path)
    return written


def _write_csv(export: Export, path: Path, _names: Names) -> None:
    _write(path, table_text(export.frame))


def _write_parquet(export: Export, path: Path, _names: Names) -> None:
    write_parquet(pa.Table.from_pandas(export.frame, preserve_index=False).replace_schema_metadata(None), path)


def _write_latex(export: Export, path: Path, names: Names) -> None:
    _write(path, latex_table(export.table.declared.header, export.frame, names, export.headings))


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


_WRITERS: Mapping[TableFormat, tuple[Callable[[Export, Path, Names], None], str]] = {
    TableFormat.CSV: (_write_csv, "csv"),
    TableFormat.PARQUET: (_write_parquet, "parquet"),
    TableFormat.LATEX: (_write_latex, "tex"),
}
