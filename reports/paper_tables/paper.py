"""What the front door asks of a paper, and what it gets back: `report --paper NAME` knows no more of any.

Importing this module loads nothing heavy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyculture.cache.catalog import Catalog
    from polyculture.cache.layout import Layout
    from polyculture.cache.run_folder import RunFolder


@dataclass(frozen=True)
class PaperAsked:
    """A run whose numbers are asked for in a paper's layout."""

    run: RunFolder
    layout: Layout  # the store's tables and views
    catalog: Catalog
    experiment: Path
    seed: int
    data: str | None = None  # a data set other than the paper's own
    published: Path | None = None  # a user's table of published figures


@dataclass(frozen=True)
class WrittenPaper:
    """What was written, and lines for the terminal on what it lacks."""

    folder: Path
    tables: int
    files: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportPaper:
    """A paper whose tables can be written from what is stored. `write` asks no model."""

    name: str  # of the option, and of the folder: `paper-<name>`
    title: str
    write: Callable[[PaperAsked], WrittenPaper]
    of_data_set: bool = True  # it measures a data set; the study measures texts


def paper_folder(run: RunFolder, name: str) -> Path:
    """Where a paper's tables are written."""
    return run.report_tables / f"paper-{name}"
