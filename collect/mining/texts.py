"""The texts of a corpus, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson
import pyarrow as pa

from polyculture.cache.errors import StoreError
from polyculture.collect.mining.corpus import BrokenStreamError, CorpusFile, blocks


@dataclass(slots=True)
class TextBlock:
    """The texts of a block; plain text is one text with all lines. `read` is in bytes on disk."""

    texts: list[str] = field(default_factory=list)
    read: int = 0
    bytes: int = 0  # of text
    broken: int = 0  # lines or rows without text


def text_blocks(file: CorpusFile, share: int = 0, shares: int = 1) -> Iterator[TextBlock]:
    """The texts of `corpus.blocks`. Raises `StoreError` where the file cannot be read to its end."""
    try:
        for block in blocks(file, share, shares):
            found = TextBlock(read=block.read)
            for text in block.texts() if block.texts else _texts(file, block.lines):
                if text is None:
                    found.broken += 1
                else:
                    found.texts.append(text)
                    found.bytes += len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
            yield found
    except (OSError, BrokenStreamError, pa.ArrowException) as fault:
        remedy = "Repair the file or leave it out: its readable part would count as the whole."
        raise StoreError(f"cannot be read to its end: {fault}", where=file.path, remedy=remedy) from fault


def _texts(file: CorpusFile, data: bytes) -> Iterator[str | None]:
    """Of plain text all at once, where it can be decoded; None for a line without text."""
    if file.kind == "json":
        for line in data.splitlines():
            if line.strip():
                yield _text_of(line, file.field)
        return
    whole = _decoded(data)
    if whole is not None:
        yield whole
    else:
        yield from map(_decoded, data.split(b"\n"))


def _text_of(line: bytes, name: str) -> str | None:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    text = row.get(name) if isinstance(row, dict) else None
    return text if isinstance(text, str) else None


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
