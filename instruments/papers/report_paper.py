"""The tables of a paper of `papers.toml`, as `report --paper` writes them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from polyculture.instruments import command_line
from polyculture.reports.paper_tables.paper import PaperAsked, ReportPaper, WrittenPaper, paper_folder

if TYPE_CHECKING:
    from polyculture.published.cells import PublishedCell

# Sentiments are printed as counts on sets whose sizes do not follow from the paper's contexts: no run has the like.
_COMPARED = ("cbs", "qa", "embeddings")
_KNOWN = {"gender", "form", "side"}  # facets that the tables here tell apart


def report_paper(name: str) -> ReportPaper:
    """A paper by the name of its command."""
    from polyculture.instruments.papers.paper import papers

    return ReportPaper(name, papers()[name].title, partial(_write, name))


def _write(name: str, asked: PaperAsked) -> WrittenPaper:
    from polyculture.cache.store import open_store
    from polyculture.instruments.papers.paper import papers
    from polyculture.instruments.papers.paper_files import CELLS, write_paper
    from polyculture.instruments.papers.paper_tables import paper_tables
    from polyculture.published.cells import published, read_published

    paper = papers()[name]
    data = asked.data or paper.data
    own = read_published(asked.published) if asked.published else ()
    printed = [cell for cell in published(name) if cell.dataset == data and compared(cell)]
    with open_store(asked.run, asked.layout) as store:
        tables = paper_tables(store, paper, data, asked.seed)
    folder = paper_folder(asked.run, name)
    written = write_paper(folder, paper, data, tables, own, printed)
    notes = []
    less = sum(any(cell.lacking for cell in table.cells) for table in tables)
    if less:
        notes.append(f"{less} of them lack what the paper's protocol has: column lacking of {folder / CELLS}.csv")
    if not tables:
        notes.append(f"Nothing is measured on {data} yet: {command_line(name)} {asked.experiment}")
    return WrittenPaper(folder, len(tables), len(written), tuple(notes))


def compared(cell: PublishedCell) -> bool:
    """Whether a table of ours has such a number: not those of pronouns, nor sizes of differences."""
    told = cell.in_numbers and cell.measure in _COMPARED and cell.table != "text"
    return told and cell.facets.keys() <= _KNOWN and cell.facets.get("side") != "absolute_difference"
