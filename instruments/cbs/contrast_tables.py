"""Paired differences of Cultural Bias Scores: contexts with and without a prefix, or in two phrasings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from polyculture.instruments.cbs.score_tables import TEXTS, score_cell
from polyculture.reports.names import Names
from polyculture.reports.numbers import FormattedEstimate, lacking
from polyculture.reports.section import ReportData
from polyculture.reports.table_section import Column, PageTable, Row, counted, page_table, place_label, written
from polyculture.reports.texts import section_texts


def contrast_tables(data: ReportData, rows: Sequence[Row]) -> dict[str, PageTable]:
    """A table per rule from the rows of `bias.sql`; none without contexts under two conditions."""
    tables = {}
    for rule, of_rule in groupby(rows, lambda row: row["rule"]):
        own = list(of_rule)
        scores = {_place(row, row["phrasing"], row["context_prefix"]): row for row in own if row["metric"] == "cbs"}
        contrasts = [row for row in own if row["plain"] or row["other_phrasing"]]
        if contrasts:
            tables[rule] = _table(data, rule, contrasts, scores)
    return tables


def _table(data: ReportData, rule: str, rows: Sequence[Row], scores: Mapping[tuple[Any, ...], Row]) -> PageTable:
    title = "Cultural Bias Score of contexts asked in two ways"
    return page_table(
        data,
        rows,
        (
            Column("Setting", written("setting"), is_number=False),
            Column("First way", partial(_named, 0), is_number=False),
            Column("Second way", partial(_named, 1), is_number=False),
            Column("First", partial(_of_way, scores, 0)),
            Column("Second", partial(_of_way, scores, 1)),
            Column("Difference", score_cell),
            Column("Contexts", counted("contexts")),
        ),
        title=f"{title} by {rule}",
        caption=f"{title}, rule {section_texts(TEXTS).words['rules'][rule]}; with 95 % intervals",
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


def _of_way(scores: Mapping[tuple[Any, ...], Row], at: int, row: Row) -> FormattedEstimate:
    return _score(scores.get(_place(row, *_ways(row)[at])))


def _score(row: Row | None) -> FormattedEstimate:
    return score_cell(row) if row else lacking("not_asked")


def _place(row: Row, phrasing: str | None, context_prefix: str | None) -> tuple[Any, ...]:
    place = ("model", "dataset", "form", "language", "culture", "entity_type", "setting")
    return (*(row[name] for name in place), phrasing, context_prefix)


def _way(phrasing: str | None, context_prefix: str | None) -> str:
    return ", ".join(word for word in (phrasing, context_prefix) if word) or "plain"
