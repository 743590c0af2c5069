"""Models by task and language: a table per task, in it a block per language and culture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from polyculture.reports.names import Names
from polyculture.reports.numbers import Estimate, count, estimate, known
from polyculture.reports.texts import words

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A model with the ranks that its interval leaves open."""

    rank: str
    model: str
    name: str
    estimate: Estimate
    sizes: tuple[str, ...]  # contexts, native and Western entities


@dataclass(frozen=True, slots=True)
class BoardGroup:
    """The models in one language and culture; `same_items` is whether all rest on as many contexts and entities."""

    label: str
    lines: tuple[BoardLine, ...]
    same_items: bool


@dataclass(frozen=True, slots=True)
class Board:
    """A task and metric on a data set."""

    title: str
    goal: str
    groups: tuple[BoardGroup, ...]


def boards(rows: Sequence[Row], names: Names) -> list[Board]:
    """The boards from the rows of `sql/leaderboard.sql`; none where no two models were measured alike."""
    keys = ("task", "metric", "dataset", "setting", "variant", "goal")
    return [_board(key, list(found), names) for key, found in groupby(rows, lambda row: tuple(row[k] for k in keys))]


def _board(key: tuple[str, ...], rows: Sequence[Row], names: Names) -> Board:
    task, metric, dataset, setting, variant, goal = key
    places = groupby(rows, lambda row: (row["language"], row["culture"]))
    groups = tuple(_group(place, list(found), names) for place, found in places)
    label = words().boards.get(f"{task}.{metric}", f"{task}: {metric.replace('_', ' ')}")
    return Board(f"{label}; {dataset}, {setting}, {variant}", words().goals[goal], groups)


def _group(place: tuple[str | None, str | None], rows: Sequence[Row], names: Names) -> BoardGroup:
    language, culture = place
    where = "All languages and cultures" if language is None else f"{names.language(language)}, {culture or 'all'}"
    return BoardGroup(where, tuple(_line(row, names) for row in rows), rows[0]["same_items"])


def _line(row: Row, names: Names) -> BoardLine:
    model = (row["model"], names.model(row["model"]))
    if known(row["reason"]) is not None:  # nothing of it could be used
        failed = Estimate(None, None, f"all {count(row['failed'])} failed: {row['reason']}")
        return BoardLine("", *model, failed, ("", "", ""))
    low, high = int(row["rank_low"]), int(row["rank_high"])
    rank = str(low) if low == high else f"{low} to {high}"
    sizes = tuple(count(row[name]) for name in ("contexts", "native_entities", "western_entities"))
    signed = "cbs_difference" if row["goal"] == "zero" else "cbs"
    found = estimate(signed, row["estimate"], row["low"], row["high"])
    return BoardLine(rank, *model, found, sizes)
