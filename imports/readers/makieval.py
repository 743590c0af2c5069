"""A published study's release: texts with the items found in them, a file or a folder of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from polyculture.cache.errors import UserError
from polyculture.imports.readers import columnar, lines, separated
from polyculture.imports.record import BadRow, Reader, Record, Rows

_PLAIN = (lines.READER, separated.READER, columnar.READER)


def shards_of(path: Path) -> list[Path]:
    """The data files of a folder, in the order of their names; a file is its own."""
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    return [one for one in files if any(reader.recognises(one) for reader in _PLAIN)]


def read_release(path: Path, _inputs: Path | None = None) -> Rows:
    """The rows of all files, one after the other. Raises `UserError` where there is none."""
    shards = shards_of(path)
    if not shards:
        raise UserError("holds no .parquet, .jsonl or .csv", where=path, remedy="Name the folder with the data files.")
    return _rows(path, shards)


def _rows(path: Path, shards: list[Path]) -> Iterator[Record | BadRow]:
    for shard in shards:
        before = f"{shard.relative_to(path)}:" if path.is_dir() else ""
        reader = next(reader for reader in _PLAIN if reader.recognises(shard))
        for row in reader.read(shard, None):
            if isinstance(row, Record):
                yield Record(before + row.row, row.values)
            else:
                yield BadRow(before + row.row, row.reason, row.value)


READER = Reader(
    "makieval",
    "a study's release, a file or a folder of files: texts with the items found in them, and their QIDs",
    lambda path: path.is_dir(),
    read_release,
    {},
    items=True,
)
