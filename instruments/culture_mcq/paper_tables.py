"""`polyculture culture-mcq --table`: the study's tables in their shapes, with its figures beside where we have them.

Of the sheets alone: `questions` (Table 4), `options` (Table 5), `published` (each figure that is kept
here as a row).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from polyculture.instruments.contract import Listing
from polyculture.instruments.culture_mcq.check import CheckRow, check_sheets, written

if TYPE_CHECKING:
    from polyculture.instruments.culture_mcq.model import McqSet
    from polyculture.instruments.cultures.cultures import Cultures

TableName = Literal["questions", "options", "published"]
PAPER = "CultureScope"
_COUNTS = ("questions", "resource questions by level")
_MEAN, _SD = "options per country: mean", "options per country: sd"
_CHECK = (0.43, 5050, 0.39, 1425, 0.0035)  # shares and sizes of the study's own test of H1, and the p that it prints


def sheet_table(name: str, found: McqSet, cultures: Cultures) -> Listing:
    """A table of the sheets alone."""
    rows = list(check_sheets(found, cultures))
    if name == "questions":
        counts = [row for row in rows if row.part in _COUNTS]
        values = [(row.part, row.group, row.found, row.published, row.agrees, row.note) for row in counts]
        return Listing(("questions", "of", "count", "paper", "equal", "note"), values)
    if name == "options":
        return Listing(("options", "countries", "mean ± SD", "paper", "equal"), list(_option_lines(rows)))
    columns = ("paper", "table", "cell", "value", "found", "agrees", "note")
    return Listing(columns, list(_published_cells(rows)))


def _option_lines(rows: Sequence[CheckRow]) -> Iterator[tuple[Any, ...]]:
    """How often a country gives an option: mean ± SD over countries, as the study prints them."""
    deviations = {row.group: row for row in rows if row.part == _SD}
    for mean in (row for row in rows if row.part == _MEAN):
        sd = deviations[mean.group]
        equal = None if mean.agrees is None else bool(mean.agrees and sd.agrees)
        found, paper = _plus_minus(mean.found, sd.found), _plus_minus(mean.published, sd.published)
        yield mean.group, mean.note.partition(" ")[0], found, paper, equal


def _plus_minus(mean: float | None, sd: float | None) -> str | None:
    return None if mean is None else f"{written(mean)} ± {written(sd)}"


def _published_cells(rows: Sequence[CheckRow]) -> Iterator[tuple[Any, ...]]:
    from polyculture.instruments.culture_mcq.significance import two_proportions

    for row in rows:
        if row.published is not None:
            table = "4" if row.part in _COUNTS else "5"
            cell = f"{row.part}: {row.group}"
            yield PAPER, table, cell, written(row.published), written(row.found), row.agrees, row.note
    first, first_size, second, second_size, printed = _CHECK
    _, p = two_proportions(first, first_size, second, second_size)
    written_p = "" if p is None else f"{p:.4f}"
    cell = f"p of H1: {first} of {first_size:,} > {second} of {second_size:,}"
    yield PAPER, None, cell, f"{printed}", written_p, written_p == f"{printed}", "its table is not known here"
