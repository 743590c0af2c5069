"""The tables of a paper of `papers.toml`, as `report --paper` writes them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from polyculture.reports.paper_tables.paper import PaperAsked, ReportPaper, WrittenPaper, paper_folder

SHIPPED = Path(__file__).with_name("published.tsv")


def report_paper(name: str) -> ReportPaper:
    """A paper by the name of its command."""
    from polyculture.instruments.papers.paper import papers

    return ReportPaper(name, papers()[name].title, partial(_write, name))


def _write(name: str, asked: PaperAsked) -> WrittenPaper:
    from polyculture.cache.store import open_store
    from polyculture.instruments.papers.paper import ours, papers
    from polyculture.instruments.papers.paper_files import CELLS, write_paper
    from polyculture.instruments.papers.paper_tables import paper_tables
    from polyculture.reports.paper_tables.published import read_published

    paper = papers()[name]
    data = asked.data or paper.data
    cells = [cell for file in (SHIPPED, asked.published) if file for cell in read_published(file)]
    with open_store(asked.run, asked.layout) as store:
        tables = paper_tables(store, paper, data, ours(), asked.seed)
    folder = paper_folder(asked.run, name)
    written = write_paper(folder, paper, data, tables, cells)
    notes = []
    less = sum(any(cell.lacking for cell in table.cells) for table in tables)
    if less:
        notes.append(f"{less} of them lack what the paper's protocol has: column lacking of {folder / CELLS}.csv")
    if not tables:
        notes.append(f"Nothing is measured on {data} yet: polyculture {name} {asked.experiment}")
    return WrittenPaper(folder, len(tables), len(written), tuple(notes))
