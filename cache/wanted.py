"""The rows of a job that count, read from its files: the input of the next step. In SQL: `view_template`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.layout import Table
from polyculture.cache.parquet import opened_parquet
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.shards import part_files

BATCH_ROWS = 10_000


def wanted_batches(
    run: RunFolder, job: Job, table: Table[Any], wanted: pa.Table, columns: Sequence[str], rows: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """The job's committed rows of the requests in `wanted` (request_id, n), failed ones included, `rows` at a time.

    Rows that are still in the job's journal are not included; the next process that opens the job commits them.
    """
    requests, limits = wanted["request_id"].combine_chunks(), wanted["n"].combine_chunks()
    for part in part_files(run.shards(table.name, job)):
        with opened_parquet(part) as file:
            for batch in file.iter_batches(batch_size=rows):
                limit = limits.take(pc.index_in(batch["request_id"], value_set=requests))  # null: nobody wants it
                kept = batch.filter(pc.less(batch["sample"], limit))
                if kept.num_rows:
                    yield kept.select(list(columns))
