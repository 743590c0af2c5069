"""The report's section on swapped entities."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.instruments.swaps.rate_tables import RateTable

_FOLDER = Path(__file__).parent
_RATES = _FOLDER / "swaps.sql"


@dataclass(frozen=True, slots=True)
class SwappedEntities:
    """The context of the section: a table per task."""

    tasks: tuple[RateTable, ...]


def _build(data: ReportData) -> SwappedEntities | None:
    from polyculture.instruments.swaps.rate_tables import rate_tables

    tables = rate_tables(data, data.reading.lines(_RATES))
    return SwappedEntities(tables) if tables else None


SECTIONS = (
    Section(
        "swapped",
        _build,
        _FOLDER / "section.html.jinja",
        _FOLDER / "section.toml",
        tables=(ReportTable(_RATES),),
    ),
)
