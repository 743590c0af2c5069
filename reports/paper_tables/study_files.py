"""The files of the study's tables: each as CSV, with intervals and sizes, and as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from polyculture.published.cells import PublishedCell
from polyculture.reports.escaping import latex_text, table_text
from polyculture.reports.latex import end_of, longtable
from polyculture.reports.names import Names
from polyculture.reports.numbers import FEWEST, decimal
from polyculture.reports.paper_tables.study_beside import Beside, published_place, rounded
from polyculture.reports.paper_tables.study_tables import (
    BY_COUNTRY,
    BY_PAIR,
    BY_TOPIC,
    MEASURES,
    OVERVIEW,
    StudyCell,
    StudyTable,
)
from polyculture.reports.texts import texts

_OF_TWO = (BY_COUNTRY, BY_PAIR)  # tables with a row per model and language


def table_files(table: StudyTable, beside: Beside, names: Names) -> dict[str, str]:
    """The texts of `<name>.csv` and `<name>.tex`."""
    published = beside.below(table)
    return {
        f"{table.name}.csv": table_text(_frame(table, published)),
        f"{table.name}.tex": _latex(table, published, names),
    }


def _frame(table: StudyTable, published: Sequence[PublishedCell]) -> pd.DataFrame:
    """A row a model, or model and language: each number, its limits and its linked items; then published rows."""
    columns = _columns(table)
    lines = []
    for (model, language), cells in _rows(table).items():
        line: dict[str, Any] = {"model": model, "language": language}
        for column in columns:
            cell = cells.get(column)
            for name in ("value", "low", "high"):
                line[_head(column, name)] = rounded(getattr(cell, name)) if cell else None
            line[_head(column, "n")] = cell.linked_items if cell else None
        line["thin"] = "; ".join(column for column in columns if column in cells and cells[column].thin)
        lines.append(line)
    for (model, language), found in _published_rows(table, published).items():
        lines.append({"model": model, "language": language, **found})
    numbers = [_head(column, "n") for column in columns]
    heads = [_head(column, name) for column in columns for name in ("value", "low", "high", "n")]
    frame = pd.DataFrame(lines, columns=["model", "language", *heads, "thin"]).astype(dict.fromkeys(numbers, "Int64"))
    return frame if table.kind in _OF_TWO else frame.drop(columns="language")


def _latex(table: StudyTable, published: Sequence[PublishedCell], names: Names) -> str:
    columns = _columns(table)
    heads = dict(zip(columns, (_named(table, column, names) for column in columns), strict=True))
    lines = []
    for (model, language), cells in _rows(table).items():
        shown = {heads[column]: _number(cells.get(column)) for column in columns}
        lines.append({"Model": end_of(names.model(model)), "Language": names.language(language), **shown})
    for (model, language), found in _published_rows(table, published).items():
        said = {heads[c]: decimal(found[c], _measure(table, c)) if c in found else "" for c in columns}
        lines.append({"Model": end_of(model), "Language": names.language(language), **said})
    frame = pd.DataFrame(lines, columns=["Model", "Language", *heads.values()])
    frame = frame if table.kind in _OF_TWO else frame.drop(columns="Language")
    left = 2 if table.kind in _OF_TWO else 1
    return longtable(frame, "l" * left + "r" * len(columns), _caption(table, names), f"makieval-{table.name}")


def _caption(table: StudyTable, names: Names) -> str:
    what = "The metrics by model" if table.kind == OVERVIEW else texts().metrics[table.measure].name
    how = {OVERVIEW: "", BY_COUNTRY: " by country", BY_PAIR: " of two languages"}.get(table.kind, f" {table.kind}")
    where = f", {latex_text(names.condition(table.setting))}" if table.setting else ""
    stars = any(cell.thin for cell in table.cells)
    thin = f". *: fewer than {FEWEST} linked items" if stars else ""
    return f"MAKIEval, this run's numbers: {what}{how.replace('-', ' ')}{where}{thin}"


def _number(cell: StudyCell | None) -> str:
    if cell is None or cell.value is None:
        return ""
    return decimal(cell.value, cell.measure) + ("*" if cell.thin else "")


def _rows(table: StudyTable) -> dict[tuple[str, str], dict[str, StudyCell]]:
    rows: dict[tuple[str, str], dict[str, StudyCell]] = {}
    for cell in table.cells:
        rows.setdefault((cell.model, cell.language), {})[_column(table, cell)] = cell
    return rows


def _published_rows(table: StudyTable, published: Sequence[PublishedCell]) -> dict[tuple[str, str], dict[str, float]]:
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for one in published:
        measure, language, column, _ = published_place(one)
        rows.setdefault((f"{one.name} (published)", language), {})[measure if table.kind == OVERVIEW else column] = (
            one.number
        )
    return rows


def _columns(table: StudyTable) -> list[str]:
    found = dict.fromkeys(_column(table, cell) for cell in table.cells if cell.value is not None)
    return [one for one in MEASURES if one in found] if table.kind == OVERVIEW else sorted(found)


def _column(table: StudyTable, cell: StudyCell) -> str:
    return cell.measure if table.kind == OVERVIEW else cell.column


def _measure(table: StudyTable, column: str) -> str:
    return column if table.kind == OVERVIEW else table.measure


def _named(table: StudyTable, column: str, names: Names) -> str:
    """A column for readers: metrics and topics by name, languages and countries by code."""
    if table.kind == OVERVIEW:
        return texts().metrics[column].name
    return names.topic(column) if table.kind == BY_TOPIC else column


def _head(column: str, name: str) -> str:
    return column if name == "value" else f"{column} {name}"
