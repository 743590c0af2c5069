"""Leaderboards: a table per task, with a block per language and culture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from polyculture.metrics import METRICS
from polyculture.reports.figures.by_model import board_figure, line_id, number_kind
from polyculture.reports.figures.figure import Figure
from polyculture.reports.names import Names
from polyculture.reports.numbers import FormattedEstimate, count, estimate, known
from polyculture.reports.reading import SQL
from polyculture.reports.section import ReportData
from polyculture.reports.texts import texts

Row = Mapping[str, Any]
_TEXTS = "texts"  # the task of the metrics of texts, whose numbers are over cells
_SIZES = {"contexts": "Contexts", "native_entities": "Native", "western_entities": "Western"}


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A model with the ranks that are open to it."""

    rank: str
    model: str
    name: str
    estimate: FormattedEstimate
    sizes: tuple[str, ...]  # those of the board's heads
    anchor: str  # its id on the page


@dataclass(frozen=True, slots=True)
class BoardGroup:
    """The models in a language and culture; `same_items`: all rest on the same questions, contexts and entities."""

    label: str
    lines: tuple[BoardLine, ...]
    same_items: bool


@dataclass(frozen=True, slots=True)
class Board:
    """A task and metric on a data set."""

    title: str
    goal: str
    heads: tuple[str, ...]  # of the sizes that any of its models has
    groups: tuple[BoardGroup, ...]
    figure: Figure | None  # None where no model has a number


@dataclass(frozen=True, slots=True)
class Leaderboards:
    """The context of the section."""

    boards: tuple[Board, ...]


def build(data: ReportData) -> Leaderboards | None:
    """The context of the section; None where no two models have the same metric."""
    if len(data.manifest.models) < 2 and data.layout == METRICS:  # the view takes a fifth of a second to have no row
        return None
    found = boards(data.reading.lines(SQL / "leaderboard.sql"), data.board_titles, data.names)
    return Leaderboards(found) if found else None


def boards(rows: Sequence[Row], titles: Mapping[str, str], names: Names) -> tuple[Board, ...]:
    """The boards from the rows of `sql/leaderboard.sql`; none where no two models have the same metric.

    `titles` names boards by '<task>.<metric>'.
    """
    keys = ("task", "metric", "dataset", "setting", "variant", "goal")
    by_board = groupby(rows, lambda row: tuple(row[key] for key in keys))
    return tuple(_board(at, key, list(found), titles, names) for at, (key, found) in enumerate(by_board))


def _board(number: int, key: tuple[str, ...], rows: Sequence[Row], titles: Mapping[str, str], names: Names) -> Board:
    task, metric, dataset, setting, variant, goal = key
    by_place = groupby(rows, lambda row: (row["language"], row["culture"]))
    places = [(_where(place, names), list(found)) for place, found in by_place]
    sizes = [name for name in _SIZES if any(known(row[name]) is not None for row in rows)]
    groups = tuple(_group(number, at, label, found, sizes, names) for at, (label, found) in enumerate(places))
    title = titles.get(f"{task}.{metric}", f"{task}: {metric.replace('_', ' ')}")
    title = f"{title}; {dataset}, {setting}, {variant}"
    heads = tuple("Cells" if task == _TEXTS else _SIZES[name] for name in sizes)
    return Board(title, texts().goals[goal], heads, groups, board_figure(number, title, goal, places, names))


def _where(place: tuple[str | None, str | None], names: Names) -> str:
    language, culture = place
    return (
        "All languages and cultures" if language is None else f"{names.language(language)}, {culture or 'all cultures'}"
    )


def _group(board: int, at: int, label: str, rows: Sequence[Row], sizes: Sequence[str], names: Names) -> BoardGroup:
    lines = tuple(_line(row, line_id(board, at, place), sizes, names) for place, row in enumerate(rows))
    return BoardGroup(label, lines, rows[0]["same_items"])


def _line(row: Row, anchor: str, sizes: Sequence[str], names: Names) -> BoardLine:
    doubt = known(row["doubt"])
    model = (row["model"], f"{names.model(row['model'])} ({doubt})" if doubt else names.model(row["model"]))
    if known(row["reason"]) is not None:  # no answer of it was usable
        failed = FormattedEstimate(None, None, f"all {count(row['failed'])} failed: {row['reason']}")
        return BoardLine("", *model, failed, ("",) * len(sizes), anchor)
    rank = ""  # where no other model has a number
    if known(row["rank_low"]) is not None:
        low, high = int(row["rank_low"]), int(row["rank_high"])
        rank = str(low) if low == high else f"{low} to {high}"
    counts = tuple("–" if known(row[name]) is None else count(row[name]) for name in sizes)
    found = estimate(number_kind(row), row["estimate"], row["low"], row["high"])
    return BoardLine(rank, *model, found, counts, anchor)
