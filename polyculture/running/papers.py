"""The papers whose tables `report --paper` writes: the study's, and those of the instruments' commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyculture.reports.paper_tables.paper import ReportPaper


def report_papers() -> Mapping[str, ReportPaper]:
    """All papers by name."""
    from polyculture.instruments import INSTRUMENTS
    from polyculture.instruments.contract import loaded
    from polyculture.reports.paper_tables.makieval import STUDY

    commands = (command for each in loaded(INSTRUMENTS) for command in each.commands.values())
    found = (STUDY, *(command.paper() for command in commands if command.paper))
    return {paper.name: paper for paper in found}
