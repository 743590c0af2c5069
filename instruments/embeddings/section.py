"""The report's section on hidden states: the separation of two cultures' entities."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.instruments.embeddings.separation_table import SeparationLine
    from polyculture.reports.figures.figure import Key, Panel

_FOLDER = Path(__file__).parent
_SEPARATIONS, _POSITIONS = _FOLDER / "separations.sql", _FOLDER / "entity_positions.sql"


@dataclass(frozen=True, slots=True)
class HiddenStates:
    """The context of the section: the lines of the table, and the maps."""

    lines: tuple[SeparationLine, ...]
    maps: tuple[Panel, ...]
    keys: tuple[Key, ...]  # of the maps


def _build(data: ReportData) -> HiddenStates | None:
    from polyculture.instruments.embeddings.entity_map import KEYS
    from polyculture.instruments.embeddings.separation_table import entity_maps, separation_lines

    lines = separation_lines(data.reading.lines(_SEPARATIONS), data.names)
    return HiddenStates(lines, entity_maps(data.reading.frame(_POSITIONS), data.names), KEYS) if lines else None


SECTIONS = (
    Section(
        "apart",
        _build,
        _FOLDER / "section.html.jinja",
        _FOLDER / "section.toml",
        tables=(ReportTable(_SEPARATIONS), ReportTable(_POSITIONS)),
        stands_alone=True,
    ),
)
