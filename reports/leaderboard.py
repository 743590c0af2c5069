"""Leaderboards: a table per task, with a block per language and culture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from polyculture.reports.names import Names
from polyculture.reports.numbers import FormattedEstimate, count, estimate, known
from polyculture.reports.texts import texts

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A model with the ranks that its interval leaves open."""

    rank: str
    model: str
    name: str
    estimate: FormattedEstimate
    sizes: tuple[str, ...]  # contexts, native and Western entities


@dataclass(frozen=True, slots=True)
class BoardGroup:
    """The models in a language and culture; `same_items`: all have the same numbers of contexts and entities."""

    label: str
    lines: tuple[BoardLine, ...]
    same_items: bool


@dataclass(frozen=True, slots=True)
class Board:
    """A task and metric on a data set."""

    title: str
    goal: str
    groups: tuple[BoardGroup, ...]


@dataclass(frozen=True, slots=True)
class Leaderboards:
    """The context of the section."""

    boards: tuple[Board, ...]


def boards(rows: Sequence[Row], titles: Mapping[str, str], names: Names) -> tuple[Board, ...]:
    """The boards from the rows of `sql/leaderboard.sql`; none where no two models have the same metric.

    `titles` names boards by '<task>.<metric>'.
    """
    keys = ("task", "metric", "dataset", "setting", "variant", "goal")
    by_board = groupby(rows, lambda row: tuple(row[key] for key in keys))
    return tuple(_board(key, list(found), titles, names) for key, found in by_board)


def _board(key: tuple[str, ...], rows: Sequence[Row], titles: Mapping[str, str], names: Names) -> Board:
    task, metric, dataset, setting, variant, goal = key
    places = groupby(rows, lambda row: (row["language"], row["culture"]))
    groups = tuple(_group(place, list(found), names) for place, found in places)
    label = titles.get(f"{task}.{metric}", f"{task}: {metric.replace('_', ' ')}")
    return Board(f"{label}; {dataset}, {setting}, {variant}", texts().goals[goal], groups)


def _group(place: tuple[str | None, str | None], rows: Sequence[Row], names: Names) -> BoardGroup:
    language, culture = place
    where = "All languages and cultures" if language is None else f"{names.language(language)}, {culture or 'all'}"
    return BoardGroup(where, tuple(_line(row, names) for row in rows), rows[0]["same_items"])


def _line(row: Row, names: Names) -> BoardLine:
    model = (row["model"], names.model(row["model"]))
    if known(row["reason"]) is not None:  # no answer of it was usable
        failed = FormattedEstimate(None, None, f"all {count(row['failed'])} failed: {row['reason']}")
        return BoardLine("", *model, failed, ("", "", ""))
    low, high = int(row["rank_low"]), int(row["rank_high"])
    rank = str(low) if low == high else f"{low} to {high}"
    sizes = tuple(count(row[name]) for name in ("contexts", "native_entities", "western_entities"))
    kind = "difference" if row["goal"] == "zero" else "rate"
    found = estimate(kind, row["estimate"], row["low"], row["high"])
    return BoardLine(rank, *model, found, sizes)
