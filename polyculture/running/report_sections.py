"""The sections of the report: its own, and those of the instruments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyculture.reports.section import Section


def report_sections() -> tuple[Section, ...]:
    """All sections in the order of the page."""
    from polyculture.instruments.cbs.section import SECTIONS as CBS
    from polyculture.instruments.embeddings.section import SECTIONS as EMBEDDINGS
    from polyculture.instruments.swaps.section import SECTIONS as SWAPS
    from polyculture.reports.sections import with_instruments

    return with_instruments((*CBS, *SWAPS, *EMBEDDINGS))
