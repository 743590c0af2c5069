"""Converts lines of a dump to rows of a snapshot, and counts the lines that give none, with reasons."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from polyculture.link.dumps.dump import LONGEST_LINE
from polyculture.link.entity import NotAnItemError
from polyculture.link.entity_json import Rows

NAMED_LINES = 100  # broken lines that are listed, the first ones; the others are only counted
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # the last one for very deep nesting


@dataclass(slots=True)
class IngestCounts:
    """The counts of some of a dump's lines."""

    items: int = 0
    json_bytes: int = 0
    skipped: int = 0  # properties, lexemes: valid, but no items
    broken: int = 0
    broken_lines: list[tuple[int, str]] = field(default_factory=list)  # line number and reason, of the first ones
    modified: str = ""  # the latest change of an item, which approximates the dump's date

    def add(self, part: IngestCounts) -> None:
        """Adds the counts of other lines of the dump; the order does not matter."""
        self.items += part.items
        self.json_bytes += part.json_bytes
        self.skipped += part.skipped
        self.broken += part.broken
        self.broken_lines = heapq.nsmallest(NAMED_LINES, self.broken_lines + part.broken_lines)
        self.modified = max(self.modified, part.modified)

    def reject(self, line: int, reason: str) -> None:
        """Counts a malformed line; lines come in order."""
        self.broken += 1
        if len(self.broken_lines) < NAMED_LINES:
            self.broken_lines.append((line, reason))


def ingest_lines(lines: Iterable[tuple[int, bytes]], rows: Rows) -> IngestCounts:
    """Adds the items of whole lines, given with their numbers, to `rows`; does not count bytes."""
    counts, before = IngestCounts(), len(rows)
    for number, line in lines:
        entity = line.rstrip(b",\n\r\t ")
        if len(entity) > LONGEST_LINE:
            counts.reject(number, f"has more than {LONGEST_LINE >> 20} MiB")
        elif entity.startswith(b"{") and entity.endswith(b"}"):
            _ingest(entity, number, rows, counts)
        elif entity:
            _ingest_array_line(entity, number, rows, counts)
    counts.items, counts.modified = len(rows) - before, rows.modified
    return counts


def _ingest(entity: bytes, line: int, rows: Rows, counts: IngestCounts) -> None:
    try:
        rows.add_json(entity)
    except NotAnItemError:
        counts.skipped += 1
    except msgspec.ValidationError as fault:
        counts.reject(line, f"not an item: {fault}")
    except _NOT_JSON as fault:
        counts.reject(line, f"not JSON: {fault}")
    except ValueError as fault:
        counts.reject(line, f"not an item: {fault}")


def _ingest_array_line(line: bytes, number: int, rows: Rows, counts: IngestCounts) -> None:
    """Ingests a line with a bracket of the array, or with the whole array."""
    text = line.strip()
    if text.startswith(b"[") and text.endswith(b"]") and len(text) > 1:
        try:
            entities = [bytes(entity) for entity in msgspec.json.decode(text, type=list[msgspec.Raw])]
        except _NOT_JSON as fault:
            counts.reject(number, f"not JSON: {fault}")
            return
    else:
        entities = [text.removeprefix(b"[").removesuffix(b"]").strip(b", \t\r")]
    for entity in filter(None, entities):
        _ingest(entity, number, rows, counts)
