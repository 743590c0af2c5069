"""The section of the report with a paper's tables, one's own models above the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.reports.section import ReportData, Section

if TYPE_CHECKING:
    from polyculture.instruments.papers.join import JoinedTable
    from polyculture.reports.table_section import PageTable

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PaperTables:
    """The context of the section."""

    title: str
    tables: tuple[PageTable, ...]


def tables_section(name: str, tables: Sequence[JoinedTable]) -> Section:
    """A section of its own for each paper."""
    build = partial(_build, name, tables)
    return Section(
        f"paper-{name}", build, _FOLDER / "tables.html.jinja", _FOLDER / "tables_section.toml", stands_alone=True
    )


def _build(name: str, tables: Sequence[JoinedTable], _data: ReportData) -> PaperTables | None:
    from polyculture.instruments.datasets.presets import read_preset

    preset = read_preset(name)
    shown = tuple(_page_table(f"{preset.title}, {one.table.name}: {one.table.title}", one) for one in tables)
    return PaperTables(preset.title, shown) if shown else None


def _page_table(title: str, joined: JoinedTable) -> PageTable:
    """One's own rows under their head, then the published ones."""
    from polyculture.instruments.papers.files import grid, unit_of
    from polyculture.instruments.papers.join import Cell
    from polyculture.reports.table_section import Column, Group, Line, PageTable, TextCell

    heads, rows = grid(joined, lambda line: line.protocol, lambda model: f"{model} (published)")
    kept = [place for place, head in enumerate(heads) if place and any(row[place] for row in rows)]
    columns = tuple(Column(heads[place], str, is_number=heads[place] not in ("row", "protocol")) for place in kept)
    lines: dict[str, list[Line]] = {}
    for row in rows:
        label = str(row[0])
        cells = [TextCell(c.text, c.interval) if isinstance(c := row[place], Cell) else TextCell(c) for place in kept]
        published = "Published" if label.endswith("(published)") else "This run"
        lines.setdefault("" if joined.table.across else published, []).append(Line(label, tuple(cells)))
    groups = tuple(Group("", head, tuple(some)) for head, some in lines.items())
    return PageTable(title, f"{title}. {unit_of(joined)}.", heads[0] or "row", columns, groups)
