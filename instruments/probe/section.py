"""The report's section: what layers hold, as heat maps, flows, tables and items by layer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.instruments.probe.arms import unkept_lines
from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.instruments.probe.layer_groups import LayerGroup
    from polyculture.reports.table_section import PageTable

_FOLDER = Path(__file__).parent
_MATRIX, _LAYERS = _FOLDER / "flattening_matrix.sql", _FOLDER / "items_by_layer.sql"
_KNOWLEDGE, _ARMS = _FOLDER / "knowledge.sql", _FOLDER / "arms_beside.sql"


@dataclass(frozen=True, slots=True)
class LayersContext:
    """The context of the section."""

    groups: tuple[LayerGroup, ...]
    more: int  # groups that are not drawn
    unkept: tuple[str, ...]  # which cultures a filter leaves out whole
    released: bool  # whether layers were replaced as in the published code
    arms: PageTable | None  # controls beside the probe
    knowledge: PageTable | None  # what is said, scored and stored


def _build(data: ReportData) -> LayersContext | None:
    from polyculture.instruments.probe.layer_groups import WORDS, layer_groups
    from polyculture.instruments.probe.tables import arms_table, knowledge_table

    pairs = data.reading.lines(_MATRIX)
    if not pairs:
        return None
    arms = data.reading.lines(_ARMS)
    groups, more = layer_groups(pairs, data.reading.lines(_LAYERS), arms, data.names)
    return LayersContext(
        groups,
        more,
        tuple(unkept_lines(data.reading.store, data.names.model)),
        any(row["protocol"] == "released" for row in pairs),
        arms_table(data, arms, WORDS),
        knowledge_table(data, data.reading.lines(_KNOWLEDGE)),
    )


SECTIONS = (
    Section(
        "layers",
        _build,
        _FOLDER / "section.html.jinja",
        _FOLDER / "section.toml",
        tables=tuple(map(ReportTable, (_KNOWLEDGE, _MATRIX, _LAYERS, _ARMS))),
    ),
)
