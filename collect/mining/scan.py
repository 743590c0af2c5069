"""Scans a block of a corpus for hits: a prefilter over the whole block, and the exact search where it matches.

The prefilter is a regular expression over the raw bytes (`collect.mining.written`). RE2's speed does not depend on the
number of patterns. Of JSON only some lines are parsed: lines that may hold a pattern, lines with \\uXXXX escapes, which
the prefilter cannot decode, and lines not between braces.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa

from polyculture.cache.errors import CatalogError
from polyculture.collect.mining.lines import Lines, lines_with_spans
from polyculture.collect.mining.patterns import Edges, PatternSet
from polyculture.collect.mining.slot_extraction import SlotFinder
from polyculture.collect.mining.written import sieve

NAMED_LINES = 20  # broken lines of a block that are listed; the others are only counted
_AUTOMATON = 256 << 20  # bytes; RE2's memory limit, enough for hundreds of patterns
# JSON lines that the prefilter cannot decide: with \uXXXX escapes, or not between braces (broken).
_PARSED_ANYHOW = r"\\u|(?m:^[^{\n\r])|(?m:[^}\n\r]\r?$)"
_COLUMNS: list[tuple[str, pa.DataType]] = [
    ("document", pa.uint64()),
    ("line", pa.uint64()),
    ("place", pa.uint32()),
    ("pattern", pa.uint16()),
    ("context", pa.string()),
    ("keys", pa.list_(pa.string())),
    ("forms", pa.list_(pa.string())),
]
HITS = pa.schema(_COLUMNS)
_Row = tuple[int, int, int, int, str, tuple[str, ...], tuple[str, ...]]


@dataclass(slots=True)
class Scanned:
    """The result of a block. Lines are numbered from 1 within it."""

    text: int = 0  # bytes
    lines: int = 0
    documents: int = 0
    broken: int = 0
    broken_lines: list[tuple[int, str]] = field(default_factory=list)
    hits: pa.Table = field(default_factory=HITS.empty_table)

    def with_hits(self, rows: Sequence[_Row]) -> Scanned:
        """This result with the rows as `hits`."""
        columns = zip(*rows, strict=True) if rows else ([] for _ in HITS)
        arrays = [pa.array(column, column_type) for column, column_type in zip(columns, HITS.types, strict=True)]
        self.hits = pa.Table.from_arrays(arrays, schema=HITS)
        return self

    def reject(self, line: int, reason: str) -> None:
        """Counts a malformed line, which is no document."""
        self.broken += 1
        self.documents -= 1
        if len(self.broken_lines) < NAMED_LINES:
            self.broken_lines.append((line, reason))


class Scanner:
    """Searches blocks of a corpus for the patterns of one language."""

    def __init__(self, chosen: PatternSet, stop_words_at: Edges) -> None:
        patterns, aside = chosen.patterns, chosen.unit == "characters"
        self._in_text = _compiled(sieve(patterns, spaces_aside=aside, json=False))
        self._in_json = _compiled(f"{sieve(patterns, spaces_aside=aside, json=True)}|{_PARSED_ANYHOW}")
        self._finder = SlotFinder(chosen, stop_words_at)

    def scan_json(self, data: bytes, name: str) -> Scanned:
        """Hits in JSON lines, whose text is in the field `name`."""
        lines = Lines(data)
        scanned = Scanned(len(data), len(lines), lines.written())
        rows: list[_Row] = []
        for number, line in lines.matched(self._in_json):
            text = _text_of(line, name)
            if isinstance(text, _Fault):
                scanned.reject(number, text.reason)
            else:
                rows += self._rows(number, text)
        return scanned.with_hits(rows)

    def scan_text(self, data: bytes) -> Scanned:
        """Hits in plain text, of which each line that is not blank is a document."""
        lines = Lines(data)
        scanned = Scanned(len(data), len(lines), lines.written())
        rows: list[_Row] = []
        for number, line in lines.matched(self._in_text):
            try:
                rows += self._rows(number, line.decode().rstrip("\r"))
            except UnicodeDecodeError as fault:
                scanned.reject(number, f"not UTF-8: {fault.reason}")
        return scanned.with_hits(rows)

    def scan_column(self, texts: Iterable[str | None]) -> Scanned:
        """Hits in a column of texts, of which each row is a document. A row without a text is a broken line."""
        scanned = Scanned()
        rows: list[_Row] = []
        for number, text in enumerate(texts, start=1):
            scanned.lines += 1
            scanned.documents += 1
            scanned.text += len((text or "").encode())
            if text is None:
                scanned.reject(number, "has no text")
            else:
                rows += self._rows(number, text)
        return scanned.with_hits(rows)

    def _rows(self, number: int, text: str) -> Iterator[_Row]:
        """The hits in the document of line `number`."""
        data = text.encode()
        document, place = 0, 0
        for line, spans in lines_with_spans(data, self._in_text):
            for hit in self._finder.find(line, spans):
                document = document or _hash(data)
                yield document, number, place, hit.pattern, hit.context, hit.keys, hit.forms
                place += 1


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why a line is malformed."""

    reason: str


def _text_of(line: bytes, name: str) -> str | _Fault:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as fault:
        return _Fault(f"not JSON: {fault}")
    text = row.get(name) if isinstance(row, dict) else None
    return text if isinstance(text, str) else _Fault(f"has no text in {name!r}")


def _compiled(expression: str) -> Any:
    import re2

    options = re2.Options()
    options.max_mem, options.never_capture, options.log_errors = _AUTOMATON, True, False
    try:
        return re2.compile(expression.encode(), options)
    except re2.error as fault:
        raise CatalogError("too many patterns for one pass", remedy="Mine with a part of them at a time.") from fault


def _hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")
