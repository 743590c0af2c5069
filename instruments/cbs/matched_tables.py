"""Cultural Bias Scores of pairs that are alike, for the report: a table per matching and rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from polyculture.instruments.cbs.score_tables import TEXTS, contexts_head
from polyculture.reports.names import Names
from polyculture.reports.numbers import FormattedEstimate, count, decimal, estimate, known, share
from polyculture.reports.section import ReportData
from polyculture.reports.table_section import Column, PageTable, Row, counted, page_table, place_label
from polyculture.reports.texts import section_texts, texts


@dataclass(frozen=True, slots=True)
class MatchedTable:
    """All scores of a matching under a rule."""

    rule: str
    alike: str  # in words
    table: PageTable


def matched_tables(data: ReportData, rows: Sequence[Row]) -> tuple[MatchedTable, ...]:
    """A table per matching and rule from the rows of `matched_pairs.sql`, in their order; none without any."""
    return tuple(
        MatchedTable(rule, (alike := _alike(matched, caliper)), _table(data, list(found), rule, alike))
        for (matched, caliper, rule), found in groupby(
            rows, key=lambda row: (row["matched"], known(row["caliper"]), row["rule"])
        )
    )


def _table(data: ReportData, rows: Sequence[Row], rule: str, alike: str) -> PageTable:
    title = "Cultural Bias Score of pairs that are alike"
    return page_table(
        data,
        rows,
        _COLUMNS,
        title=f"{title}, {alike}, by {rule}",
        caption=f"{title} ({alike}), rule {section_texts(TEXTS).words['rules'][rule]}; with 95 % intervals",
        head=contexts_head,
        label=_label,
    )


def _alike(matched: str, caliper: float | None) -> str:
    said: str = section_texts(TEXTS).words["alike"][matched]
    return said if caliper is None else said.format(caliper=f"{caliper:g}")


def _label(row: Row, names: Names) -> str:
    gender = known(row["gender"])
    return f"{place_label(row, names)}{f', {gender}' if gender else ''}"


def _setting(row: Row) -> str:
    return ", ".join(filter(None, (row["setting"], known(row["phrasing"]))))


def _every(row: Row) -> str:
    """The score over all pairs of the same contexts."""
    return "" if known(row["unmatched"]) is None else decimal(row["unmatched"], "score")


def _contexts(row: Row) -> str:
    return f"{count(row['contexts'])} of {count(row['contexts'] + row['contexts_without'])}"


def _pairs(row: Row) -> str:
    return f"{count(row['pairs'])} of {count(row['all_pairs'])} ({share(row['pairs'], row['all_pairs']) or '–'})"


def _score(row: Row) -> FormattedEstimate:
    """The score with its interval; without one, the reason."""
    why = known(row["lacking"]) or "no_interval"
    if known(row["estimate"]) is None:
        words = section_texts(TEXTS).words["no_match"]
        return FormattedEstimate(None, None, words.get(why) or texts().missing[why])
    return estimate("score", row["estimate"], row["low"], row["high"], None, why)


_COLUMNS = (
    Column("Setting", _setting, is_number=False),
    Column("Pairs that are alike", _score),
    Column("All pairs", _every),
    Column("Contexts", _contexts, "with a pair that is alike"),
    Column("Native", counted("native_entities")),
    Column("Western", counted("western_entities")),
    Column("Pairs that stay", _pairs),
)
