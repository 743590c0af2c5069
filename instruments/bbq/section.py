"""The report's section on multiple choice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    from polyculture.instruments.bbq.choice_tables import ChoiceGroup
    from polyculture.instruments.bbq.multiples import Multiples

_FOLDER = Path(__file__).parent
_CHOICES, _BY_PROMPT = _FOLDER / "multiple_choice.sql", _FOLDER / "by_prompt.sql"
_ANSWERS = _FOLDER / "shown_answers.sql"


@dataclass(frozen=True, slots=True)
class MultipleChoice:
    """The context of the section."""

    groups: tuple[ChoiceGroup, ...]
    multiples: tuple[Multiples, ...]


def _build(data: ReportData) -> MultipleChoice | None:
    from polyculture.instruments.bbq.choice_tables import choice_groups
    from polyculture.instruments.bbq.multiples import multiples

    rows = data.reading.lines(_CHOICES)
    if not rows:
        return None
    groups = choice_groups(rows, data.reading.rows(_ANSWERS), data.names)
    return MultipleChoice(groups, multiples(data.reading.lines(_BY_PROMPT), groups, data.names))


SECTIONS = (
    Section(
        "chosen",
        _build,
        _FOLDER / "section.html.jinja",
        _FOLDER / "section.toml",
        tables=(ReportTable(_CHOICES), ReportTable(_BY_PROMPT)),
        stands_alone=True,
    ),
)
