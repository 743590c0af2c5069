"""The report's section on the Cultural Bias Score: a table of scores, and one of contexts asked in two ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FormattedEstimate, count, decimal, estimate, known, lacking, share
from polyculture.reports.section import ReportData, ReportTable, Section
from polyculture.reports.table_section import (
    Column,
    PageTable,
    Row,
    TextCell,
    counted,
    page_table,
    place_label,
    written,
)
from polyculture.reports.texts import section_texts

_FOLDER = Path(__file__).parent
TEXTS, _SCORES, _SCORED = (_FOLDER / name for name in ("section.toml", "bias.sql", "scored.sql"))
RULE = "sum"  # the likelihood that the page shows: Camellia's; the table that it offers has all
SETTINGS = ("grounded", "neutral")  # those of the published data sets come first
DIFFERENCE = "difference"
_PLACE = ("model", "dataset", "form", "language", "culture", "entity_type")


def _scores(data: ReportData, rows: Sequence[Row]) -> PageTable | None:
    """The scores of plain contexts: a line is a place, with its settings side by side. None where none was scored."""
    rows = [row for row in rows if not (row["context_prefix"] or row["phrasing"])]
    if not rows:
        return None
    settings = ordered(SETTINGS, [row["setting"] for row in rows])
    names = [*settings, DIFFERENCE] if any(row["other_setting"] for row in rows) else settings
    sizes = [one for one in _SIZES if one.head != "Incomplete" or any(known(row["incomplete"]) for row in rows)]
    columns = [Column(name.capitalize(), partial(_score, name)) for name in names] + sizes
    places = [list(found) for _, found in groupby(rows, lambda row: tuple(row[name] for name in _PLACE))]
    lines = [{**own[0], "cells": {_column(row): row for row in own}} for own in places]
    caption = f"Cultural Bias Score, rule {section_texts(TEXTS).words['rule']}; with 95 % intervals"
    return page_table(data, lines, columns, title="Cultural Bias Score", caption=caption)


def _column(row: Row) -> str:
    return DIFFERENCE if row["other_setting"] else str(row["setting"])


def _score(name: str, line: Row) -> FormattedEstimate:
    row = line["cells"].get(name)
    return _absent(name) if row is None else _score_cell(row)


def _score_cell(row: Row) -> FormattedEstimate:
    """A score or a difference with its interval."""
    kind = "difference" if row["metric"] == "cbs_difference" else "score"
    without = known(row["lacking"]) or "no_interval"
    return estimate(kind, row["estimate"], row["low"], row["high"], row["p"], without)


def _absent(column: str) -> FormattedEstimate:
    """The reason why there is no score, or no difference."""
    if column == DIFFERENCE:
        return FormattedEstimate(None, None, section_texts(TEXTS).words["no_pairing"])
    return lacking("not_asked")


def _entities(row: Row, side: str) -> str:
    """The number of a side's entities, and per context where contexts differ."""
    every, fewest = row[f"{side}_entities"], known(row[f"{side}_fewest"])
    if fewest is None or fewest == every:
        return count(every)
    return f"{count(every)} ({count(fewest)} to {count(row[f'{side}_most'])} a context)"


def _tied(row: Row) -> str:
    """The pairs of equal likelihood."""
    return f"{count(row['tied'])} of {count(row['pairs'])}" if row["tied"] else "0"


def _of_each(write: Callable[[Row], str]) -> Callable[[Row], str]:
    """A size of a line: where settings differ in it, that of each, in their order."""

    def cell(line: Row) -> str:
        scores = [line["cells"][name] for name in _settings(line)]
        each = [write(row) for row in scores]
        return each[0] if len(set(each)) == 1 else " / ".join(each)

    return cell


def _settings(line: Row) -> Iterable[Any]:
    return ordered(SETTINGS, [name for name in line["cells"] if name != DIFFERENCE])


def _failed(line: Row) -> str:
    """The same in all settings; nothing where the scores themselves are gone."""
    return "" if known(line["failed"]) is None else count(line["failed"])


def _incomplete(line: Row) -> TextCell:
    told = known(line["incomplete"]) or ""
    return TextCell(told, bad=bool(told))


_SIZES = [
    Column("Contexts", _of_each(lambda row: count(row["contexts"])), "of each setting where they differ"),
    Column("Native", _of_each(partial(_entities, side="native"))),
    Column("Western", _of_each(partial(_entities, side="western"))),
    Column("Ties", _of_each(_tied), "pairs of equal likelihood, of all pairs"),
    Column("Failed", _failed, "scores that could not be made"),
    Column("Incomplete", _incomplete, "scores that were asked and are not there: the numbers are of a part"),
    Column(
        "Boundary broken",
        lambda line: share(line["broken_boundaries"], line["scored"]) or "",
        "share of the scores whose first token is part of the context, or changes it",
    ),
]


def _contrasts(data: ReportData, rows: Sequence[Row]) -> PageTable | None:
    """The differences of two ways to ask, beside both sides; None without contexts under two conditions."""
    rows = [row for row in rows if row["plain"] or row["other_phrasing"]]
    if not rows:
        return None
    title = "Cultural Bias Score of contexts asked in two ways"
    return page_table(
        data,
        rows,
        (
            Column("Setting", written("setting"), is_number=False),
            Column("First way", partial(_named, 0), is_number=False),
            Column("Second way", partial(_named, 1), is_number=False),
            Column("First", lambda row: decimal(row["first"], "score"), "over the contexts and entities of both"),
            Column("Second", lambda row: decimal(row["second"], "score"), "over the same"),
            Column("Difference", _score_cell),
            Column("Contexts", counted("contexts")),
        ),
        title=title,
        caption=f"{title}, rule {section_texts(TEXTS).words['rule']}; with 95 % intervals",
        by=(),
        label=_label,
    )


def _label(row: Row, names: Names) -> str:
    return f"{row['dataset']}, {place_label(row, names)}"


def _ways(row: Row) -> tuple[tuple[str | None, str | None], tuple[str | None, str | None]]:
    """The phrasing and the prefix of the first way and of the second."""
    other = (row["phrasing"], None) if row["plain"] else (row["other_phrasing"], row["context_prefix"])
    return (row["phrasing"], row["context_prefix"]), other


def _named(at: int, row: Row) -> str:
    return _way(*_ways(row)[at])


def _way(phrasing: str | None, context_prefix: str | None) -> str:
    return ", ".join(word for word in (phrasing, context_prefix) if word) or "plain"


_MISSING = """
SELECT model, sum(missing)::BIGINT AS missing, sum(asked)::BIGINT AS asked
FROM missing_scores
WHERE language IS NULL
GROUP BY model
HAVING missing > 0
ORDER BY model
"""


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """The numbers of scores, entities and contexts."""

    scores: int
    entities: int
    contexts: int


@dataclass(frozen=True, slots=True)
class CulturalBias:
    """The context of the section; without tables, the scores were not yet turned into numbers."""

    scored: ScoreCounts
    scores: PageTable | None
    contrasts: PageTable | None
    incomplete: tuple[str, ...]  # the models of which scores are missing that were asked, with how many


def _build(data: ReportData) -> CulturalBias | None:
    scored = ScoreCounts(**data.reading.rows(_SCORED)[0])
    if not scored.scores:
        return None
    rows = [row for row in data.reading.lines(_SCORES) if row["rule"] == RULE]
    missing = data.reading.connection.sql(_MISSING).fetchall()
    incomplete = tuple(
        f"{data.names.model(model)}, {missing:,} of {asked:,} scores" for model, missing, asked in missing
    )
    return CulturalBias(scored, _scores(data, rows), _contrasts(data, rows), incomplete)


SECTIONS = (
    Section(
        "probable",
        _build,
        _FOLDER / "section.html.jinja",
        TEXTS,
        tables=(ReportTable(_SCORES),),
    ),
)
