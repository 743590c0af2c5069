"""Files of any kind as records: what a file is, its content says, not its name.

JSON     an object a line; an array of objects; one object
tables   CSV, TSV, .xlsx, Parquet, Arrow (`save_to_disk` of Hugging Face's `datasets`)
.gz      any of these, compressed; .zst, .bz2 and .xz, too
.eval    Inspect's archive: a zip of `samples/*.json`
folder   all of these in it, one after the other
"""

from __future__ import annotations

import json
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import orjson

from polyculture.cache.errors import UserError
from polyculture.cache.text.sanitize import mended, parse
from polyculture.sources import compressed
from polyculture.sources.encoding import UTF_8, encoding_of
from polyculture.sources.headers import KnownColumns
from polyculture.sources.record import LISTED, LONGEST_LINE, BadRow, ReadRecords, Record, shown
from polyculture.sources.tables import (
    read_arrow,
    read_known_workbook,
    read_parquet,
    read_separated,
    read_workbook,
    usual_columns,
)

_START = 2**16  # bytes by which a file is known
_LARGEST_JSON = 2**30  # bytes of a file that is one value, which is read whole
_LARGEST_BESIDE = 64 * 2**20  # bytes of a file beside records, which says something of all of them
_MOST_PARTS = 8  # tables of the same names in one record; more are records under their ids, as BiGGen Bench writes them
_SPEAKERS = frozenset({"role", "from", "speaker", "author", "sender"})  # a field of messages
_DECODER, _GAP = json.JSONDecoder(), re.compile(r"[\s\x1e]*")  # between the values of a stream
WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
RECORDS = (".json", ".jsonl", ".ndjson", ".parquet", ".pq")  # a row an object
_TABLES = (*WORKBOOKS, ".csv", ".tsv", *RECORDS)
_SUFFIXES = (
    *(".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".pq", ".xlsx", ".xlsm", ".eval", ".arrow", ".feather"),
    *compressed.SUFFIXES,
)
# What `datasets` writes beside the data of `save_to_disk`, and Hugging Face's hub beside a download.
_BESIDE_ARROW = ("dataset_info.json", "state.json", "dataset_dict.json")
_MOST_MEMBERS = 1_000_000
_MOST_BYTES = 64 * 2**30  # of all samples together, uncompressed
_BLANK = b"\xef\xbb\xbf \r\n\t\x1e"  # a byte order mark counts as one, as does what separates records (RFC 7464)
_AS_XLSX = "Save a workbook as .xlsx or CSV UTF-8."
_ZSTD = 93  # the number of this compression in a zip
_UNREADABLE = (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, RuntimeError, EOFError, OSError)


def table_suffix(path: Path) -> str:
    """The suffix by which a file is known as a table, of a compressed one that of what it holds; '' of any other file.

    A spreadsheet that is open has a second file beside it, `~$food.xlsx`.
    """
    inner = path.with_suffix("") if path.suffix.lower() in compressed.SUFFIXES else path
    is_table = inner.suffix.lower() in _TABLES and not path.name.startswith(("~", "."))
    return inner.suffix.lower() if is_table else ""


def data_files(path: Path) -> list[Path]:
    """The data files of a folder, in the order of their names; a file is its own."""
    if not path.is_dir():
        return [path]
    files = sorted(one for one in path.rglob("*") if one.is_file() and one.suffix.lower() in _SUFFIXES)
    arrow = {one.parent for one in files if one.suffix.lower() == ".arrow"}
    arrow |= {one.parent for one in arrow if (one / "dataset_dict.json").exists()} | {one.parent for one in arrow}
    return [one for one in files if not one.name.startswith(".")
            and not (one.name in _BESIDE_ARROW and one.parent in arrow)]  # fmt: skip


def kind_of(path: Path) -> str:
    """'folder', 'parquet', 'arrow', 'xlsx', 'eval', 'csv' or 'json', of a compressed file what it holds.

    Raises `UserError` for what is none of them.
    """
    if path.is_dir():
        return "folder"
    path = compressed.plain(path)
    with path.open("rb") as file:
        start = file.read(_START)
    if start.startswith(b"PAR1") or path.suffix.lower() in (".parquet", ".pq"):
        return "parquet"
    if start.startswith(b"ARROW1") or path.suffix.lower() in (".arrow", ".feather"):
        return "arrow"
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
        if "[Content_Types].xml" in members:
            return "xlsx"
        if any(name.startswith("samples/") for name in members):
            return "eval"
        if "content.xml" in members or any(name.startswith("xl/") for name in members):
            raise UserError("is a workbook of another format than .xlsx", where=path, remedy=_AS_XLSX)
        raise UserError("is an archive", where=path, remedy="Unpack it, and name the file or folder with the texts.")
    if start.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        what = "is damaged, or a workbook of another format than .xlsx"
        raise UserError(what, where=path, remedy=f"Unpack it. {_AS_XLSX}")
    text = start.decode(encoding_of(path), "ignore").lstrip("\ufeff \r\n\t")
    if path.suffix.lower() not in (".csv", ".tsv") and (text[:1] in ("[", "{") or path.suffix.lower() in _SUFFIXES):
        return "json"
    return "csv"


def read_columns(path: Path, known: KnownColumns, *, quoted: bool = True) -> ReadRecords:
    """The records of a file by rules that know what its columns are called: all sheets of a workbook, each under the
    header that has most of these names. Raises `UserError` where it cannot be read as a whole."""
    if path.suffix.lower() in WORKBOOKS:
        yield from read_known_workbook(path, known)
    elif path.is_dir() or (kind := kind_of(path)) not in ("csv", "xlsx"):
        yield from read_file(path)
    elif kind == "xlsx":
        yield from read_known_workbook(compressed.plain(path), known)
    else:
        path = compressed.plain(path)
        yield from read_separated(path, encoding_of(path), known, quoted=quoted)


def read_file(path: Path, *, tables: bool = False, told: frozenset[str] = frozenset()) -> ReadRecords:
    """The records of a file. Raises `UserError` where it cannot be read as a whole.

    `told`: columns that a user names, by which a header is known beside those with a usual name.
    `tables`: one JSON value that is laid out as a table has the records of that; else it is itself one.
    """
    kind = kind_of(path)
    if kind == "folder":
        files = data_files(path)
        if not files:
            raise UserError("holds no data file", where=path, remedy=f"It must have one of: {', '.join(_SUFFIXES)}.")
        for one in files:
            before = f"{one.relative_to(path).as_posix()}:"
            for row in read_file(one, tables=tables, told=told):
                yield replace(row, row=before + row.row)
        return
    path = compressed.plain(path)
    if kind == "parquet":
        yield from read_parquet(path)
    elif kind == "arrow":
        yield from read_arrow(path)
    elif kind == "xlsx":
        yield from read_workbook(path, usual_columns(told))
    elif kind == "eval":
        yield from _read_archive(path)
    elif kind == "csv":
        yield from read_separated(path, encoding_of(path), usual_columns(told))
    else:
        yield from _read_json(path, encoding_of(path), tables=tables)


def json_beside(path: Path) -> Any:
    """What a JSON file beside records has; None where there is none, or none that can be read."""
    if not path.is_file() or path.stat().st_size > _LARGEST_BESIDE:
        return None
    try:
        return parse(path.read_bytes())
    except ValueError:
        return None


def _read_json(path: Path, encoding: str, *, tables: bool) -> ReadRecords:
    """An object a line, or one value that is read whole: what begins with a bracket, or whose first line is no JSON."""
    with _as_utf8(path, encoding) as file:
        first = next((line for line in _lines(file) if line is None or line.strip(_BLANK)), b"")
        array = first is not None and first.lstrip(_BLANK).startswith(b"[")
        lines = _is_json(first)
        file.seek(0)
        if array or not lines or _is_last(file):
            file.seek(0)
            whole = _whole(path, file, array=array, lines=lines)
            if whole is not None:
                one = whole if isinstance(whole, list) else _of_table(whole) if tables else [whole]
                for number, values in enumerate(one, 1):
                    yield from _records(str(number), values)
                return
        file.seek(0)
        for number, line in enumerate(_lines(file), 1):
            if line is None:
                yield BadRow(str(number), f"the line is longer than {LONGEST_LINE // 2**20} MiB")
            elif content := line.strip(_BLANK):
                try:
                    values = _value(content)
                except ValueError as fault:
                    yield BadRow(str(number), f"no JSON: {shown(fault)}", shown(line[:80].decode(errors="replace")))
                    continue
                yield from _records(str(number), values)


def _is_last(file: IO[bytes]) -> bool:
    """Whether a file has one line."""
    lines = (line for line in _lines(file) if line is None or line.strip(_BLANK))
    return next(lines, None) is not None and next(lines, b"") == b""


def _of_table(whole: Any) -> list[Any]:
    """The records of one value: a table as pandas writes one, by columns, by rows or apart from their names; a table of
    records under their keys; or itself one."""
    if not isinstance(whole, dict) or len(whole) < 2:
        return [whole]
    names, rows = whole.get("columns"), whole.get("data")
    if isinstance(names, list) and isinstance(rows, list) and all(_is_row(one, len(names)) for one in rows):
        return [dict(zip(names, row, strict=True)) for row in rows]
    columns = list(whole.values())
    if all(isinstance(cells, list) for cells in columns):
        same = all(_is_row(cells, len(columns[0])) for cells in columns)
        if same:
            return [dict(zip(whole, row, strict=True)) for row in zip(*columns, strict=True)]
        return _under_names(whole) or [whole]
    keys = list(columns[0]) if isinstance(columns[0], dict) else []
    if not keys or not all(isinstance(cells, dict) and list(cells) == keys for cells in columns):
        return [whole]
    if all(key.isdecimal() for key in keys):
        return [{name: cells[key] for name, cells in whole.items()} for key in keys]
    numbered = all(map(str.isdecimal, whole))
    plain = (
        numbered or len(whole) > _MOST_PARTS or all(_is_row(list(one.values()), len(keys)) for one in columns)
    )  # else parts of one record
    return [{"key": key, **one} for key, one in whole.items()] if plain else [whole]


def _under_names(lists: Mapping[str, Sequence[Any]]) -> list[Any] | None:
    """The records, or the texts, of lists that have a name each: {"gpt-4": [{...}], "llama": [{...}, {...}]}.

    None where they are of several kinds, as questions and answers are, or messages of a conversation.
    """
    if all(inner and all(isinstance(one, str) for one in inner) for inner in lists.values()):
        return [{LISTED: name, "text": one} for name, inner in lists.items() for one in inner]
    if not all(inner and all(isinstance(one, dict) for one in inner) for inner in lists.values()):
        return None
    columns = [frozenset[str]().union(*inner) for inner in lists.values()]
    common = frozenset.intersection(*columns)
    if 2 * len(common) <= len(frozenset.union(*columns)) or _SPEAKERS & common:
        return None
    return [{LISTED: name, **one} for name, inner in lists.items() for one in inner]


def _is_row(cells: Any, length: int) -> bool:
    """Whether cells are those of a table: as many as there are names, and none with more within it."""
    return isinstance(cells, list) and len(cells) == length and not any(isinstance(one, dict | list) for one in cells)


def _is_json(line: bytes | None) -> bool:
    try:
        return line is not None and (not line or parse(line.strip(_BLANK)) is not None)
    except ValueError:
        return False


def _records(row: str, values: Any) -> ReadRecords:
    """A record, or those of a list: pipelines of transformers write one for each prompt."""
    for place, one in enumerate(values, 1) if isinstance(values, list) else [(0, values)]:
        yield _record(f"{row}/{place}" if place else row, one)


def _record(row: str, values: Any) -> Record | BadRow:
    return Record(row, values) if isinstance(values, dict) else BadRow(row, "is no JSON object", shown(values))


def _whole(path: Path, file: IO[bytes], *, array: bool, lines: bool) -> Any:
    """The one value of a file, or its values where they are not `lines`; None where it has neither, and may have broken
    lines. Raises `UserError` of a broken `array`."""
    if path.stat().st_size > _LARGEST_JSON:
        what = f"is one JSON value of more than {_LARGEST_JSON // 2**20} MiB"
        raise UserError(
            what, where=path, remedy="Write an object a line (JSON Lines); of Inspect: inspect log convert."
        )
    content = file.read().strip(_BLANK)
    try:
        return _value(content)
    except ValueError as fault:
        if not lines and (several := _stream(content)) is not None:
            return several
        if array and not lines:
            raise UserError(f"is no JSON: {shown(fault)}", where=path, remedy="Get or write the file again.") from fault
        return None


def _value(content: bytes) -> Any:
    """A JSON text. A byte in it that is no UTF-8 stays a lone surrogate, for which a row is refused.

    Half of a pair of surrogates that is written as an escape is U+FFFD: Python's `json.dumps` writes it of a text that
    was cut within an emoji.

    Raises `ValueError` where it is no JSON.
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:  # Python's own parser reads more, as NaN
        value = parse(content)
    try:
        content.decode()
    except UnicodeDecodeError:
        return value
    return _mended(value)


def _mended(value: Any) -> Any:
    """A value whose texts have no lone surrogates."""
    if isinstance(value, dict):
        return {mended(name): _mended(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_mended(one) for one in value]
    return mended(value) if isinstance(value, str) else value


def _stream(content: bytes) -> list[Any] | None:
    """Values one after the other, each over several lines, as jq writes them; None where anything else is there."""
    text, place, values = content.decode("utf-8", "surrogateescape"), 0, list[Any]()
    try:
        while place < len(text):
            value, place = _DECODER.raw_decode(text, place)
            values.append(value)
            place = gap.end() if (gap := _GAP.match(text, place)) else place
    except (ValueError, RecursionError):
        return None
    return values


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of a file in constant memory; None for one that is too long."""
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE:
            yield line
            continue
        while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE + 1)
        yield None


def _as_utf8(path: Path, encoding: str) -> IO[bytes]:
    """A file's bytes, in UTF-8. Raises `UserError` where they are not of its encoding."""
    if encoding == UTF_8:
        return path.open("rb")
    copy = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    try:
        with path.open(encoding=encoding, newline="") as file:
            while chunk := file.read(2**20):
                copy.write(chunk.encode())
    except UnicodeError as fault:
        raise UserError(f"is broken {encoding}", where=path, remedy="Save it as UTF-8.") from fault
    copy.seek(0)
    return copy


def _read_archive(path: Path) -> ReadRecords:
    """The samples of an archive of Inspect, each beside the header's `eval`. Nothing is unpacked to disk; a member is
    read up to a limit, whatever the archive says of its size."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json"))
        if len(names) > _MOST_MEMBERS:
            raise UserError(f"has more than {_MOST_MEMBERS} samples", where=path, remedy="Split it.")
        header: Any = {}
        for name in ("header.json", "_journal/start.json"):  # a run that was cut off has no header yet
            if name in archive.namelist():
                try:
                    header = _member(archive, name)
                    break
                except ValueError as fault:
                    raise UserError(f"{name}: {fault}", where=path, remedy="Get the file again.") from fault
        header = header if isinstance(header, dict) else {}
        # One that was cut off says nothing of its end.
        told = {**header["eval"], "status": header.get("status", "started")} if header.get("eval") else None
        read = 0
        for name in names:
            try:
                sample = _member(archive, name)
            except ValueError as fault:
                yield BadRow(shown(name), str(fault))
                continue
            read += archive.getinfo(name).file_size
            if read > _MOST_BYTES:
                raise UserError(
                    f"its samples hold more than {_MOST_BYTES // 2**30} GiB", where=path, remedy="Split it."
                )
            yield _record(shown(name), {**sample, "eval": told} if isinstance(sample, dict) else sample)


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    """A member as JSON, read up to the limit and no byte further. Raises `ValueError`."""
    info = archive.getinfo(name)
    try:
        if info.compress_type == _ZSTD:
            content = _of_zstd(archive, info)
        else:
            with archive.open(info) as file:
                content = file.read(LONGEST_LINE + 1)
    except _UNREADABLE as fault:
        raise ValueError(f"cannot be unpacked: {shown(fault)}") from fault
    if len(content) > LONGEST_LINE:
        raise ValueError(f"is larger than {LONGEST_LINE // 2**20} MiB unpacked")
    try:
        return parse(content)
    except ValueError as fault:
        raise ValueError(f"no JSON: {shown(fault)}") from fault


def _of_zstd(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A member that Inspect compressed with Zstandard, which Python's own `zipfile` knows from 3.14 on."""
    import pyarrow as pa

    if archive.fp is None or info.compress_size > LONGEST_LINE:
        raise zipfile.BadZipFile(f"larger than {LONGEST_LINE // 2**20} MiB")
    archive.fp.seek(info.header_offset)
    name, extra = struct.unpack("<HH", archive.fp.read(30)[26:])
    archive.fp.seek(name + extra, 1)
    packed = pa.BufferReader(archive.fp.read(info.compress_size))
    with pa.CompressedInputStream(packed, "zstd") as stream:
        return bytes(stream.read(LONGEST_LINE + 1))
