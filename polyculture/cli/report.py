"""`polyculture report`: writes one HTML file, and its tables as files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyculture.cli.options import ExperimentFile, Runs

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace


COLUMN = 3.3  # inches: a column of a paper with two


class Tables(StrEnum):
    """The formats of the report's tables beside it."""

    CSV = "csv"
    PARQUET = "parquet"
    LATEX = "latex"


class Figures(StrEnum):
    """The formats of the report's figures. A copy of `reports.figure_files.FigureFormat`."""

    SVG = "svg"
    PDF = "pdf"
    PNG = "png"


class PaperName(StrEnum):
    """The papers whose tables can be written. A copy of `instruments.papers.papers.toml`."""

    CAMELLIA = "camellia"
    CAMEL = "camel"


def report(
    experiment: ExperimentFile,
    runs: Runs = None,
    format: Annotated[
        list[Tables] | None,
        typer.Option("--format", "-f", help="Write the tables with their intervals, too: to report-tables/ beside it."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            help="Write every figure to this folder, too, in the size of a paper's column, with captions.tsv."
        ),
    ] = None,
    figure_format: Annotated[
        list[Figures] | None,
        typer.Option(help="With --figures: svg, pdf or png; give it again for more. Default: svg and pdf."),
    ] = None,
    figure_width: Annotated[
        float | None,
        typer.Option(help="With --figures: inches, at most. Default 3.3, a column; 6.9 for two.", min=1.5, max=40.0),
    ] = None,
    paper: Annotated[
        PaperName | None,
        typer.Option(help="Write a paper's tables in its layout, too, as CSV and LaTeX: rows models, columns types."),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="With --paper: the name of the data set. Default: the paper's own.")
    ] = None,
    published: Annotated[
        Path | None, typer.Option(help="With --paper: published figures of your own beside yours. See docs/papers.md.")
    ] = None,
) -> None:
    """Write report.html from what is in the store.

    With --paper camellia, the paper's tables, from stored scores and answers, by the paper's protocol; published
    figures stand below. No model is asked.

    With --figures, letters are 7 points, in the fonts of this machine; see docs/figures.md.
    """
    from polyculture.experiment.workspace import open_workspace, record_facts, warn_of_changes
    from polyculture.running.pipeline import measure_run, report_run

    if paper is None and (data or published):
        raise typer.BadParameter("--data and --published say what --paper reads: give --paper, too")
    if figures is None and (figure_format or figure_width):
        raise typer.BadParameter("--figure-format and --figure-width say how --figures writes: give --figures, too")
    workspace = open_workspace(experiment, runs)
    record_facts(workspace)
    warn_of_changes(workspace)
    measure_run(workspace.run)
    typer.echo(f"Report: {report_run(workspace.run, workspace.catalog)}")
    if format:
        from polyculture.reports.tables import TableFormat, write_tables
        from polyculture.running.layout import store_layout
        from polyculture.running.report_sections import report_sections

        formats = map(TableFormat, format)
        written = write_tables(workspace.run, formats, workspace.catalog, store_layout(), report_sections())
        typer.echo(f"Tables: {workspace.run.report_tables} ({', '.join(path.name for path in written) or 'no rows'})")
    if figures is not None:
        _write_figures(workspace, figures, figure_format or [Figures.SVG, Figures.PDF], figure_width or COLUMN)
    if paper is not None:
        _write_paper(workspace, paper.value, data, published)


def _write_figures(workspace: Workspace, folder: Path, formats: list[Figures], inches: float) -> None:
    from polyculture.reports.figure_files import FigureFormat, write_figures
    from polyculture.running.layout import store_layout
    from polyculture.running.report_sections import report_sections

    written = write_figures(
        workspace.run, folder, map(FigureFormat, formats), inches, workspace.catalog, store_layout(), report_sections()
    )
    typer.echo(f"Figures: {folder} ({len(written)} files of {', '.join(formats)}, at most {inches:g} inches wide)")


def _write_paper(workspace: Workspace, name: str, data: str | None, published: Path | None) -> None:
    from polyculture.cache.store import open_store
    from polyculture.instruments.papers.paper import ours, papers
    from polyculture.instruments.papers.paper_files import CELLS, write_paper
    from polyculture.instruments.papers.paper_tables import paper_tables, table_folder
    from polyculture.instruments.papers.published import read_published
    from polyculture.running.layout import store_layout

    paper, run = papers()[name], workspace.run
    cells = [*read_published(), *(read_published(published) if published else ())]
    with open_store(run, store_layout()) as store:
        tables = paper_tables(store, paper, data or paper.data, ours(), workspace.experiment.sampling.seed)
    folder = table_folder(run.report_tables, paper)
    written = write_paper(folder, paper, data or paper.data, tables, cells)
    typer.echo(f"{paper.title}: {folder} ({len(tables)} tables, {len(written)} files)")
    less = sum(any(cell.lacking for cell in table.cells) for table in tables)
    if less:
        typer.echo(f"{less} of them lack what the paper's protocol has: column lacking of {folder / CELLS}.csv")
    if not tables:
        typer.echo(f"Nothing is measured on {data or paper.data} yet: polyculture {name} {workspace.file}")
