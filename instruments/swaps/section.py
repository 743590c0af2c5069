"""The report's section on swapped entities: a line per rate of a task, with both sides and their difference."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from polyculture.instruments.swaps.layout import NORMALISED
from polyculture.reports.numbers import FormattedEstimate, Row, count, estimate, known, lacking
from polyculture.reports.section import ReportData, ReportTable, Section
from polyculture.reports.table_section import Column, PageTable, counted, page_table
from polyculture.reports.texts import section_texts

_FOLDER = Path(__file__).parent
TEXTS, RATES = _FOLDER / "section.toml", _FOLDER / "swaps.sql"
SIDES = ("native", "western", "difference")


def _cell(side: str, row: Row) -> FormattedEstimate:
    if known(row[side]) is None:
        sides = SIDES[:2] if side == "difference" else (side,)  # asked about, where no answer counts
        return lacking("unread_answers" if all(known(row[f"{one}_asked"]) for one in sides) else "not_asked")
    limits = row[f"{side}_low"], row[f"{side}_high"]
    if side == "difference":
        return estimate("difference", row[side], *limits, row["p"])
    return estimate("rate", row[side], *limits)


def _rate(row: Row) -> str:
    """The metric, with its reading where that is not the first one."""
    reading = known(row["reading"])
    return f"{'' if reading in (None, NORMALISED) else f'{reading} '}{row['metric'].replace('_', ' ')}"


def _both(name: str, row: Row) -> str:
    """A number of texts, native + Western; empty in runs that did not count it."""
    sides = [known(row[f"{side}_{name}"]) for side in SIDES[:2]]
    return " + ".join(count(size) for size in sides if size is not None)


_COLUMNS = (
    Column("Contexts, rate", lambda row: f"{row['setting']}, {_rate(row)}", is_number=False),
    *(Column(side.capitalize(), partial(_cell, side)) for side in SIDES),
    Column("Contexts", counted("contexts")),
    Column("Native entities", counted("native_entities"), "native entities that were put into them"),
    Column("Western entities", counted("western_entities"), "Western entities that were put into them"),
    Column("Asked", partial(_both, "asked"), "texts asked about, native + Western"),
    Column("Readable", partial(_both, "readable"), "answers that could be read, native + Western"),
    Column("Right", partial(_both, "right"), "of these, native + Western"),
    Column("Failed", counted("failed"), "answers that could not be read or did not come"),
)


def _build(data: ReportData) -> PageTable | None:
    rows, said = data.reading.lines(RATES), section_texts(TEXTS)
    if not rows:
        return None
    return page_table(
        data, rows, _COLUMNS, title=said.title, caption="Rates with swapped entities, with 95 % intervals",
        by=("task", "dataset", "answer_method"), head=lambda row: f", {said.words[row['task']]}, {row['dataset']}",
    )  # fmt: skip


SECTIONS = (Section("swapped", _build, _FOLDER / "section.html.jinja", TEXTS, tables=(ReportTable(RATES),)),)
