"""The texts of a corpus: of a line or row each, and block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson
import pyarrow as pa

from polyculture.cache.errors import StoreError
from polyculture.collect.mining.corpus import Block, BrokenStreamError, CorpusFile, blocks


@dataclass(frozen=True, slots=True)
class NoText:
    """Why a line or row holds no text."""

    reason: str


@dataclass(slots=True)
class TextBlock:
    """The texts of a block; plain text is one text with all lines. `read` is in bytes on disk."""

    texts: list[str] = field(default_factory=list)
    read: int = 0
    bytes: int = 0  # of text
    broken: int = 0  # lines or rows without text


def texts_of(file: CorpusFile, block: Block) -> Iterator[tuple[int, str | NoText]]:
    """Number, from 1, and text of each row, and of each line that is not blank."""
    if block.texts:
        for number, text in enumerate(block.texts(), start=1):
            yield number, NoText("has no text") if text is None else text
        return
    for number, line in enumerate(block.lines.split(b"\n"), start=1):
        if line.strip():
            yield number, _text_of(line, file.field) if file.kind == "json" else _decoded(line.removesuffix(b"\r"))


def text_blocks(file: CorpusFile, share: int = 0, shares: int = 1) -> Iterator[TextBlock]:
    """The texts of `corpus.blocks`. Raises `StoreError` where the file cannot be read to its end."""
    try:
        for block in blocks(file, share, shares):
            found = TextBlock(read=block.read)
            for text in _texts(file, block):
                if isinstance(text, NoText):
                    found.broken += 1
                else:
                    found.texts.append(text)
                    found.bytes += len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
            yield found
    except (OSError, BrokenStreamError, pa.ArrowException) as fault:
        remedy = "Repair the file or leave it out: its readable part would count as the whole."
        raise StoreError(f"cannot be read to its end: {fault}", where=file.path, remedy=remedy) from fault


def _texts(file: CorpusFile, block: Block) -> Iterator[str | NoText]:
    """Plain text is one text, where it can be decoded."""
    if file.kind == "text":
        whole = _decoded(block.lines)
        if not isinstance(whole, NoText):
            yield whole
            return
    yield from (text for _, text in texts_of(file, block))


def _text_of(line: bytes, name: str) -> str | NoText:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as fault:
        return NoText(f"not JSON: {fault}")
    text = row.get(name) if isinstance(row, dict) else None
    return text if isinstance(text, str) else NoText(f"has no text in {name!r}")


def _decoded(data: bytes) -> str | NoText:
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        return NoText(f"not UTF-8: {fault.reason}")
