"""Writes a paper's tables as CSV and LaTeX, and one file with all cells beside the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from polyculture.cache.files import replacing
from polyculture.cache.sanitize import replace_control_chars
from polyculture.cache.schema.measured import EVERY
from polyculture.instruments.papers.paper import Paper
from polyculture.instruments.papers.paper_tables import AVERAGE, TOKENS, PaperTable, TableCell
from polyculture.published.cells import NONE, PublishedCell
from polyculture.reports.escaping import latex_text, table_text
from polyculture.reports.latex import end_of

PERCENT = ("cbs", "qa", "ner", TOKENS, "texts")  # measures that the papers print in per cent
CELLS = "cells"
_UNMEASURED = "not compared: this run has no number here"
COLUMNS = (
    "paper", "table", "measure", "row", "column", "language", "culture", "setting", "variant", "value", "ours",
    "contexts", "published", "published_protocol", "differs", "note", "lacking",
)  # fmt: skip


def write_paper(
    folder: Path,
    paper: Paper,
    data: str,
    tables: Sequence[PaperTable],
    own: Sequence[PublishedCell],
    printed: Sequence[PublishedCell] = (),
) -> list[Path]:
    """Writes `<table>.csv` and `<table>.tex` for each table, and `cells.csv`. Returns the paths.

    Published rows stand below the user's: those of a file of `own`, and of the `printed` ones what is of a table here.
    """
    known = [cell for cell in own if cell.paper == paper.name]
    known += [cell for cell in printed if any(_is_of(cell, table) for table in tables)]
    written = []
    for table in tables:
        frame = _frame(table, [cell for cell in known if _is_of(cell, table)])
        written += [_write(folder / f"{table.name}.csv", table_text(frame))]
        written += [_write(folder / f"{table.name}.tex", _latex(paper, table, frame))]
    rows = [row for table in tables for row in _cell_rows(paper, data, table, known)]
    rows += [_alone(cell) for cell in known if not any(_beside(cell, mine) for table in tables for mine in table.cells)]
    cells = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"contexts": "Int64"})
    return [*written, _write(folder / f"{CELLS}.csv", table_text(cells))]


def _is_of(cell: PublishedCell, mine: PaperTable | TableCell) -> bool:
    """Whether a published cell is of the same place; one that tells no form of contexts is of all."""
    place = (mine.measure, mine.language, mine.culture, mine.setting)
    return (cell.measure, *_place(cell)) == place and cell.facets.get("form", mine.variant) == mine.variant


def _place(cell: PublishedCell) -> tuple[str, ...]:
    return tuple("" if word == NONE else word for word in (cell.language, cell.culture, cell.condition))


def _column(cell: PublishedCell) -> str:
    """The column in the tables here, by what the cell is of; else as its own table names it."""
    if cell.topic not in (NONE, EVERY):
        return ", ".join(filter(None, (cell.topic, cell.facets.get("gender"))))
    if side := cell.facets.get("side"):
        return side.replace("western", "Western")
    return AVERAGE if cell.topic == EVERY else cell.column


def _beside(cell: PublishedCell, mine: TableCell) -> bool:
    """Whether a published cell is of the same place, model and column as a user's."""
    return _is_of(cell, mine) and _column(cell) == mine.column and cell.is_of(mine.model)


def _frame(table: PaperTable, published: Sequence[PublishedCell]) -> pd.DataFrame:
    """A row per model, then a row per published model; a missing number is an empty cell."""
    factor = 100 if table.measure in PERCENT else 1
    values = {(cell.model, cell.column): cell.value * factor for cell in table.cells}
    theirs = {(f"{cell.name} (published)", _column(cell)): cell.number * factor for cell in published}
    columns = sorted(dict.fromkeys([*table.columns, *(c for _, c in theirs)]), key=lambda name: name == AVERAGE)
    rows = [*table.models, *dict.fromkeys(row for row, _ in theirs)]
    found = {**values, **theirs}
    digits = _digits(table)
    lines = [[row, *(_rounded(found.get((row, column)), digits) for column in columns)] for row in rows]
    return pd.DataFrame(lines, columns=["model", *columns])


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def _digits(table: PaperTable) -> int:
    """Decimals: a language may have one token in a hundred thousand, which is not none."""
    return 4 if table.measure == TOKENS else 2


def _latex(paper: Paper, table: PaperTable, frame: pd.DataFrame) -> str:
    unit = ", in per cent" if table.measure in PERCENT else ""
    where = (table.measure, table.language, table.culture, table.setting, table.variant)
    told = ", ".join(filter(None, where)) + unit
    numbers = frame.columns[1:]
    shown = frame.assign(model=[end_of(replace_control_chars(str(model))) for model in frame["model"]])
    styled = shown.style.hide(axis="index").format(escape="latex", subset=["model"])
    styled = styled.format(precision=_digits(table), na_rep="--", subset=list(numbers)).format_index(
        escape="latex", axis=1
    )
    return styled.to_latex(
        hrules=True,
        column_format="l" + "r" * len(numbers),
        caption=latex_text(replace_control_chars(f"{paper.title}, its layout; this run's selection: {told}")),
        label=f"tab:{paper.name}-{table.name}",
    )


def _cell_rows(
    paper: Paper, data: str, table: PaperTable, published: Sequence[PublishedCell]
) -> Iterator[tuple[object, ...]]:
    for cell in table.cells:
        mine = (
            cell.measure, cell.model, cell.column, cell.language, cell.culture, cell.setting, cell.variant, cell.value,
            cell.ours, cell.contexts,
        )  # fmt: skip
        theirs = next((one for one in published if _beside(one, cell)), None)
        if theirs is None:
            yield (paper.name, None, *mine, None, None, _unpublished(cell, published), None, cell.lacking)
            continue
        differs = "; ".join(_differences(paper, data, table, cell)) or "none known"
        yield (paper.name, theirs.table, *mine, *_told(theirs, differs), cell.lacking)


def _unpublished(cell: TableCell, published: Sequence[PublishedCell]) -> str:
    """Why nothing stands beside a cell of the user's."""
    others = sorted({one.name for one in published if _is_of(one, cell) and _column(one) == cell.column})
    if others:
        return f"not compared: the published figures here are of {', '.join(others)}"
    return "not compared: no published figure is known here"


def _differences(paper: Paper, data: str, table: PaperTable, cell: TableCell) -> Iterator[str]:
    """What is known to be otherwise than in the paper."""
    if data != paper.data:
        yield f"data set {data}"
    if table.measure == "cbs":
        columns = len([column for column in table.columns if column != AVERAGE])
        if columns != paper.columns:
            yield f"{columns} of {paper.columns} columns"
    if cell.lacking:
        yield cell.lacking


def _told(cell: PublishedCell, differs: str) -> tuple[object, ...]:
    return cell.number, cell.protocol, differs, None if cell.note == NONE else cell.note


def _alone(cell: PublishedCell) -> tuple[object, ...]:
    """A published cell without one of the user's."""
    place = (cell.paper, cell.table, cell.measure, cell.name, _column(cell), *_place(cell))
    return (*place, None, None, None, None, *_told(cell, _UNMEASURED), None)


def _write(path: Path, text: str) -> Path:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
    return path
