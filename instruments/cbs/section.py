"""The report's section on the Cultural Bias Score: a line per score, and per difference of two ways to ask."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.reports.numbers import FormattedEstimate, Row, count, estimate, known, share
from polyculture.reports.section import ReportData, ReportTable, Section
from polyculture.reports.table_section import Column, PageTable, TextCell, counted, page_table, written
from polyculture.reports.texts import section_texts

_FOLDER = Path(__file__).parent
TEXTS, SCORES, _SCORED = (_FOLDER / name for name in ("section.toml", "bias.sql", "scored.sql"))
RULE = "sum"  # the likelihood that the page shows: Camellia's; the table that it offers has all


def _score(row: Row) -> FormattedEstimate:
    """A score or a difference with its interval."""
    kind = "difference" if row["metric"] == "cbs_difference" else "score"
    without = known(row["lacking"]) or "no_interval"
    return estimate(kind, row["estimate"], row["low"], row["high"], row["p"], without)


def _entities(row: Row, side: str) -> str:
    """The number of a side's entities, and per context where contexts differ; a difference has none of its own."""
    every, fewest = known(row[f"{side}_entities"]), known(row[f"{side}_fewest"])
    if every is None or fewest is None or fewest == every:
        return "" if every is None else count(every)
    return f"{count(every)} ({count(fewest)} to {count(row[f'{side}_most'])} a context)"


def _tied(row: Row) -> str:
    """The pairs of equal likelihood."""
    tied = known(row["tied"])
    return "" if tied is None else f"{count(tied)} of {count(row['pairs'])}" if tied else "0"


def _failed(row: Row) -> str:
    """The same in all settings; nothing where the scores themselves are gone."""
    return "" if known(row["failed"]) is None else count(row["failed"])


def _incomplete(row: Row) -> TextCell:
    told = known(row["incomplete"]) or ""
    return TextCell(told, bad=bool(told))


_COLUMNS = (
    Column(
        "Contexts",
        written("way"),
        "their setting, phrasing and prefix; of a difference, less the second",
        is_number=False,
    ),
    Column("Score", _score),
    Column("Contexts", counted("contexts")),
    Column("Native", lambda row: _entities(row, "native")),
    Column("Western", lambda row: _entities(row, "western")),
    Column("Ties", _tied, "pairs of equal likelihood, of all pairs"),
    Column("Failed", _failed, "scores that could not be made"),
    Column("Incomplete", _incomplete, "scores that were asked and are not there: the numbers are of a part"),
    Column(
        "Boundary broken",
        lambda row: share(row["broken_boundaries"], row["scored"]) or "",
        "share of the scores whose first token is part of the context, or changes it",
    ),
)


@dataclass(frozen=True, slots=True)
class CulturalBias:
    """The context of the section; without a table, the scores were not yet turned into numbers."""

    entities: int
    contexts: int
    table: PageTable | None


def _build(data: ReportData) -> CulturalBias | None:
    [scored] = data.reading.rows(_SCORED)
    if not scored["scores"]:
        return None
    rows = [row for row in data.reading.lines(SCORES) if row["rule"] == RULE]
    caption = f"Cultural Bias Score, rule {section_texts(TEXTS).words['rule']}; with 95 % intervals"
    table = page_table(data, rows, _COLUMNS, title="Cultural Bias Score", caption=caption) if rows else None
    return CulturalBias(scored["entities"], scored["contexts"], table)


SECTIONS = (Section("probable", _build, _FOLDER / "section.html.jinja", TEXTS, tables=(ReportTable(SCORES),)),)
