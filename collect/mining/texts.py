"""The texts of a corpus, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson
import pyarrow as pa

from polyculture.cache.errors import StoreError
from polyculture.collect.mining.corpus import (
    BYTE_ORDER_MARK,
    BrokenStreamError,
    CorpusFile,
    byte_blocks,
    read_lines,
    read_texts,
    stream_lines,
)


@dataclass(slots=True)
class TextBlock:
    """The texts of a block; plain text is one text with all lines. `read` is in bytes on disk."""

    texts: list[str] = field(default_factory=list)
    read: int = 0
    bytes: int = 0  # of text
    broken: int = 0  # lines or rows without text


def blocks(file: CorpusFile, share: int = 0, shares: int = 1) -> Iterator[TextBlock]:
    """The blocks of a file, or every `shares`-th of them from the `share`-th on. Share 0 has compressed files whole.

    Raises `StoreError` where the file cannot be read to its end.
    """
    try:
        if file.codec is None:
            yield from _plain(file, share, shares)
        elif share == 0:
            yield from _compressed(file)
    except (OSError, BrokenStreamError, pa.ArrowException) as fault:
        remedy = "Repair the file or leave it out: its readable part would count as the whole."
        raise StoreError(f"cannot be read to its end: {fault}", where=file.path, remedy=remedy) from fault


def _plain(file: CorpusFile, share: int, shares: int) -> Iterator[TextBlock]:
    number = byte_blocks(file)
    for block in range(share, number, shares):
        texts = (
            _of_rows(read_texts(file, block)) if file.kind == "parquet" else _of_lines(file, read_lines(file, block))
        )
        texts.read = -(-file.size // number)
        yield texts


def _compressed(file: CorpusFile) -> Iterator[TextBlock]:
    before = 0
    for data, position in stream_lines(file):
        block = _of_lines(file, data)
        block.read, before = position - before, position
        yield block


def _of_rows(rows: Iterator[str | None]) -> TextBlock:
    block = TextBlock()
    for text in rows:
        _add(block, text)
    return block


def _of_lines(file: CorpusFile, data: bytes) -> TextBlock:
    data = data.removeprefix(BYTE_ORDER_MARK)
    block = TextBlock()
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


def _add(block: TextBlock, text: str | None) -> None:
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
