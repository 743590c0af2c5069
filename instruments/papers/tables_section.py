"""The section of the report with a paper's tables in its own layout, one's own models above the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.instruments.datasets.presets import read_preset
from polyculture.instruments.papers.compared import compared_cells
from polyculture.instruments.papers.files import notes_of, with_names
from polyculture.instruments.papers.join import JoinedTable, PaperCell
from polyculture.instruments.papers.marks import RemarkMarks, missing
from polyculture.instruments.papers.normalised import normalised_panels
from polyculture.instruments.papers.readable import title_of, unit_of
from polyculture.reports import table_section as page
from polyculture.reports.figures.figure import key_of
from polyculture.reports.section import ReportData, Section

if TYPE_CHECKING:
    from polyculture.reports.figures.figure import Key, Panel

_FOLDER = Path(__file__).parent
_TEXTS = _FOLDER / "tables_section.toml"
_NORMALISED = (("kobbq", "figure 3"), ("kobbq", "figure 4"))
_SIDES = {True: "This run", False: "Published"}
_EMPTY = page.TextCell("")


@dataclass(frozen=True, slots=True)
class NormalisedFigure:
    """A figure over models, with its legend."""

    title: str
    keys: tuple[Key, ...]
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table of the paper, and what its marks mean."""

    title: str
    table: page.PageTable
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PaperTables:
    """The context of the section."""

    title: str
    tables: tuple[ShownTable, ...]
    figures: tuple[NormalisedFigure, ...] = ()
    without: str = ""  # the tables without a number of the run, and what was stopped


def tables_section(name: str, tables: Sequence[JoinedTable], without: Mapping[str, str]) -> Section:
    """A section of its own for each paper."""
    build = partial(_build, name, tables, without)
    return Section(f"paper-{name}", build, _FOLDER / "tables.html.jinja", _TEXTS)


def _build(name: str, tables: Sequence[JoinedTable], without: Mapping[str, str], data: ReportData) -> PaperTables:
    preset = read_preset(name)
    shown = tuple(_shown_table(title_of(preset, one), with_names(one, data.names.model)) for one in tables)
    figures = tuple(found for one in tables if (name, one.table.name) in _NORMALISED and (found := _figure(one)))
    return PaperTables(preset.title, shown, figures, notes_of(without) if without else "")


def _figure(joined: JoinedTable) -> NormalisedFigure | None:
    series, panels = normalised_panels(joined)
    keys = tuple(key_of(one, number) for number, one in enumerate(series))
    name = joined.table.name
    return NormalisedFigure(f"{name[:1].upper()}{name[1:]}: {joined.table.title}", keys, panels) if panels else None


@dataclass(frozen=True, slots=True)
class _Model:
    """What a table has of a model."""

    name: str  # with its mark
    own: bool
    cells: Mapping[tuple[str, str], page.TextCell]  # by row and column


def _shown_table(title: str, joined: JoinedTable) -> ShownTable:
    """The paper's layout: a line for each model, or a column where the paper has its models there."""
    marks = RemarkMarks()
    models = list(_models(joined, marks))
    rows = list(dict.fromkeys([*(heads.row for _, heads in joined.table.cells), *(line.row for line in joined.lines)]))
    columns = joined.columns
    if joined.table.across:
        heads, groups = _across(models, rows, columns)
    else:
        heads, groups = list(columns), list(_down(models, rows, columns))
    below = any(cell.interval for line in joined.lines for cell in line.cells.values())
    told = ". ".join(filter(None, (title, unit_of(joined), "95 % intervals below" if below else "")))
    label = "row" if joined.table.across or rows != [""] else "model"
    table = page.PageTable(told, told, label, tuple(page.Column(head, str) for head in heads), tuple(groups))
    return ShownTable(told, table, marks.notes)


def _models(joined: JoinedTable, marks: RemarkMarks) -> Iterator[_Model]:
    """The run's models, then the paper's."""
    for model, every in groupby(compared_cells(joined), lambda one: one.model):
        of_model = list(every)
        own = {(one.row, one.column): one.yours for one in of_model if one.yours}
        without = [one.remarks[0] for one in of_model if not one.yours]
        yield _model(model, own, marks, missing(len(of_model), without), own=True)
    published: dict[str, dict[tuple[str, str], PaperCell]] = {}
    for line in joined.lines:
        if not line.own:
            of_line = {(line.row, column): cell for column, cell in line.cells.items()}
            published.setdefault(line.model, {}).update(of_line)
    for model, cells in published.items():
        yield _model(model, cells, marks, (), own=False)


def _model(
    name: str, cells: Mapping[tuple[str, str], PaperCell], marks: RemarkMarks, more: Sequence[str], *, own: bool
) -> _Model:
    whole, each = marks.of([cell.remarks for cell in cells.values()], more)
    shown = {
        place: page.TextCell(f"{cell.text} {mark}".rstrip(), cell.interval)
        for (place, cell), mark in zip(cells.items(), each, strict=True)
    }
    return _Model(f"{name} {whole}".rstrip(), own, shown)


def _down(models: Sequence[_Model], rows: Sequence[str], columns: Sequence[str]) -> Iterator[page.Group]:
    """The run's models and the paper's; where a model has several rows, each model's rows."""

    def line(model: _Model, row: str, label: str) -> page.Line:
        return page.Line(label, tuple(model.cells.get((row, column), _EMPTY) for column in columns))

    if rows == [""]:
        for own, head in _SIDES.items():
            if lines := [line(model, "", model.name) for model in models if model.own == own]:
                yield page.Group("", head, tuple(lines))
        return
    for model in models:
        filled = [row for row in rows if any((row, column) in model.cells for column in columns)]
        yield page.Group(
            "", f"{_SIDES[model.own]}: {model.name}", tuple(line(model, row, row or "all") for row in filled)
        )


def _across(
    models: Sequence[_Model], rows: Sequence[str], columns: Sequence[str]
) -> tuple[list[str], list[page.Group]]:
    """The heads of the columns of each model; and the lines, each of a row of the paper's."""
    places = [
        (model, column)
        for model in models
        for column in columns
        if any((row, column) in model.cells for row in rows) or not model.cells
    ]
    heads = [f"{model.name}{'' if model.own else ' (published)'} {column}".rstrip() for model, column in places]
    lines = [page.Line(row, tuple(model.cells.get((row, column), _EMPTY) for model, column in places)) for row in rows]
    return heads, [page.Group("", "", tuple(lines))]
