"""The tables of a command of an instrument: on the terminal, or written as `--format` and `--output` say.

Printed: what studies list, then the tables that they show. Written: what a study lists, and of one that lists nothing
the tables that it shows. Several have a file each (`FILE`, `FILE-2`), or stand one below the other on standard output.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cli.options import Format
from polyculture.console import say

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace
    from polyculture.instruments.contract import Listing, Shown, Study


@dataclass(frozen=True)
class _Rows:
    """A table to write."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def write_tables(workspace: Workspace, studies: Sequence[Study], form: Format, output: Path | None) -> None:
    """Writes the tables of studies. Without a format and a file they are printed on the terminal."""
    from polyculture.cli.tables import print_table, write_values

    listings = _listings(studies)
    if form is Format.TABLE and output is None:
        for _, listing in listings:
            write_values(listing.columns, listing.rows, form, output)
        for table in _tables(studies):
            found = _read(workspace, table)
            if found is not None:
                columns, rows = _without_alike(found, table.varying)
                print_table(columns, rows, table.title)
        return
    listed = [_Rows("", found.columns, found.rows) for _, found in reversed(listings)]  # a command's own is its last
    lists = [id(study) for study, _ in listings]
    read = (_read(workspace, table) for table in _tables([study for study in studies if id(study) not in lists]))
    _write([*listed, *(found for found in read if found is not None)], form, output)


def _without_alike(table: _Rows, varying: Sequence[str]) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
    """The columns and rows to print: of `varying` columns those in which rows differ. A file has all of them."""
    columns = [at for at, name in enumerate(table.columns) if name not in varying or _varies(table.rows, at)]
    return [table.columns[at] for at in columns], [[row[at] for at in columns] for row in table.rows]


def _varies(rows: Sequence[Sequence[Any]], column: int) -> bool:
    """Whether a column says several things; a cell may say one on each line."""
    return len({line for row in rows for line in str(row[column]).splitlines()}) > 1


def _write(tables: Sequence[_Rows], form: Format, output: Path | None) -> None:
    from polyculture.cli.tables import write_values

    for number, table in enumerate(tables, start=1):
        file = output if output is None or number == 1 else output.with_stem(f"{output.stem}-{number}")
        if output is None and number > 1:
            sys.stdout.write("\n")
        write_values(table.columns, table.rows, form, file)
        if file is not None and len(tables) > 1:
            say(f"{file}: {table.title or f'table {number}'}")


def _listings(studies: Sequence[Study]) -> list[tuple[Study, Listing]]:
    """What studies list, each with its study."""
    found = [(study, study.listing()) for study in studies if study.listing is not None]
    return [(study, listing) for study, listing in found if listing.columns]


def _tables(studies: Sequence[Study]) -> list[Shown]:
    """The tables of studies, those that several show once."""
    found = [table for study in studies for table in study.shown]
    return [table for place, table in enumerate(found) if table not in found[:place]]


def _read(workspace: Workspace, table: Shown) -> _Rows | None:
    """The rows of a table; None, and a line, where it has something to say of there being none."""
    from polyculture.cache.store import open_store
    from polyculture.running.layout import store_layout

    if table.empty and not workspace.run.manifest.is_file():
        say(table.empty)
        return None
    with open_store(workspace.run, store_layout()) as store:
        found = store.sql(table.query.read_text(encoding="utf-8"), params=dict(table.values))
        columns, rows = found.columns, found.fetchall()
    if table.empty and not rows:
        say(table.empty)
        return None
    return _Rows(table.title, columns, rows)
