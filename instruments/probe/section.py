"""The report's section on what layers hold: flattening scores as heat maps, diagrams and tables, and items by layer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.instruments.probe.attention.section import SECTION as ATTENTION
from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    import pandas as pd

    from polyculture.instruments.probe.layer_groups import LayerGroup
    from polyculture.reports.table_section import PageTable

_FOLDER = Path(__file__).parent
_MATRIX, _LAYERS = _FOLDER / "flattening_matrix.sql", _FOLDER / "items_by_layer.sql"
_KNOWLEDGE, _ARMS = _FOLDER / "knowledge.sql", _FOLDER / "arms_beside.sql"
_MOST_ROWS = 8_000  # of a table that the page carries: it stays a file that can be mailed


@dataclass(frozen=True, slots=True)
class Layers:
    """The context of the section."""

    groups: tuple[LayerGroup, ...]
    more: int  # groups that are not drawn
    unkept: tuple[str, ...]  # which cultures a filter leaves out whole
    released: bool  # whether layers were replaced as in the published code
    arms: PageTable | None  # controls beside the probe
    knowledge: PageTable | None  # what is said, scored and stored


def _build(data: ReportData) -> Layers | None:
    from polyculture.instruments.probe.arms import unkept_lines
    from polyculture.instruments.probe.layer_groups import layer_groups
    from polyculture.instruments.probe.pair_cells import WORDS
    from polyculture.instruments.probe.tables import arms_table, knowledge_table

    pairs = data.reading.lines(_MATRIX)
    if not pairs:
        return None
    arms = data.reading.lines(_ARMS)
    groups, more = layer_groups(pairs, data.reading.lines(_LAYERS), arms, data.names)
    return Layers(
        groups,
        more,
        tuple(unkept_lines(data.reading.connection, data.names.model)),
        any(row["protocol"] == "released" for row in pairs),
        arms_table(data, arms, WORDS),
        knowledge_table(data, data.reading.lines(_KNOWLEDGE)),
    )


def _whole_groups(frame: pd.DataFrame) -> pd.DataFrame:
    """As many whole groups of rows as a page carries."""
    import pandas as pd

    from polyculture.instruments.probe.layer_groups import exported

    rows = [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
    return frame if len(frame) <= _MOST_ROWS else pd.DataFrame(exported(rows, _MOST_ROWS), columns=frame.columns)


SECTIONS = (
    Section(
        "layers",
        _build,
        _FOLDER / "section.html.jinja",
        _FOLDER / "section.toml",
        tables=(
            ReportTable(_KNOWLEDGE),
            ReportTable(_MATRIX, shortened=_whole_groups),
            ReportTable(_LAYERS, shortened=_whole_groups),
            ReportTable(_ARMS, shortened=_whole_groups),
        ),
    ),
    ATTENTION,
)
