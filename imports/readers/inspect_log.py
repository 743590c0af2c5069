"""Logs of Inspect: `.eval`, a zip with `header.json` and `samples/<id>_epoch_<n>.json`, and `.json`, all in one.

Read by the standard library, as written by inspect_ai 0.3.285. Nothing is unpacked to disk; a member is read up to a
limit, whatever the archive says of its size.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from polyculture.cache.errors import UserError
from polyculture.cache.sanitize import parse
from polyculture.imports.readers.openai_batch import prompt_of, text_of
from polyculture.imports.record import LONGEST_LINE, BadRow, Reader, Record, Rows, shown

_ZSTD = 93  # the number of this compression in a zip
_LARGEST_JSON = 2**30  # bytes of a log in one file, which is read whole
_MOST_MEMBERS = 1_000_000
_MOST_BYTES = 64 * 2**30  # of all samples together, uncompressed


class _UnreadableError(ValueError):
    """A member of an archive that cannot be read."""


def read_inspect(path: Path, _inputs: Path | None = None) -> Rows:
    """A record per choice of a sample. Raises `UserError` where the file is no log."""
    if zipfile.is_zipfile(path):
        yield from _of_archive(path)
        return
    if path.stat().st_size > _LARGEST_JSON:
        remedy = "Convert it first: inspect log convert --to eval"
        raise UserError(f"is larger than {_LARGEST_JSON // 2**20} MiB", where=path, remedy=remedy)
    try:
        log = parse(path.read_bytes())
    except ValueError as fault:
        raise UserError(f"is no log of Inspect: {shown(fault)}", where=path) from fault
    if not isinstance(log, dict) or not isinstance(log.get("samples"), list):
        raise UserError("is no log of Inspect with samples", where=path, remedy="Name a .eval or .json log.")
    for number, sample in enumerate(log["samples"], 1):
        yield from _texts(str(number), sample, log.get("eval"))


def _of_archive(path: Path) -> Rows:
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json"))
        if len(names) > _MOST_MEMBERS:
            raise UserError(f"has more than {_MOST_MEMBERS} samples", where=path)
        if not names:
            raise UserError("has no samples: no log of Inspect", where=path, remedy="Name a .eval or .json log.")
        header = {}
        for name in ("header.json", "_journal/start.json"):  # a run that was cut off has no header yet
            if name in archive.namelist():
                try:
                    header = _member(archive, name)
                    break
                except _UnreadableError as fault:
                    raise UserError(f"{name}: {fault}", where=path, remedy="Get the file again.") from fault
        read = 0
        for name in names:
            try:
                sample = _member(archive, name)
            except _UnreadableError as fault:
                yield BadRow(shown(name), str(fault))
                continue
            read += archive.getinfo(name).file_size
            if read > _MOST_BYTES:
                raise UserError(f"its samples hold more than {_MOST_BYTES // 2**30} GiB", where=path)
            yield from _texts(shown(name), sample, header.get("eval") if isinstance(header, dict) else None)


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    """A member as JSON, read up to the limit and no byte further."""
    info = archive.getinfo(name)
    try:
        if info.compress_type == _ZSTD:
            content = _of_zstd(archive, info)
        else:
            with archive.open(info) as file:
                content = file.read(LONGEST_LINE + 1)
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        OSError,
    ) as fault:
        raise _UnreadableError(f"cannot be unpacked: {shown(fault)}") from fault
    if len(content) > LONGEST_LINE:
        raise _UnreadableError(f"is larger than {LONGEST_LINE // 2**20} MiB unpacked")
    try:
        return parse(content)
    except ValueError as fault:
        raise _UnreadableError(f"no JSON: {shown(fault)}") from fault


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


def _texts(row: str, sample: Any, evaluation: Any) -> Iterator[Record | BadRow]:
    if not isinstance(sample, Mapping):
        yield BadRow(row, "is no sample")
        return
    record = Record(row, {**sample, "eval": evaluation})
    if sample.get("error"):
        yield BadRow(row, "failed when it was generated", shown(record.get("error.message") or sample["error"]))
        return
    choices = record.get("output.choices")
    if not isinstance(choices, list) or not choices:
        yield BadRow(row, "has no output")
        return
    for number, choice in enumerate(choices):
        said = choice if isinstance(choice, Mapping) else {}
        message = said.get("message")
        yield Record(
            row,
            {
                **record.values,
                "text": text_of(message.get("content")) if isinstance(message, Mapping) else None,
                "prompt": prompt_of(sample.get("input")),
                "finish_reason": said.get("stop_reason"),
                "key": f"{sample.get('id')}/{sample.get('epoch')}/{number}",
            },
        )


def _recognises(path: Path) -> bool:
    return path.suffix.lower() in (".eval", ".json")


READER = Reader(
    "inspect",
    "logs of Inspect, `.eval` or `.json`; the sample's metadata say language, topic and country",
    _recognises,
    read_inspect,
    {"text": "text", "prompt": "prompt", "model": "eval.model", "id": "key", "finish_reason": "finish_reason",
     "prompt_tokens": "output.usage.input_tokens", "completion_tokens": "output.usage.output_tokens",
     "seed": "eval.model_generate_config.seed", "language": "metadata.language", "topic": "metadata.topic",
     "country": "metadata.country", "condition": "metadata.condition"},
)  # fmt: skip
