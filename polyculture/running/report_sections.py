"""The sections of the report: its own, and those of the instruments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyculture.reports.section import Section


def report_sections() -> tuple[Section, ...]:
    """All sections in the order of the page."""
    from polyculture.instruments import INSTRUMENTS
    from polyculture.instruments.contract import loaded
    from polyculture.reports.sections import with_instruments

    return with_instruments([section for each in loaded(INSTRUMENTS) for section in each.sections()])
