"""What the rooms and the instruments declare, put together: the store's layout, sections of the report."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from polyculture.cache.store.layout import Layout, compose
from polyculture.cache.store.run_folder import RunFolder
from polyculture.instruments import INSTRUMENTS
from polyculture.metrics import METRICS_LAYOUT
from polyculture.reports.sections import with_instruments

if TYPE_CHECKING:
    from polyculture.reports.section import Section

_OTHERS = ("batches", "inventory", "ledger", "report-data", "report-tables")  # folders of a run that are no tables


@cache
def store_layout() -> Layout:
    """Tables and views of the rooms, then those of each instrument."""
    return compose(METRICS_LAYOUT, *(entry.layout for entry in INSTRUMENTS))


def layout_of(run: RunFolder) -> Layout:
    """The tables and views of a run, without those of the instruments of which it has no row."""
    tables = {path.stem for path in run.root.glob("*") if path.is_dir() or path.suffix == ".parquet"}
    if tables <= {*(table.name for table in METRICS_LAYOUT.tables), *_OTHERS}:
        return METRICS_LAYOUT  # no instrument is imported to find out that it has nothing here
    layouts = (entry.layout for entry in INSTRUMENTS)
    return compose(METRICS_LAYOUT, *(one for one in layouts if any(table.name in tables for table in one.tables)))


def report_sections(layout: Layout | None = None) -> tuple[Section, ...]:
    """All sections in the order of the page; those of instruments where the `layout` has tables of any."""
    asked = () if layout == METRICS_LAYOUT else INSTRUMENTS
    return with_instruments([section for entry in asked for section in entry.sections])
