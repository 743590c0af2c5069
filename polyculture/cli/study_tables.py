"""The tables of a command of an instrument: what its studies list, then the declared tables that they show.

Only what is listed can be written with `--format` and `--output`: declared tables are written by `polyculture table`.
Several listings have a file each (`FILE`, `FILE-2`), or stand one below the other on standard output.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.cli.options import Format

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace
    from polyculture.instruments.contract import Listing, Shown, Study


def write_tables(workspace: Workspace, studies: Sequence[Study], form: Format, output: Path | None) -> None:
    """Writes the tables of studies. Without a format and a file they are printed on the terminal."""
    from polyculture.cli.tables import write_values

    listings = [listing for study in studies if study.listing and (listing := study.listing()).columns]
    if form is Format.TABLE and output is None:
        for listing in listings:
            write_values(listing.columns, listing.rows, form, output)
        shown = [table for study in studies for table in study.shown]
        _print(workspace, [table for number, table in enumerate(shown) if table not in shown[:number]])
    else:
        _write(listings[::-1], form, output)  # a command's own is its last


def _print(workspace: Workspace, shown: Sequence[Shown]) -> None:
    from polyculture.cache.sql_file import read_table
    from polyculture.cache.store import open_store
    from polyculture.cli.printed_table import print_declared
    from polyculture.console import say
    from polyculture.running.layout import store_layout

    tables = [(read_table(one.file), one.values) for one in shown]
    if not workspace.run.manifest.is_file():  # nothing could be asked
        for table, _ in tables:
            say(table.header.no_rows or f"the table {table.name} has no rows")
    elif tables:
        with open_store(workspace.run, store_layout()) as store:
            for table, values in tables:
                print_declared(table, table.select(store, values), values)


def _write(listings: Sequence[Listing], form: Format, output: Path | None) -> None:
    from polyculture.cli.tables import write_values

    for number, listing in enumerate(listings, start=1):
        file = output if output is None or number == 1 else output.with_stem(f"{output.stem}-{number}")
        if output is None and number > 1:
            sys.stdout.write("\n")
        write_values(listing.columns, listing.rows, form, file)
