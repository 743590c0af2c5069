"""Scans a block of a corpus for hits: the matches of patterns, and the n-grams in their slots."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import ahocorasick
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from polyculture.cache.text.folding import fold_with_offsets, is_composing
from polyculture.collect.mining.corpus import Block, CorpusFile, NoText, texts_of
from polyculture.collect.mining.patterns import Pattern, PatternSet
from polyculture.collect.mining.slot_extraction import SlotFinder

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
class ScannedBlock:
    """How much a block holds. Lines are numbered from 1 within it."""

    read: int = 0  # bytes on disk
    text: int = 0  # bytes of text
    lines: int = 0
    documents: int = 0
    hits: int = 0
    broken: int = 0
    broken_lines: list[tuple[int, str]] = field(default_factory=list)


class Sieve:
    """Tells texts that hold no pattern from others, at several times the speed of the exact search.

    It folds letter by letter and leaves out blanks, which may let through too much, never too little: a text with marks
    that compose, or with a letter that becomes several of a pattern's, is let through.
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        anchors = {(pattern.before or pattern.after).replace(" ", "") for pattern in patterns}
        table, several = _folded_letters()
        self.table = table.copy()
        for code, folded in several.items():
            self.table[code] = _OTHER if set(folded).isdisjoint("".join(anchors)) else _ODD
        self._ascii = {code: chr(letter) if letter else None for code, letter in enumerate(self.table[:128].tolist())}
        self._automaton = ahocorasick.Automaton()
        for anchor in anchors:
            self._automaton.add_word(anchor, anchor)
        self._automaton.make_automaton()

    def lets_through(self, text: str) -> bool:
        """Whether a text may hold a pattern."""
        if text.isascii():
            return next(self._automaton.iter(text.translate(self._ascii)), None) is not None
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        letters = self.table[np.minimum(points, _POINTS - 1)]
        if (letters == _ODD).any():
            return True
        folded = letters[letters > 0].tobytes().decode("utf-32-le", "surrogatepass")
        return next(self._automaton.iter(folded), None) is not None


_POINTS = 0x30000  # letters that change stand below
_ODD, _OTHER = 0xE000, 0xE001  # private use: a letter that becomes several, a mark; what no pattern holds
# Blocks of letters that fold to themselves: unified Chinese characters, Korean syllables; surrogates and private use.
_PLAIN = ((0x3400, 0xA000), (0xAC00, 0xD7A4), (0xD800, 0xF900), (0x17000, 0x1B000), (0x20000, 0x2F800))


@cache
def _folded_letters() -> tuple[NDArray[np.uint32], dict[int, str]]:
    """The folded letter of each code point, 0 where none is left; and those that become several letters."""
    table, several = np.arange(_POINTS, dtype=np.uint32), dict[int, str]()
    table[0xE000:0xF900] = _OTHER
    starts = [0, *(end for _, end in _PLAIN)]
    for first, last in zip(starts, (*(start for start, _ in _PLAIN), _POINTS), strict=True):
        for code in range(first, last):
            folded = fold_with_offsets(chr(code)).text.replace(" ", "")
            if len(folded) > 1:
                several[code] = folded
            table[code] = _ODD if is_composing(chr(code)) else ord(folded[0]) if folded else 0
    return table, several


class Scanner:
    """Searches blocks of a corpus for the patterns of one language."""

    def __init__(self, chosen: PatternSet) -> None:
        self._sieve = Sieve(chosen.patterns)
        self._finder = SlotFinder(chosen)

    def scan(self, file: CorpusFile, block: Block) -> tuple[ScannedBlock, pa.Table]:
        """The hits in a block, of which each line that is not blank, or each row, is a document."""
        scanned, rows, last = ScannedBlock(block.read, len(block.lines)), list[tuple[Any, ...]](), 0
        for last, text in texts_of(file, block):
            if isinstance(text, NoText):
                scanned.broken += 1
                if len(scanned.broken_lines) < NAMED_LINES:
                    scanned.broken_lines.append((last, text.reason))
                continue
            scanned.documents += 1
            scanned.text += 0 if block.lines else len(text.encode())
            if not self._sieve.lets_through(text):
                continue
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
