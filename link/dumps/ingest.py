"""What becomes of a dump's lines: rows of a snapshot, or a count and a reason."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from polyculture.link.entity import NotAnItemError
from polyculture.link.entity_json import Rows

NAMED_LINES = 100  # broken lines that are named one by one, the first of them; beyond that they are counted
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # the last of what is nested some thousand deep


@dataclass(slots=True)
class Intake:
    """What became of some of a dump's lines."""

    items: int = 0
    json_bytes: int = 0
    skipped: int = 0  # properties, lexemes: whole, but no items
    broken: int = 0
    broken_lines: list[tuple[int, str]] = field(default_factory=list)  # line number and reason, the first of them
    modified: str = ""  # the latest change of an item: the date of the dump, as near as the dump itself tells

    def add(self, part: Intake) -> None:
        """Counts other lines of the dump, in whatever order they were read."""
        self.items += part.items
        self.json_bytes += part.json_bytes
        self.skipped += part.skipped
        self.broken += part.broken
        self.broken_lines = heapq.nsmallest(NAMED_LINES, self.broken_lines + part.broken_lines)
        self.modified = max(self.modified, part.modified)

    def reject(self, line: int, reason: str) -> None:
        """Counts a line that cannot be read; lines come in order."""
        self.broken += 1
        if len(self.broken_lines) < NAMED_LINES:
            self.broken_lines.append((line, reason))


def take_lines(lines: Iterable[tuple[int, bytes]], rows: Rows) -> Intake:
    """Puts the items of some whole lines, each with its number, into `rows`; their bytes are not counted."""
    intake, before = Intake(), len(rows)
    for number, line in lines:
        entity = line.rstrip(b",\n\r\t ")
        if entity.startswith(b"{") and entity.endswith(b"}"):
            _take(entity, number, rows, intake)
        elif entity:
            _take_part_of_array(entity, number, rows, intake)
    intake.items, intake.modified = len(rows) - before, rows.modified
    return intake


def _take(entity: bytes, line: int, rows: Rows, intake: Intake) -> None:
    try:
        rows.add_json(entity)
    except NotAnItemError:
        intake.skipped += 1
    except msgspec.ValidationError as fault:
        intake.reject(line, f"not an item: {fault}")
    except _NOT_JSON as fault:
        intake.reject(line, f"not JSON: {fault}")
    except ValueError as fault:
        intake.reject(line, f"not an item: {fault}")


def _take_part_of_array(line: bytes, number: int, rows: Rows, intake: Intake) -> None:
    """A line with a bracket of the array, or with all of it."""
    text = line.strip()
    if text.startswith(b"[") and text.endswith(b"]") and len(text) > 1:
        try:
            entities = [bytes(entity) for entity in msgspec.json.decode(text, type=list[msgspec.Raw])]
        except _NOT_JSON as fault:
            intake.reject(number, f"not JSON: {fault}")
            return
    else:
        entities = [text.removeprefix(b"[").removesuffix(b"]").strip(b", \t\r")]
    for entity in filter(None, entities):
        _take(entity, number, rows, intake)
