"""The report's section on swapped entities: a table of rates per task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from polyculture.reports.numbers import FormattedEstimate, count, estimate, known, lacking
from polyculture.reports.section import ReportData, ReportTable, Section
from polyculture.reports.table_section import Column, PageTable, Row, counted, page_table
from polyculture.reports.texts import section_texts

_FOLDER = Path(__file__).parent
TEXTS, _RATES = _FOLDER / "section.toml", _FOLDER / "swaps.sql"
SIDES = ("native", "western", "difference")


@dataclass(frozen=True, slots=True)
class RateTable:
    """All rates of a task."""

    task: str
    table: PageTable


def rate_tables(data: ReportData, rows: Sequence[Row]) -> tuple[RateTable, ...]:
    """A table per task from the rows of `swaps.sql`; none without queried texts."""
    return tuple(
        RateTable(task, _table(data, list(found), section_texts(TEXTS).words["tasks"][task]["name"]))
        for task, found in groupby(rows, lambda row: row["task"])
    )


def _table(data: ReportData, rows: Sequence[Row], name: str) -> PageTable:
    return page_table(
        data,
        rows,
        _COLUMNS,
        title=name,
        caption=f"{name} with swapped entities, with 95 % intervals",
        by=("dataset", "answer_method"),
        head=lambda row: f", {row['dataset']}",
    )


def _cell(side: str, row: Row) -> FormattedEstimate:
    if known(row[side]) is None:
        return lacking("unread_answers" if _asked(row, side) else "not_asked")
    limits = row[f"{side}_low"], row[f"{side}_high"]
    if side == "difference":
        return estimate("difference", row[side], *limits, row["p"])
    return estimate("rate", row[side], *limits)


def _asked(row: Row, side: str) -> bool:
    """Whether texts were asked about, of whose answers none counts."""
    sides = SIDES[:2] if side == "difference" else (side,)
    return all(known(row[f"{one}_asked"]) for one in sides)


def _both(name: str, row: Row) -> str:
    """A number of texts, native + Western; empty in runs that did not count it."""
    sides = [known(row[f"{side}_{name}"]) for side in SIDES[:2]]
    return " + ".join(count(size) for size in sides if size is not None)


_COLUMNS = (
    Column("Contexts, rate", lambda row: f"{row['setting']}, {row['metric'].replace('_', ' ')}", is_number=False),
    *(Column(side.capitalize(), partial(_cell, side)) for side in SIDES),
    Column("Contexts", counted("contexts")),
    Column("Native entities", counted("native_entities"), "native entities that were put into them"),
    Column("Western entities", counted("western_entities"), "Western entities that were put into them"),
    Column("Asked", partial(_both, "asked"), "texts asked about, native + Western"),
    Column("Readable", partial(_both, "readable"), "answers that could be read, native + Western"),
    Column("Right", partial(_both, "right"), "of these, native + Western"),
    Column("Failed", counted("failed"), "answers that could not be read or did not come"),
)


@dataclass(frozen=True, slots=True)
class SwappedEntities:
    """The context of the section: a table per task."""

    tasks: tuple[RateTable, ...]


def _build(data: ReportData) -> SwappedEntities | None:
    tables = rate_tables(data, data.reading.lines(_RATES))
    return SwappedEntities(tables) if tables else None


SECTIONS = (
    Section(
        "swapped",
        _build,
        _FOLDER / "section.html.jinja",
        TEXTS,
        tables=(ReportTable(_RATES),),
    ),
)
