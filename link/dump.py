"""Reads a Wikidata JSON dump by lines: plain, gzip, bzip2 or Zstandard; an array with an item a line, or items alone.

Decompression is Arrow's, which reads streams of several members (as dumps are packed in parallel) and says when one
is cut. The format: https://www.wikidata.org/wiki/Wikidata:Database_download
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import orjson
import pyarrow as pa

from cache.errors import SnapshotError

CHUNK = 4 << 20  # bytes of JSON
_Codec = Literal["gzip", "bz2", "zstd"]
_CODECS: dict[bytes, _Codec] = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}  # by first bytes
_REMEDY = "Fetch the file again: a part of a dump makes a smaller index that looks whole."


class DumpReader:
    """One pass over a dump. `read` bytes of `size` are consumed so far; `sha256` holds when all are.

    Raises `SnapshotError` for a file that is missing, is no dump, or ends too early.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = _HashedFile(path)
            self.size = path.stat().st_size
        except OSError as fault:
            raise SnapshotError(f"cannot be read: {fault.strerror}", where=path, remedy="Check the path.") from fault

    @property
    def read(self) -> int:
        return self._file.position

    @property
    def sha256(self) -> str:
        return self._file.digest.hexdigest()

    def chunks(self) -> Iterator[tuple[int, list[bytes]]]:
        """Yields the number of a first line, from 1, and some whole lines from there on."""
        line, rest, opening = 1, b"", b""
        with closing(self._file):
            for block in self._blocks():
                opening = opening or self._opening(rest + block)
                lines = (rest + block).split(b"\n")
                rest = lines.pop()
                # What may be the dump's last line is kept back: the end tells whether the dump is whole.
                kept = _last_line(lines)
                yield line, lines[:kept]
                line += kept
                rest = b"\n".join([*lines[kept:], rest])
        self._check_end(rest, opening)
        yield line, rest.split(b"\n")

    def _blocks(self) -> Iterator[bytes]:
        codec = _codec(self.path)
        raw = pa.PythonFile(self._file, mode="r")
        stream = pa.CompressedInputStream(raw, codec) if codec else raw
        try:
            while block := stream.read(CHUNK):
                yield block
        except OSError as fault:
            what = "ends too early" if "runcated" in str(fault) else f"cannot be unpacked ({fault})"
            raise SnapshotError(what, where=self.path, remedy=_REMEDY) from fault

    def _opening(self, head: bytes) -> bytes:
        first = head.lstrip()[:1]
        if first not in (b"", b"[", b"{"):
            remedy = "Give a file of Wikidata's entity JSON: an array with an item a line, or an item a line."
            raise SnapshotError("is not a Wikidata JSON dump", where=self.path, remedy=remedy)
        return first

    def _check_end(self, rest: bytes, opening: bytes) -> None:
        last = rest.strip()
        if not opening:
            raise SnapshotError("is empty", where=self.path, remedy=_REMEDY)
        whole = _closes_array(last) if opening == b"[" else rest.endswith(b"\n") or _is_json(last)
        if not whole:
            raise SnapshotError(
                "ends too early: its last line is cut, or the bracket that closes the array is missing",
                where=self.path,
                remedy=_REMEDY,
            )


class _HashedFile(io.RawIOBase):
    """A file that hashes what is read of it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = path.open("rb")
        self.digest, self.position = hashlib.sha256(), 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.digest.update(block)
        self.position += len(block)
        return block

    def close(self) -> None:
        self._file.close()
        super().close()


def _codec(path: Path) -> _Codec | None:
    with path.open("rb") as file:
        magic = file.read(4)
    return next((codec for start, codec in _CODECS.items() if magic.startswith(start)), None)


def _last_line(lines: list[bytes]) -> int:
    """The position of the last line that is not blank, 0 where all are."""
    return next((position for position in range(len(lines) - 1, -1, -1) if lines[position].strip()), 0)


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
