"""A paper's tables as files: the long table of all as CSV, and each in the readable layout as LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, fields, replace
from pathlib import Path

from polyculture.cache.files import replacing
from polyculture.instruments.datasets.presets import read_preset
from polyculture.instruments.papers.compared import LongRow, long_rows
from polyculture.instruments.papers.join import JoinedTable, PaperLine
from polyculture.instruments.papers.readable import latex, readable
from polyculture.reports.escaping import csv_text

COMPARED = "compared.csv"


def with_names(joined: JoinedTable, named: Callable[[str], str]) -> JoinedTable:
    """The table with the names of one's own models as people read them; a variant stays behind its model's name."""

    def shown(line: PaperLine) -> PaperLine:
        model, way, variant = line.model.partition(" (")
        return replace(line, model=named(model) + way + variant) if line.own else line

    return replace(joined, lines=[shown(line) for line in joined.lines])


def write_paper_tables(
    folder: Path, paper: str, tables: Sequence[JoinedTable], named: Callable[[str], str] = str
) -> list[Path]:
    """Writes each table as LaTeX, and the long table of all as `COMPARED`. Returns the paths, the long table's last.

    The long table has the models' whole names, LaTeX those that `named` gives.
    """
    preset = read_preset(paper)
    written = [
        _write(
            folder / f"{one.table.file}.tex",
            latex(readable(preset, with_names(one, named)), f"{paper}-{one.table.file}"),
        )
        for one in tables
    ]
    columns = [one.name for one in fields(LongRow)]
    rows = (astuple(row) for one in tables for row in long_rows(one))
    return [*written, _write(folder / COMPARED, csv_text(columns, rows))]


def notes_of(tables: Mapping[str, str]) -> str:
    """A line about tables without a number of the run."""
    named = "; ".join(f"{name} ({title})" for name, title in tables.items())
    return f"Without a number of this run: {named}. docs/papers.md has the command and the set that each needs"


def _write(path: Path, text: str) -> Path:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
    return path
