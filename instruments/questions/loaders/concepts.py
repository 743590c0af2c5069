"""Another source's concepts, from a table of tabs that a user gives: by question, by topic, or by culture alone."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.folding import fold
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.probe.splitting import separators

BY_QUESTION, BY_TOPIC = ("question_id", "culture", "concepts"), ("culture", "topic", "concepts")
BY_CULTURE = ("culture", "concepts")
_FORM = f"Give a table of tabs with {', '.join(BY_CULTURE)}, and question_id or topic where concepts have one."


@dataclass(frozen=True)
class Source:
    """Concepts by culture and question, by culture and topic, or by culture."""

    file: Path
    columns: tuple[str, ...]
    concepts: Mapping[tuple[str, str], tuple[str, ...]]  # question id, folded topic or nothing, and culture

    def of(self, question_id: str, topic: str | None, culture: str) -> tuple[str, ...]:
        """The concepts that may be shown with a question; none where the table has none."""
        keys = {BY_QUESTION: question_id, BY_TOPIC: fold(topic or ""), BY_CULTURE: ""}
        return self.concepts.get((keys[self.columns], culture), ())

    def check_used(self, asked: Collection[tuple[str, str | None, str]]) -> None:
        """Raises `DataSetError` where no question (id, topic, culture) has concepts in the table."""
        if asked and not any(self.of(*one) for one in asked):
            names = sorted({name for _, name in self.concepts})[:3]
            told = (
                "topic, as only probed BLEnD and BLEnD's folder tell topics"
                if self.columns == BY_TOPIC
                else "question_id"
            )
            what = f"line 2: no question that is asked has concepts in it; its first cultures are {', '.join(names)}"
            raise DataSetError(what, where=self.file, remedy=f"Use the questions' own culture and {told}.")


def read_source(file: Path, cultures: Cultures) -> Source:
    """The concepts of a table (UTF-8, tabs, a header). Raises `DataSetError` that names file, line and remedy."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE)
            columns = _columns(file, rows.fieldnames or ())
            for number, row in enumerate(rows, 2):
                about, name, concepts = _row(file, number, row, columns)
                known = cultures.country(name)
                found[about, known.country if known else name].update(concepts)
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise DataSetError(f"cannot be read: {fault}", where=file, remedy=f"In UTF-8. {_FORM}") from fault
    if not found:
        raise DataSetError("line 2: there is no row", where=file, remedy=_FORM)
    return Source(file, columns, {key: tuple(some.values()) for key, some in found.items()})


def _columns(file: Path, header: Collection[str]) -> tuple[str, ...]:
    for columns in (BY_QUESTION, BY_TOPIC, BY_CULTURE):
        if set(columns) <= set(header):
            return columns
    missing = [name for name in BY_CULTURE if name not in header]
    raise DataSetError(f"line 1: has no column {', '.join(missing)}", where=file, remedy=_FORM)


def _row(
    file: Path, number: int, row: Mapping[str, Any], columns: tuple[str, ...]
) -> tuple[str, str, Mapping[str, str]]:
    """What a row is about, its culture, and its concepts by what they are folded."""
    cells = {name: (row.get(name) or "").strip() for name in columns}
    empty = [name for name in columns if not cells[name]]
    if empty or None in row:
        what = f"line {number}: {empty[0]} is empty" if empty else f"line {number} has more cells than the header"
        raise DataSetError(what, where=file, remedy="Give every row its three cells, concepts between commas.")
    told = [" ".join(one.split()) for one in separators().split(cells["concepts"])]
    concepts = {fold(one): one for one in reversed(told) if one}
    if not concepts:
        what = f"line {number}: concepts holds no concept"
        raise DataSetError(what, where=file, remedy="Write concepts between commas.")
    return (
        fold(cells.get("topic", "")) or cells.get("question_id", ""),
        cells["culture"],
        dict(reversed(concepts.items())),
    )
