"""The report's tables as files beside it: for programs (CSV, Parquet) and for papers (LaTeX)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path

import pandas as pd
import pyarrow as pa

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.files import replacing
from polyculture.cache.manifest import read_manifest
from polyculture.cache.parquet import write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.reports.comparisons import comparison_frame
from polyculture.reports.escaping import csv_text
from polyculture.reports.latex import latex_table
from polyculture.reports.names import Names
from polyculture.reports.numbers import known
from polyculture.reports.reading import read_store

TABLES = (
    "headline",
    "health",
    "resolution",
    "granularity",
    "diversity",
    "companions",
    "saturation",
    "specificity",
    "consensus",
    "bias",
    "swaps",
    "separations",
    "leaderboard",
)  # a file of `sql/` each
MAPS = ("entity_positions",)  # for programs only: nobody prints thousands of places


class TableFormat(StrEnum):
    """How the tables are written."""

    CSV = "csv"
    PARQUET = "parquet"
    LATEX = "latex"


def write_tables(run: RunFolder, formats: Iterable[TableFormat], catalog: Catalog | None = None) -> list[Path]:
    """Writes every table that has rows to `report-tables/` and returns the paths; the same bytes for the same store.

    Numbers come with their 95 % intervals. CSV cells that a spreadsheet would take for a formula are defused. LaTeX
    needs the packages booktabs and longtable. Raises `StoreError` where there is no run or a file cannot be written.
    """
    with read_store(run) as reading:
        manifest = read_manifest(run.manifest)
        names = Names(catalog or read_catalog(), tuple(manifest.models if manifest else ()))
        frames = {name: reading.frame(name) for name in (*TABLES, *MAPS)}
        if manifest:
            frames["comparisons"] = comparison_frame(reading, manifest, names)
    written = []
    for format in dict.fromkeys(formats):
        write, ending = _WRITERS[format]
        for name, frame in frames.items():
            if frame.empty or (format is TableFormat.LATEX and name in MAPS):
                continue
            path = run.report_tables / f"{name}.{ending}"
            write(name, frame, path, names)
            written.append(path)
    return written


def _write_csv(_name: str, frame: pd.DataFrame, path: Path, _names: Names) -> None:
    rows = ([known(value) for value in row] for row in frame.itertuples(index=False, name=None))
    _write(path, csv_text(list(frame.columns), rows))


def _write_parquet(_name: str, frame: pd.DataFrame, path: Path, _names: Names) -> None:
    write_parquet(pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None), path)


def _write_latex(name: str, frame: pd.DataFrame, path: Path, names: Names) -> None:
    _write(path, latex_table(name, frame, names))


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


_WRITERS: Mapping[TableFormat, tuple[Callable[[str, pd.DataFrame, Path, Names], None], str]] = {
    TableFormat.CSV: (_write_csv, "csv"),
    TableFormat.PARQUET: (_write_parquet, "parquet"),
    TableFormat.LATEX: (_write_latex, "tex"),
}
