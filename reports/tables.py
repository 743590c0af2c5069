"""The report's tables as files beside it: for programs (CSV, Parquet) and for papers (LaTeX)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

import pandas as pd
import pyarrow as pa

from cache.catalog import Catalog, read_catalog
from cache.files import replacing
from cache.manifest import read_manifest
from cache.parquet import write_parquet
from cache.run_folder import RunFolder
from reports.embedding import csv_text
from reports.headline import METRICS
from reports.names import Names
from reports.numbers import decimal, known
from reports.reading import read_store
from reports.words import words

TABLES = (
    "headline",
    "health",
    "granularity",
    "diversity",
    "saturation",
    "specificity",
    "consensus",
    "bias",
)  # a file of `sql/` each
_KEPT = ("model", "language", "metric", "estimate")
_LEFT_OUT = ("method", "cells", "missing", "level")  # of LaTeX: room is dear on paper


class TableFormat(StrEnum):
    """How the tables are written."""

    CSV = "csv"
    PARQUET = "parquet"
    LATEX = "latex"


def write_tables(run: RunFolder, format: TableFormat, catalog: Catalog | None = None) -> list[Path]:
    """Writes every table that has rows to `report-tables/` and returns the paths; the same bytes for the same store.

    Numbers come with their 95 % intervals. CSV cells that a spreadsheet would take for a formula are defused. LaTeX
    needs the packages booktabs and longtable. Raises `StoreError` where there is no run or a file cannot be written.
    """
    with read_store(run) as reading:
        manifest = read_manifest(run.manifest)
        names = Names(catalog or read_catalog(), tuple(manifest.models if manifest else ()))
        frames = {name: reading.frame(name) for name in TABLES}
    write, ending = _WRITERS[format]
    written = []
    for name, frame in frames.items():
        if frame.empty:
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
    shown = _side_by_side(_readable(name, frame, names)) if name == "headline" else _readable(name, frame, names)
    styled = shown.style.hide(axis="index").format(escape="latex", na_rep="--").format_index(escape="latex", axis=1)
    text = styled.to_latex(
        hrules=True,
        environment="longtable",
        column_format="".join("r" if pd.api.types.is_numeric_dtype(kind) else "l" for kind in shown.dtypes),
        caption=f"{_caption(name)}; 95\\,\\% intervals in brackets" if "low" in frame else _caption(name),
        label=f"tab:{name}",
    )
    _write(path, text)


def _readable(name: str, frame: pd.DataFrame, names: Names) -> pd.DataFrame:
    """Names for codes, and a number with its interval in one column; without columns that hold nothing."""
    empty = [column for column in frame if frame[column].isna().all() and column not in _KEPT]
    shown = frame.drop(columns=[*empty, *(column for column in _LEFT_OUT if column in frame and column not in empty)])
    say: Mapping[str, Callable[[str], str]] = {
        "model": names.model, "language": names.language, "other_language": names.language, "topic": names.topic,
        "country": names.country, "condition": names.condition,
    }  # fmt: skip
    for column in [column for column in say if column in shown]:
        shown[column] = [None if known(code) is None else say[column](code) for code in shown[column]]
    if "estimate" in shown:
        metrics = shown["metric"] if "metric" in shown else [name] * len(shown)
        numbers = zip(metrics, shown["estimate"], *(_column(shown, side) for side in ("low", "high")), strict=True)
        shown["estimate"] = [_with_interval(*row) for row in numbers]
    return shown.drop(columns=[column for column in ("low", "high") if column in shown])


def _column(frame: pd.DataFrame, name: str) -> list[float | None]:
    return list(frame[name]) if name in frame else [None] * len(frame)


def _with_interval(metric: str, value: float, low: float | None, high: float | None) -> str | None:
    if known(value) is None:
        return None
    if known(low) is None or known(high) is None or low is None or high is None:
        return decimal(value, metric)
    return f"{decimal(value, metric)} [{decimal(low, metric)}, {decimal(high, metric)}]"


def _side_by_side(shown: pd.DataFrame) -> pd.DataFrame:
    """The models' table: a line per model and language, a column per metric."""
    shown = shown.assign(language=shown["language"].fillna("all") if "language" in shown else "all")
    lines = shown[["model", "language"]].drop_duplicates().set_index(["model", "language"]).index
    table = shown.pivot_table(index=["model", "language"], columns="metric", values="estimate", aggfunc="first")
    table = table.reindex(index=lines, columns=[metric for metric in METRICS if metric in table])
    return table.rename(columns={name: words().metrics[name].name for name in METRICS}).reset_index()


def _caption(name: str) -> str:
    figures = words().figures
    return figures[name].title if name in figures else _CAPTIONS[name]


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


_CAPTIONS = {
    "headline": "Metrics by model and language",
    "health": "What became of everything that was asked",
    "bias": "Cultural Bias Score",
}
_WRITERS: Mapping[TableFormat, tuple[Callable[[str, pd.DataFrame, Path, Names], None], str]] = {
    TableFormat.CSV: (_write_csv, "csv"),
    TableFormat.PARQUET: (_write_parquet, "parquet"),
    TableFormat.LATEX: (_write_latex, "tex"),
}
