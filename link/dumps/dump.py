"""Reads the lines of a Wikidata JSON dump: plain or compressed; an array with an item per line, or an item per line.

The format: https://www.wikidata.org/wiki/Wikidata:Database_download
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import orjson

from polyculture.cache.errors import SnapshotError
from polyculture.link.dumps.unpack import HashedFile, PackedError, unpacked

FORM = (
    "Give a file of Wikidata's entity JSON: an array with an item per line, or an item per line, in UTF-8;"
    " plain, or packed with gzip, bzip2 or Zstandard."
)
_MARK = b"\xef\xbb\xbf"  # a byte order mark, before the first line
_NEWLINE = ord("\n")
LONGEST_LINE = 32 << 20  # bytes; Wikidata's longest item has some four million
_REMEDY = "Download it again, or the rest of it: a truncated dump would give a smaller index that looks complete."


class ChangedDumpError(Exception):
    """The dump differs from the one that was read before."""


@dataclass(frozen=True, slots=True)
class DumpPosition:
    """A position in a dump, after whole lines."""

    line: int = 1  # number of the next line
    offset: int = 0  # its offset, in bytes of JSON
    read: int = 0  # bytes of the file read so far
    sha256: str = ""  # of these bytes


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some whole lines of a dump, and the position after them."""

    line: int  # number of the first line, from 1
    text: bytes
    end: DumpPosition


class DumpReader:
    """One pass over a dump, from `start` on; everything before is only decompressed.

    `read` bytes of `size` are consumed so far; `sha256` is of the whole file once all are. Raises `SnapshotError` for
    a file that is missing, is no dump, or ends too early; `ChangedDumpError` where it differs before `start`.
    """

    def __init__(self, path: Path, start: DumpPosition | None = None) -> None:
        self.path, self._start = path, start or DumpPosition()
        try:
            self._file = HashedFile(path, self._start.read)
        except OSError as fault:
            raise SnapshotError(f"cannot be read: {fault.strerror}", where=path, remedy="Check the path.") from fault
        if start and (self._file.hashed, self._file.sha256) != (start.read, start.sha256):
            self._file.close()
            raise ChangedDumpError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def size(self) -> int:
        return self._file.size

    @property
    def read(self) -> int:
        return max(self._file.position, self._start.read)

    @property
    def sha256(self) -> str:
        return self._file.sha256

    def chunks(self) -> Iterator[Chunk]:
        """Yields all lines from the start on, including blank ones."""
        line, rest, last, opening = self._start.line, b"", b"", b""
        offset = 0  # of `rest`, in the JSON
        for block in self._blocks():
            opening = opening or self._opening(block)
            text = rest + block
            behind = min(len(text), max(0, self._start.offset - offset))
            # The last line is held back: it shows whether the dump is complete, also where it was read before.
            begin = text.rfind(b"\n", 0, len(text.rstrip())) + 1
            last = text[begin:] if text.strip() else last
            kept = max(behind, begin)
            rest, offset = text[kept:], offset + kept
            if kept > behind:
                chunk = self._chunk(line, text[behind:kept], offset)
                line = chunk.end.line
                yield chunk
        self._check_end(last, opening)
        if rest:
            yield self._chunk(line, rest, offset + len(rest))

    def _chunk(self, line: int, text: bytes, end: int) -> Chunk:
        # Four times as fast as bytes.count; one process counts for all readers.
        lines = int(np.count_nonzero(np.frombuffer(text, np.uint8) == _NEWLINE))
        return Chunk(line, text, DumpPosition(line + lines, end, self._file.hashed, self._file.sha256))

    def _blocks(self) -> Iterator[bytes]:
        try:
            blocks = bounded(unpacked(self._file))
            yield next(blocks, b"").removeprefix(_MARK)
            yield from blocks
        except PackedError as fault:
            raise SnapshotError(str(fault), where=self.path, remedy=_REMEDY) from fault
        except OSError as fault:
            raise SnapshotError(f"cannot be read: {fault}", where=self.path, remedy="Check the disk.") from fault

    def _opening(self, head: bytes) -> bytes:
        first = head.lstrip()[:1]
        if first not in (b"", b"[", b"{"):
            raise SnapshotError("is not a Wikidata JSON dump", where=self.path, remedy=FORM)
        return first

    def _check_end(self, line: bytes, opening: bytes) -> None:
        last = line.strip()
        entity = last.removesuffix(b",").rstrip()  # a fragment of an array has commas, but no bracket
        if not opening:
            raise SnapshotError("is empty", where=self.path, remedy=_REMEDY)
        if len(last) > LONGEST_LINE:
            raise SnapshotError(f"its last line has more than {LONGEST_LINE >> 20} MiB", where=self.path, remedy=FORM)
        whole = _closes_array(last) if opening == b"[" else line.endswith(b"\n") or _is_json(entity)
        if not whole:
            raise SnapshotError(
                "ends too early: its last line is truncated, or the closing bracket of the array is missing",
                where=self.path,
                remedy=_REMEDY,
            )


def bounded(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The blocks, of each line at most `LONGEST_LINE` bytes and one more, which says that it was longer.

    No item has such a line. Held whole, a line of a broken file or of a hostile one would take all memory.
    """
    before = 0  # bytes of the line so far, in earlier blocks
    for block in blocks:
        first = block.find(b"\n")
        ends = len(block) if first < 0 else first
        kept = max(0, LONGEST_LINE + 1 - before)
        before = before + ends if first < 0 else len(block) - 1 - block.rfind(b"\n")
        if cut := block if ends <= kept else block[:kept] + block[ends:]:
            yield cut


def _closes_array(last: bytes) -> bool:
    if last == b"]":
        return True
    return last.endswith(b"]") and (_is_json(last) or _is_json(last[:-1].rstrip()))


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True
