"""`polyculture report`: writes one HTML file, and its tables as files."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from polyculture.cache.errors import StoreError
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cli.options import ExperimentFile, Runs
from polyculture.experiment.workspace import Workspace
from polyculture.instruments.datasets.presets import read_preset
from polyculture.instruments.papers.options import NAMES
from polyculture.reports.figure_files import FigureFormat, write_figures
from polyculture.reports.names import Names
from polyculture.reports.section import Section
from polyculture.reports.tables import TableFormat, write_tables
from polyculture.running.changes import warn_of_changes
from polyculture.running.layout import report_sections, store_layout
from polyculture.running.opening import open_workspace
from polyculture.running.results import measure_run, report_copy, report_run
from polyculture.running.validity import record_facts

COLUMN = 3.3  # inches: a column of a paper with two


PaperName = StrEnum("PaperName", {name: name for name in NAMES})  # type: ignore[misc]


def report(
    experiment: ExperimentFile,
    runs: Runs = None,
    format: Annotated[
        list[TableFormat] | None,
        typer.Option(
            "--format", "-f", help="Also write the tables with their intervals, to report-tables/ next to it."
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            help="Write every figure to this folder, too, in the size of a paper's column, with captions.tsv."
        ),
    ] = None,
    figure_format: Annotated[
        list[FigureFormat] | None,
        typer.Option(help="With --figures: svg, pdf or png; give it again for more. Default: svg and pdf."),
    ] = None,
    figure_width: Annotated[
        float | None,
        typer.Option(help="With --figures: inches, at most. Default 3.3, a column; 6.9 for two.", min=1.5, max=40.0),
    ] = None,
    paper: Annotated[
        PaperName | None,
        typer.Option(help="A paper's tables, too, with your models next to its own: in the report, as CSV and LaTeX."),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="With --paper: the data set in the place of the paper's, as own.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write the report to this HTML file, and nothing into the run: it may be read-only."
        ),
    ] = None,
) -> None:
    """Write report.html from what is in the store.

    With --output, the report shows the numbers that are stored. A large report has a folder report-data next to it.

    With --paper, the report has the tables of a paper in its layout, from what is stored: no model is asked. The file
    compared.csv has each printed number next to yours, with the difference and what you asked otherwise.

    With --figures, letters are 7 points, in the fonts of this machine; see docs/publishing.md.
    """
    if paper is None and data:
        raise typer.BadParameter("--data says what --paper reads: give --paper, too")
    if figures is None and (figure_format or figure_width):
        raise typer.BadParameter("--figure-format and --figure-width say how --figures writes: give --figures, too")
    if output is not None and (format or paper):
        raise typer.BadParameter("--format and --paper write into the run, --output does not: leave one out")
    workspace = open_workspace(experiment, runs)
    if output is None:
        _check_writable(workspace.run)
        record_facts(workspace)
    warn_of_changes(workspace)
    if output is None:
        measure_run(workspace.run, workspace.catalog)
        papers = () if paper is None else (_write_paper(workspace, paper.value, data),)
        typer.echo(f"Report: {report_run(workspace.run, workspace.catalog, more=papers)}")
    else:
        typer.echo(f"Report: {report_copy(workspace.run, workspace.catalog, output)}")
    if format:
        written = write_tables(workspace.run, format, workspace.catalog, store_layout(), report_sections())
        typer.echo(f"Tables: {workspace.run.report_tables} ({', '.join(path.name for path in written) or 'no rows'})")
    if figures is not None:
        _write_figures(
            workspace, figures, figure_format or [FigureFormat.SVG, FigureFormat.PDF], figure_width or COLUMN
        )


def _check_writable(run: RunFolder) -> None:
    """Raises `StoreError` for a run that one may only read."""
    if require_run(run) and not os.access(run.root, os.W_OK):
        remedy = "Write the report elsewhere, from the numbers that are stored: add --output report.html."
        raise StoreError("you may not write into the run", where=run.root, remedy=remedy)


def _write_figures(workspace: Workspace, folder: Path, formats: list[FigureFormat], inches: float) -> None:
    written = write_figures(
        workspace.run, folder, formats, inches, workspace.catalog, store_layout(), report_sections()
    )
    typer.echo(f"Figures: {folder} ({len(written)} files of {', '.join(formats)}, at most {inches:g} inches wide)")


def _write_paper(workspace: Workspace, name: str, data: str | None) -> Section:
    """Writes a paper's tables, and returns their section of the report."""
    from polyculture.instruments.papers.files import notes_of, write_paper_tables
    from polyculture.instruments.papers.study import joined_tables
    from polyculture.instruments.papers.tables_section import tables_section

    seed = workspace.experiment.sampling.seed
    tables, without = joined_tables(workspace.run, name, seed, data)
    folder = workspace.run.report_tables / f"paper-{name}"
    names = Names(workspace.catalog, require_run(workspace.run).models)
    written = write_paper_tables(folder, name, tables, names.model)
    typer.echo(f"{read_preset(name).title}: {folder} ({len(tables)} tables, {len(written)} files)")
    if without:
        typer.echo(notes_of(without))
    return tables_section(name, tables, without)
