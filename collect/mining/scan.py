"""Scans a block of a corpus for hits: a prefilter over each text, and the exact search where it matches.

The prefilter is a regular expression over the text (`collect.mining.written`). The speed of RE2 does not depend on the
number of patterns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from polyculture.cache.errors import CatalogError
from polyculture.collect.mining.corpus import Block, CorpusFile
from polyculture.collect.mining.lines import lines_with_spans
from polyculture.collect.mining.patterns import Edges, PatternSet
from polyculture.collect.mining.slot_extraction import SlotFinder
from polyculture.collect.mining.texts import NoText, texts_of
from polyculture.collect.mining.written import sieve

NAMED_LINES = 20  # broken lines of a block that are listed; the others are only counted
_AUTOMATON = 256 << 20  # bytes; RE2's memory limit, enough for hundreds of patterns
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
        self._expression = _compiled(sieve(chosen.patterns, spaces_aside=chosen.unit == "characters"))
        self._finder = SlotFinder(chosen, stop_words_at)

    def scan(self, file: CorpusFile, block: Block) -> Scanned:
        """Hits in a block, of which each line that is not blank, or each row, is a document."""
        scanned, rows, last = Scanned(len(block.lines)), list[_Row](), 0
        for last, text in texts_of(file, block):
            scanned.documents += 1
            if isinstance(text, NoText):
                scanned.reject(last, text.reason)
                continue
            data = text.encode()
            scanned.text += 0 if block.lines else len(data)
            rows += self._rows(last, data)
        newlines = block.lines.count(b"\n") + (not block.lines.endswith(b"\n"))
        scanned.lines = newlines if block.lines else last
        return scanned.with_hits(rows)

    def _rows(self, number: int, data: bytes) -> Iterator[_Row]:
        """The hits in the document of line `number`."""
        document, place = 0, 0
        for line, spans in lines_with_spans(data, self._expression):
            for hit in self._finder.find(line, spans):
                document = document or _hash(data)
                yield document, number, place, hit.pattern, hit.context, hit.keys, hit.forms
                place += 1


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
