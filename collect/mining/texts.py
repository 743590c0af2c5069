"""The texts of a block of a corpus: of a line or row each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from polyculture.collect.mining.corpus import Block, CorpusFile


@dataclass(frozen=True, slots=True)
class NoText:
    """Why a line or row holds no text."""

    reason: str


def texts_of(file: CorpusFile, block: Block) -> Iterator[tuple[int, str | NoText]]:
    """Number, from 1, and text of each row, and of each line that is not blank."""
    if block.texts:
        for number, text in enumerate(block.texts(), start=1):
            yield number, NoText("has no text") if text is None else text
        return
    for number, line in enumerate(block.lines.split(b"\n"), start=1):
        if line.strip():
            yield number, _text_of(line, file.field) if file.kind == "json" else _decoded(line.removesuffix(b"\r"))


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
