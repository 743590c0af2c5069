"""Decompresses files to a stream of blocks: gzip, bzip2, Zstandard or plain, recognised by their first bytes.

Intel's ISA-L decompresses gzip at twice the speed of zlib, Arrow all else. Files of several members (dumps are
compressed in parallel) are read to the end; truncated files raise an error. ISA-L is an extra, and not available for
every processor: without it Arrow decompresses.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK = 16 << 20  # bytes, decompressed: what a process converts at once, for few calls


class PackedError(Exception):
    """The file ends too early, or is damaged; the message says which."""


class HashedFile(io.RawIOBase):
    """A file that hashes every byte once as it is read; its first `checked` bytes when it is opened."""

    def __init__(self, path: Path, checked: int = 0) -> None:
        super().__init__()
        self.path, self.size = path, path.stat().st_size
        self.position = self.hashed = 0
        self._file = path.open("rb", buffering=0)
        self._digest = hashlib.sha256()
        self.hash_until(checked)

    @property
    def sha256(self) -> str:
        """The hash of the file's first `hashed` bytes."""
        return self._digest.hexdigest()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        count = self._file.readinto(view) or 0
        self.position += count
        if self.position > self.hashed:
            self._digest.update(view[count - (self.position - self.hashed) : count])
            self.hashed = self.position
        return count

    def hash_until(self, position: int) -> None:
        """Hashes the file up to a position, and keeps the read position."""
        self._file.seek(self.hashed)
        while self.hashed < position and (block := self._file.read(min(BLOCK, position - self.hashed))):
            self._digest.update(block)
            self.hashed += len(block)
        self._file.seek(self.position)

    def close(self) -> None:
        if (file := getattr(self, "_file", None)) is not None:  # one that was never opened is closed, too
            file.close()
        super().close()


def unpacked(file: HashedFile) -> Iterator[bytes]:
    """Yields the decompressed bytes in blocks of up to `BLOCK`; at the end the whole file is hashed.

    Raises `PackedError` for damaged files, `OSError` where the file cannot be read.
    """
    magic = _beginning(file.path)
    if magic.startswith(b"\x1f\x8b"):
        return _gzip(file) if find_spec("isal") else _arrow(file, "gzip")
    if magic.startswith(b"BZh"):
        return _arrow(file, "bz2")
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return _arrow(file, "zstd")
    return _blocks(file.read, file)


def _blocks(read: Callable[[int], bytes | None], file: HashedFile) -> Iterator[bytes]:
    while block := read(BLOCK):
        yield block
    file.hash_until(file.size)


def _gzip(file: HashedFile) -> Iterator[bytes]:
    from isal import igzip, igzip_lib

    try:
        with igzip.open(file) as stream:  # type: ignore[no-untyped-call]
            yield from _blocks(stream.read, file)
    except EOFError as fault:
        raise PackedError("ends too early") from fault
    except (igzip.BadGzipFile, igzip_lib.IsalError) as fault:  # type: ignore[misc]
        raise PackedError(f"cannot be decompressed ({fault})") from fault


def _arrow(file: HashedFile, codec: Literal["gzip", "bz2", "zstd"]) -> Iterator[bytes]:
    try:
        with closing(pa.CompressedInputStream(pa.PythonFile(file, mode="r"), codec)) as stream:
            yield from _blocks(stream.read, file)
    except OSError as fault:
        what = "ends too early" if "runcated" in str(fault) else f"cannot be decompressed ({fault})"
        raise PackedError(what) from fault


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4)
