"""A corpus: files of text in blocks of whole lines, which can be read in any order.

Formats: JSON lines (an object per line, with the text in one field) and plain text (a line is a document), plain or
compressed with gzip, bzip2 or Zstandard; Parquet with a column of text. The first bytes decide, not the name.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from polyculture.cache.errors import StoreError
from polyculture.cache.identity import content_id

BLOCK = 16 << 20  # bytes of text
Codec = Literal["gzip", "bz2", "zstd"]
FileKind = Literal["json", "text", "parquet"]
_CODECS: dict[bytes, Codec] = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_PIECE = 1 << 16  # bytes of text decompressed at a time: so much before the cut of an archive is lost at most
_ROWS = 1024  # rows of Parquet read at a time
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class BrokenFileError(Exception):
    """A compressed file ends too early, or cannot be decompressed from some point on."""


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file of the corpus: format, size on disk, and `key`, a hash of path, size and modification time."""

    key: str
    path: Path
    kind: FileKind
    codec: Codec | None
    size: int
    field: str  # the JSON field or Parquet column with the text
    block: int  # bytes of text per block


def open_corpus(paths: Sequence[Path], field: str, block: int = BLOCK) -> list[CorpusFile]:
    """The given files, and the files in given folders, in the order of their paths.

    Raises `StoreError` for a file that is missing or cannot be read, or whose first row has no such field or column.
    """
    paths_read = sorted({file for path in paths for file in _files(path)})
    return [_corpus_file(path, field, block) for path in paths_read]


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a file: whole lines, or the texts of a row group of Parquet."""

    number: int
    read: int  # bytes on disk
    lines: bytes = b""
    texts: Callable[[], Iterator[str | None]] | None = None  # of Parquet


def blocks(file: CorpusFile, share: int = 0, shares: int = 1, done: Container[int] = ()) -> Iterator[Block]:
    """The blocks that are not done: every `shares`-th from the `share`-th on. Share 0 has compressed files whole.

    Raises `BrokenFileError` or `OSError` once what can be read of a broken file has been handed out.
    """
    if file.codec is not None:
        if share == 0:
            before = 0
            for number, (data, position) in enumerate(_stream_lines(file)):
                if number not in done:
                    yield Block(number, position - before, data.removeprefix(BYTE_ORDER_MARK))
                before = position
        return
    groups = pq.ParquetFile(file.path).num_row_groups if file.kind == "parquet" else -(-file.size // file.block)
    count = max(1, groups)
    for number in (number for number in range(share, count, shares) if number not in done):
        read = -(-file.size // count)
        if file.kind == "parquet":
            yield Block(number, read, texts=partial(_texts, file, number))
        else:
            yield Block(number, read, _lines(file, number).removeprefix(BYTE_ORDER_MARK))


def _lines(file: CorpusFile, block: int) -> bytes:
    """The lines that begin within a block of an uncompressed file."""
    with file.path.open("rb") as stream:
        start = _line_start(stream, block * file.block)
        end = _line_start(stream, (block + 1) * file.block)
        stream.seek(start)
        return stream.read(end - start)


def _texts(file: CorpusFile, group: int) -> Iterator[str | None]:
    """The texts of a row group of a Parquet file."""
    source = pq.ParquetFile(file.path)
    if group < source.num_row_groups:
        for batch in source.iter_batches(_ROWS, row_groups=[group], columns=[file.field]):
            yield from batch.column(0).to_pylist()


def _stream_lines(file: CorpusFile) -> Iterator[tuple[bytes, int]]:
    """The blocks of a compressed file, in whole lines, with the number of bytes on disk read so far."""
    pieces: list[bytes] = []
    size = position = 0
    broken = None
    try:
        for piece, position in _unpacked(file.path, file.codec):
            pieces.append(piece)
            size += len(piece)
            if size >= file.block and b"\n" in piece:
                whole = b"".join(pieces)
                cut = whole.rfind(b"\n") + 1
                yield whole[:cut], position
                pieces, size = [whole[cut:]], len(whole) - cut
    except BrokenFileError as fault:
        broken = fault
    if any(pieces):
        yield b"".join(pieces), position
    if broken:
        raise broken


def _unpacked(path: Path, codec: Codec | None) -> Iterator[tuple[bytes, int]]:
    """Yields pieces of the text, with the number of bytes on disk read so far; the piece with a fault is lost."""
    try:
        with pa.OSFile(str(path), "rb") as raw:
            stream = pa.CompressedInputStream(raw, codec) if codec else raw
            while piece := stream.read(_PIECE):
                yield piece, raw.tell()
    except OSError as fault:
        raise BrokenFileError(f"cannot be unpacked to its end ({fault})") from fault


def _line_start(stream: BinaryIO, place: int) -> int:
    """The start of the first line at or after `place`; the end of the file where there is none."""
    if place:
        stream.seek(place - 1)
        stream.readline()
    return stream.tell()


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
        if not files:
            raise StoreError("holds no file", where=path, remedy="Name the files of the corpus, or a folder of them.")
        return files
    if not path.is_file():
        raise StoreError("there is no such file", where=path, remedy="Check the path.")
    return [path]


def _corpus_file(path: Path, field: str, block: int) -> CorpusFile:
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
        state = path.stat()
        codec = next((codec for start, codec in _CODECS.items() if magic.startswith(start)), None)
        kind = _kind(path, magic, codec, field)
    except (OSError, pa.ArrowInvalid, BrokenFileError) as fault:
        raise StoreError(f"cannot be read: {fault}", where=path, remedy="Check the file.") from fault
    key = content_id(str(path.resolve()), state.st_size, state.st_mtime_ns, field, block)[:16]
    return CorpusFile(key, path, kind, codec, state.st_size, field, block)


def _kind(path: Path, magic: bytes, codec: Codec | None, field: str) -> FileKind:
    if magic == b"PAR1":
        _check_column(path, field)
        return "parquet"
    return _kind_of_lines(path, _first_line(path, codec), field)


def _check_column(path: Path, field: str) -> None:
    schema = pq.read_schema(path)
    if field not in schema.names:
        raise _no_field(path, field, "column", schema.names)
    if not _is_text(schema.field(field).type):
        what = f"column {field!r} holds {schema.field(field).type}, not text"
        raise StoreError(what, where=path, remedy="Name the column of the text with --text-field.")


def _is_text(column: pa.DataType) -> bool:
    kind = column.value_type if isinstance(column, pa.DictionaryType) else column
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _first_line(path: Path, codec: Codec | None) -> bytes:
    head = next((piece for piece, _ in _unpacked(path, codec)), b"")
    if b"\0" in head:
        raise StoreError("is not text", where=path, remedy="Give JSON lines, plain text in UTF-8, or Parquet.")
    return head.removeprefix(BYTE_ORDER_MARK).lstrip().split(b"\n", 1)[0].strip()


def _kind_of_lines(path: Path, first_line: bytes, field: str) -> FileKind:
    """JSON lines where the first line is an object, or the start of an object longer than a piece."""
    named_json = any(suffix in (".json", ".jsonl", ".ndjson") for suffix in path.suffixes)
    try:
        row = orjson.loads(first_line)
    except orjson.JSONDecodeError:
        return "json" if named_json or first_line.startswith(b'{"') else "text"
    if not isinstance(row, dict):
        return "json" if named_json else "text"
    if field not in row:
        raise _no_field(path, field, "field", row)
    return "json"


def _no_field(path: Path, field: str, what: str, names: Any) -> StoreError:
    known = ", ".join(map(repr, names))
    remedy = f"Name the one that holds the text with --text-field. There are: {known}."
    return StoreError(f"has no {what} {field!r}", where=path, remedy=remedy)


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
