"""Parquet: also what a data set hub hands out."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.errors import UserError
from polyculture.imports.record import Reader, Record, Rows, shown

_BATCH = 1_000


def read_columnar(path: Path, _inputs: Path | None = None) -> Rows:
    """The rows of a file, batch by batch. Raises `UserError` where it cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH):
                for values in batch.to_pylist():
                    number += 1
                    yield Record(str(number), values)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as fault:
        where = f"is no Parquet file that can be read, after row {number}: {shown(fault)}"
        raise UserError(where, where=path, remedy="Get the file again.") from fault


READER = Reader(
    "parquet",
    "Parquet, with any columns; nested ones are reached with a dot",
    lambda path: path.suffix.lower() in (".parquet", ".pq"),
    read_columnar,
    {},
)
