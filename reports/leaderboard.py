"""Leaderboards: a table per task, with a block per language and culture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from polyculture.metrics import METRICS_LAYOUT
from polyculture.reports.names import Names
from polyculture.reports.numbers import FormattedEstimate, Row, count, estimate, known
from polyculture.reports.reading import SQL
from polyculture.reports.section import ReportData
from polyculture.reports.table_section import Column, PageTable, plain_table
from polyculture.reports.texts import texts

_TEXTS = "texts"  # the task of the metrics of texts, whose numbers are over cells
_SIZES = {"contexts": "Contexts", "native_entities": "Native", "western_entities": "Western"}
_BOARD = ("task", "metric", "dataset", "setting", "variant", "goal")


@dataclass(frozen=True, slots=True)
class Board:
    """A task and metric on a data set."""

    title: str
    goal: str
    table: PageTable


def build(data: ReportData) -> tuple[Board, ...] | None:
    """The context of the section; None where no two models have the same metric."""
    # The view takes a fifth of a second to have no row.
    if len(data.manifest.models) < 2 and data.layout == METRICS_LAYOUT:
        return None
    return boards(data.reading.lines(SQL / "leaderboard.sql"), data.board_titles, data.names) or None


def boards(rows: Sequence[Row], titles: Mapping[str, str], names: Names) -> tuple[Board, ...]:
    """The boards from the rows of `sql/leaderboard.sql`; `titles` names them by '<task>.<metric>'."""
    by_board = groupby(rows, lambda row: tuple(row[key] for key in _BOARD))
    return tuple(_board(key, list(found), titles, names) for key, found in by_board)


def _board(key: tuple[str, ...], rows: Sequence[Row], titles: Mapping[str, str], names: Names) -> Board:
    task, metric, dataset, setting, variant, goal = key
    columns = [Column("Rank", _rank), Column("Value", _value)]
    columns += [
        Column("Cells" if task == _TEXTS else head, partial(_size, name))
        for name, head in _SIZES.items()
        if any(known(row[name]) is not None for row in rows)
    ]
    named = f"{texts().metrics[metric].name} of texts" if task == _TEXTS else f"{task}: {metric.replace('_', ' ')}"
    title = titles.get(f"{task}.{metric}", named)
    title = f"{title}; {dataset}, {setting}, {variant}"
    table = plain_table(
        rows, columns, title=title, line_head="Model", label=lambda row: _model(row, names),
        head=lambda row: _where(row, names),
    )  # fmt: skip
    return Board(title, texts().goals[goal], table)


def _model(row: Row, names: Names) -> str:
    name, doubt = names.model(row["model"]), known(row["doubt"])
    return f"{name} ({doubt})" if doubt else name


def _where(row: Row, names: Names) -> str:
    language, culture = row["language"], row["culture"] or "all cultures"
    where = f"{names.language(language)}, {culture}" if language else "All languages and cultures"
    return where if row["same_items"] else f"{where} (on different questions, contexts or entities)"


def _rank(row: Row) -> str:
    """'2', '1 to 3'; empty where no other model has a number, or this one has none."""
    low, high = known(row["rank_low"]), known(row["rank_high"])
    if low is None or known(row["reason"]) is not None:
        return ""
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"


def _value(row: Row) -> FormattedEstimate:
    if (reason := known(row["reason"])) is not None:
        if known(row["failed"]) is None:  # it answered, and its number is withheld
            return FormattedEstimate(None, None, texts().missing.get(reason, reason))
        return FormattedEstimate(None, None, f"all {count(row['failed'])} failed: {reason}")
    # Metrics of texts are formatted as themselves; others are differences or rates.
    kind = {"more": str(row["metric"]), "zero": "difference"}.get(row["goal"], "rate")
    return estimate(kind, row["estimate"], row["low"], row["high"])


def _size(name: str, row: Row) -> str:
    return "–" if known(row[name]) is None else count(row[name])
