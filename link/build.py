"""Builds a snapshot from a Wikidata JSON dump, in one streaming pass.

report = build_index(Path("latest-all.json.gz"), Path("wikidata-2026-09.duckdb"), label_languages(catalog))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from cache.catalog import Catalog
from cache.errors import SnapshotError
from link.dump import DumpReader
from link.entity_json import NotAnItemError, Rows
from link.snapshot import Snapshot, Tables, write_snapshot

NAMED_LINES = 100  # broken lines that are named one by one; beyond that they are counted

# Called with the bytes of the dump read so far and its size on disk, every few megabytes.
BuildProgress = Callable[[int, int], None]


@dataclass(slots=True)
class Intake:
    """What became of a dump's lines."""

    items: int = 0
    json_bytes: int = 0
    skipped: int = 0  # properties, lexemes: whole, but no items
    broken: int = 0
    broken_lines: list[tuple[int, str]] = field(default_factory=list)  # line number and reason, the first of them
    modified: str = ""  # the latest change of an item: the date of the dump, as near as the dump itself tells

    def add(self, part: Intake) -> None:
        """Counts a later part of the dump's lines."""
        self.items += part.items
        self.json_bytes += part.json_bytes
        self.skipped += part.skipped
        self.broken += part.broken
        self.broken_lines += part.broken_lines[: NAMED_LINES - len(self.broken_lines)]
        self.modified = max(self.modified, part.modified)

    def reject(self, line: int, reason: str) -> None:
        """Counts a line that cannot be read."""
        self.broken += 1
        if len(self.broken_lines) < NAMED_LINES:
            self.broken_lines.append((line, reason))


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The snapshot that was built, and what became of the dump's lines."""

    snapshot: Snapshot
    intake: Intake


def label_languages(catalog: Catalog) -> frozenset[str]:
    """The Wikidata label languages that any language of the catalogue falls back on."""
    return frozenset(code for language in catalog.languages.values() for code in language.label_languages)


def build_index(
    dump: Path, out: Path, languages: Iterable[str], progress: BuildProgress = lambda _read, _size: None
) -> BuildReport:
    """Builds the snapshot `out` from `dump`: entity JSON, plain or packed, an array or an item a line.

    Names and descriptions in `languages` are kept. A line that cannot be read is counted, with its number and the
    reason, in the report and in the snapshot's meta. Raises `SnapshotError` where the dump is missing, cut, no dump
    or without any item, and leaves no index then; `StoreError` where `out` cannot be written.
    """
    wanted = frozenset(languages)
    reader, intake = DumpReader(dump), Intake()
    batches = _batches(reader, wanted, intake, progress)
    snapshot = write_snapshot(out, wanted, batches, lambda: _provenance(reader, intake))
    return BuildReport(snapshot, intake)


def _batches(
    reader: DumpReader, languages: frozenset[str], intake: Intake, progress: BuildProgress
) -> Iterator[Tables]:
    for first_line, lines in reader.chunks():
        tables, part = read_chunk(first_line, lines, languages)
        intake.add(part)
        yield tables
        progress(reader.read, reader.size)
    if not intake.items:
        remedy = "Give a file of Wikidata's entity JSON: an array with an item a line, or an item a line."
        raise SnapshotError(f"holds no item ({intake.broken} broken lines)", where=reader.path, remedy=remedy)


def read_chunk(first_line: int, lines: Sequence[bytes], languages: frozenset[str]) -> tuple[Tables, Intake]:
    """The rows that some lines of a dump give, and what became of the lines. Depends on nothing else."""
    rows, intake = Rows(languages), Intake()
    for line_number, line in enumerate(lines, first_line):
        _take(line, line_number, rows, intake)
    intake.items = len(rows)
    intake.json_bytes = sum(map(len, lines)) + len(lines)
    intake.modified = rows.modified
    return rows.tables(), intake


def _take(line: bytes, line_number: int, rows: Rows, intake: Intake) -> None:
    text = _unwrap(line)
    if not text:
        return
    try:
        entities = orjson.loads(text)
        for entity in entities if isinstance(entities, list) else [entities]:
            rows.add(entity)
    except NotAnItemError:
        intake.skipped += 1
    except orjson.JSONDecodeError as fault:
        intake.reject(line_number, f"not JSON: {fault}")
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        intake.reject(line_number, f"not an item: {type(fault).__name__}: {fault}")


def _unwrap(line: bytes) -> bytes:
    """The line without what makes it part of an array."""
    text = line.strip().rstrip(b",")
    if text.startswith(b"[") and not text.endswith(b"]"):
        return text[1:].lstrip()
    if text.endswith(b"]") and not text.startswith(b"["):
        return text[:-1].rstrip()
    return text if text not in (b"[", b"]") else b""


def _provenance(reader: DumpReader, intake: Intake) -> dict[str, Any]:
    return {
        "source": {"kind": "dump", "sha256": reader.sha256},
        "file": reader.path.name,
        "bytes": reader.size,
        "json_bytes": intake.json_bytes,
        "modified": intake.modified or None,
        "skipped": intake.skipped,
        "broken": intake.broken,
        "broken_lines": intake.broken_lines,
    }
