"""Scans a block of a corpus for hits: the matches of patterns, and the n-grams in their slots."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from polyculture.collect.mining.corpus import Block, CorpusFile
from polyculture.collect.mining.patterns import Edges, PatternSet
from polyculture.collect.mining.slot_extraction import SlotFinder
from polyculture.collect.mining.texts import NoText, texts_of

NAMED_LINES = 20  # broken lines of a block that are listed; the others are only counted
_COLUMNS: list[tuple[str, pa.DataType]] = [
    ("document", pa.uint64()),
    ("line", pa.uint64()),
    ("place", pa.uint32()),
    ("pattern", pa.uint16()),
    ("context", pa.string()),
    ("keys", pa.list_(pa.string())),
    ("forms", pa.list_(pa.string())),
    ("file", pa.string()),
    ("block", pa.uint32()),
]
HITS = pa.schema(_COLUMNS)


@dataclass(slots=True)
class Scanned:
    """How much a block holds. Lines are numbered from 1 within it."""

    read: int = 0  # bytes on disk
    text: int = 0  # bytes of text
    lines: int = 0
    documents: int = 0
    hits: int = 0
    broken: int = 0
    broken_lines: list[tuple[int, str]] = field(default_factory=list)


class Scanner:
    """Searches blocks of a corpus for the patterns of one language."""

    def __init__(self, chosen: PatternSet, stop_words_at: Edges) -> None:
        self._finder = SlotFinder(chosen, stop_words_at)

    def scan(self, file: CorpusFile, block: Block) -> tuple[Scanned, pa.Table]:
        """The hits in a block, of which each line that is not blank, or each row, is a document."""
        scanned, rows, last = Scanned(block.read, len(block.lines)), list[tuple[Any, ...]](), 0
        for last, text in texts_of(file, block):
            if isinstance(text, NoText):
                scanned.broken += 1
                if len(scanned.broken_lines) < NAMED_LINES:
                    scanned.broken_lines.append((last, text.reason))
                continue
            scanned.documents += 1
            scanned.text += 0 if block.lines else len(text.encode())
            rows += [(*row, file.key, block.number) for row in self._rows(last, text)]
        newlines = block.lines.count(b"\n") + (not block.lines.endswith(b"\n"))
        scanned.lines, scanned.hits = newlines if block.lines else last, len(rows)
        columns = zip(*rows, strict=True) if rows else ([] for _ in HITS)
        arrays = [pa.array(column, kind) for column, kind in zip(columns, HITS.types, strict=True)]
        return scanned, pa.Table.from_arrays(arrays, schema=HITS)

    def _rows(self, number: int, text: str) -> Iterator[tuple[Any, ...]]:
        """The hits in the document of line `number`."""
        hits = (hit for line in text.splitlines() for hit in self._finder.find(line))
        document = 0
        for place, hit in enumerate(hits):
            document = document or int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
            yield document, number, place, hit.pattern, hit.context, hit.keys, hit.forms
