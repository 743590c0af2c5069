"""Another source's concepts, from a table of tabs that a user gives."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.folding import fold
from polyculture.cache.identity import file_sha256
from polyculture.instruments.cultures.cultures import Cultures

BY_QUESTION, BY_TOPIC = ("question_id", "culture", "concepts"), ("culture", "topic", "concepts")
_SEPARATORS = re.compile(r"[,，、،؛;；|]")
_FORM = f"Give a table of tabs with {', '.join(BY_QUESTION)}, or with {', '.join(BY_TOPIC)}."


@dataclass(frozen=True)
class Source:
    """Concepts by culture and question, or by culture and topic."""

    file: Path
    sha256: str
    by_topic: bool
    concepts: Mapping[tuple[str, str], tuple[str, ...]]  # question id or folded topic, and culture
    rows: int

    @property
    def origin(self) -> str:
        """Where the concepts come from, for the store: the file and what was in it."""
        return f"{self.file.name}, sha256 {self.sha256}"

    def of(self, source_id: str, topic: str | None, culture: str) -> tuple[str, ...]:
        """The concepts that may be shown with a question; none where the table has none."""
        key = fold(topic or "") if self.by_topic else source_id
        return self.concepts.get((key, culture), ())


def read_source(file: Path, cultures: Cultures) -> Source:
    """The concepts of a table (UTF-8, tabs, a header). Raises `DataSetError` that names file, line and remedy."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    count = 0
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE)
            columns = _columns(file, rows.fieldnames or ())
            for count, row in enumerate(rows, 1):
                about, name, concepts = _row(file, count + 1, row, columns)
                known = cultures.country(name)
                found[about, known.country if known else name].update(concepts)
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise DataSetError(f"cannot be read: {fault}", where=file, remedy=f"In UTF-8. {_FORM}") from fault
    if not found:
        raise DataSetError("line 2: there is no row", where=file, remedy=_FORM)
    by_topic = columns == BY_TOPIC
    return Source(file, file_sha256(file), by_topic, {key: tuple(some.values()) for key, some in found.items()}, count)


def check_used(source: Source, asked: Collection[tuple[str, str | None, str]]) -> None:
    """Raises `DataSetError` where no question (id, topic, culture) has concepts in the table."""
    if asked and not any(source.of(*one) for one in asked):
        names = sorted({name for _, name in source.concepts})[:3]
        told = "topic, as only probed BLEnD and --blend tell topics" if source.by_topic else "question_id"
        what = f"line 2: no question that is asked has concepts in it; its first cultures are {', '.join(names)}"
        raise DataSetError(what, where=source.file, remedy=f"Use the questions' own culture and {told}.")


def _columns(file: Path, header: Collection[str]) -> tuple[str, ...]:
    for columns in (BY_QUESTION, BY_TOPIC):
        if set(columns) <= set(header):
            return columns
    missing = [name for name in ("culture", "concepts") if name not in header] or ["question_id or topic"]
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
    told = [" ".join(one.split()) for one in _SEPARATORS.split(cells["concepts"])]
    concepts = {fold(one): one for one in reversed(told) if one}
    if not concepts:
        what = f"line {number}: concepts holds no concept"
        raise DataSetError(what, where=file, remedy="Write concepts between commas.")
    about = fold(cells["topic"]) if columns == BY_TOPIC else cells["question_id"]
    return about, cells["culture"], dict(reversed(concepts.items()))
