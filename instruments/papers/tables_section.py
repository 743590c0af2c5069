"""The section of the report with a paper's tables, one's own models above the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.reports.section import ReportData, Section

if TYPE_CHECKING:
    from polyculture.instruments.papers.join import JoinedTable
    from polyculture.reports.figures.figure import Key, Panel
    from polyculture.reports.table_section import PageTable

_FOLDER = Path(__file__).parent
_TEXTS = _FOLDER / "tables_section.toml"


_NORMALISED = (("kobbq", "figure 3"), ("kobbq", "figure 4"))


@dataclass(frozen=True, slots=True)
class NormalisedFigure:
    """A figure over models, with its legend."""

    title: str
    keys: tuple[Key, ...]
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table of the paper, in parts where it is wider than a page, and what its marks mean."""

    title: str
    parts: tuple[PageTable, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PaperTables:
    """The context of the section."""

    title: str
    tables: tuple[ShownTable, ...]
    figures: tuple[NormalisedFigure, ...] = ()
    without: str = ""  # tables in which no number of the run stands, and what was stopped


def tables_section(name: str, tables: Sequence[JoinedTable], without: Mapping[str, str]) -> Section:
    """A section of its own for each paper."""
    build = partial(_build, name, tables, without)
    return Section(f"paper-{name}", build, _FOLDER / "tables.html.jinja", _TEXTS)


def _build(name: str, tables: Sequence[JoinedTable], without: Mapping[str, str], data: ReportData) -> PaperTables:
    from polyculture.instruments.datasets.presets import read_preset
    from polyculture.instruments.papers.files import notes_of, title_of, with_names

    preset = read_preset(name)
    shown = tuple(_shown_table(title_of(preset, one), with_names(one, data.names.model)) for one in tables)
    figures = tuple(found for one in tables if (name, one.table.name) in _NORMALISED and (found := _figure(one)))
    return PaperTables(preset.title, shown, figures, notes_of(without) if without else "")


def _figure(joined: JoinedTable) -> NormalisedFigure | None:
    from polyculture.instruments.papers.normalised import normalised_panels
    from polyculture.reports.figures.figure import key_of

    series, panels = normalised_panels(joined)
    keys = tuple(key_of(one, number) for number, one in enumerate(series))
    name = joined.table.name
    return NormalisedFigure(f"{name[:1].upper()}{name[1:]}: {joined.table.title}", keys, panels) if panels else None


def _shown_table(title: str, joined: JoinedTable) -> ShownTable:
    """One's own rows under their head, then the published ones."""
    from polyculture.instruments.papers.files import BROAD, PROTOCOL, part_of, shown, unit_of
    from polyculture.instruments.papers.join import Cell
    from polyculture.reports.table_section import Column, Group, Line, PageTable, TextCell

    parts, notes = shown(joined, BROAD)
    told = ". ".join(filter(None, (title, unit_of(joined))))
    pages = []
    for number, part in enumerate(parts, 1):
        kept = range(1, len(part.heads))
        columns = [
            Column(part.heads[at], str, is_number=at >= part.names and part.heads[at] != PROTOCOL) for at in kept
        ]
        lines: dict[str, list[Line]] = {}
        for place, row in enumerate(part.rows):
            own = bool(part.own) and part.own[place]
            cells = [TextCell(c.text, c.interval) if isinstance(c := row[at], Cell) else TextCell(c) for at in kept]
            head = ("This run" if own else "Published") if part.own else ""
            lines.setdefault(head, []).append(Line(str(row[0]), tuple(cells)))
        groups = tuple(Group("", head, tuple(some)) for head, some in lines.items())
        caption = told + part_of(number, parts)
        pages.append(PageTable(caption, caption, part.heads[0] or "row", tuple(columns), groups))
    return ShownTable(told, tuple(pages), notes)
