"""The texts of a corpus, block by block, for whoever reads all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson
import pyarrow as pa

from polyculture.cache.errors import StoreError
from polyculture.collect.mining.corpus import (
    BrokenStreamError,
    CorpusFile,
    byte_blocks,
    read_lines,
    read_texts,
    stream_lines,
)

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(slots=True)
class Block:
    """The texts of a block; lines of plain text stay together. `read` is in bytes on disk."""

    texts: list[str] = field(default_factory=list)
    read: int = 0
    bytes: int = 0  # of text
    broken: int = 0  # lines or rows that hold no text


def blocks(file: CorpusFile, share: int = 0, shares: int = 1) -> Iterator[Block]:
    """The blocks of a file, or every `shares`-th of them from the `share`-th on. A packed file is one share's.

    Raises `StoreError` where the file cannot be read to its end.
    """
    try:
        if file.codec is None:
            yield from _cut_file(file, share, shares)
        elif share == 0:
            yield from _packed(file)
    except (OSError, BrokenStreamError, pa.ArrowException) as fault:
        remedy = "Mend the file, or leave it out: what is left of it would pass for all of it."
        raise StoreError(f"cannot be read to its end: {fault}", where=file.path, remedy=remedy) from fault


def _cut_file(file: CorpusFile, share: int, shares: int) -> Iterator[Block]:
    number = byte_blocks(file)
    for block in range(share, number, shares):
        found = (
            _of_rows(read_texts(file, block)) if file.kind == "parquet" else _of_lines(file, read_lines(file, block))
        )
        found.read = -(-file.size // number)
        yield found


def _packed(file: CorpusFile) -> Iterator[Block]:
    before = 0
    for data, position in stream_lines(file):
        found = _of_lines(file, data)
        found.read, before = position - before, position
        yield found


def _of_rows(rows: Iterator[str | None]) -> Block:
    block = Block()
    for text in rows:
        _add(block, text)
    return block


def _of_lines(file: CorpusFile, data: bytes) -> Block:
    data = data.removeprefix(_BYTE_ORDER_MARK)
    block = Block()
    if file.kind == "json":
        for line in data.splitlines():
            if line.strip():
                _add(block, _text_of(line, file.field))
        return block
    try:
        _add(block, data.decode())
    except UnicodeDecodeError:
        for line in data.split(b"\n"):
            _add(block, _decoded(line))
    return block


def _add(block: Block, text: str | None) -> None:
    if text is None:
        block.broken += 1
    else:
        block.texts.append(text)
        block.bytes += len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _text_of(line: bytes, name: str) -> str | None:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    text = row.get(name) if isinstance(row, dict) else None
    return text if isinstance(text, str) else None


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None
