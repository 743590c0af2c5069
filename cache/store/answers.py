"""The rows of a job's files that count, for the next step: those of a request that the experiment makes now
(`generate/request.py`), in this run or a sibling.

What no request of now asks stays on disk, and counts again when its request comes back. For the views of a store
`views` says the same in SQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from polyculture.cache.database import memory_database
from polyculture.cache.errors import StoreError
from polyculture.cache.store.layout import Table
from polyculture.cache.store.parquet import check_columns, opened_parquet, rows_to_table
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.shards import part_files

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BATCH_ROWS = 10_000
REQUEST_COLUMNS = ("request_id", "sample")  # that say whether a row is wanted


def wanted_batches(
    run: RunFolder, job: Job, table: Table[Any], wanted: pa.Table, columns: Sequence[str], rows: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """The job's committed rows of the requests in `wanted` (request_id, n), failed ones included, `rows` at a time: the
    input of the next step.

    Rows that are still in the job's journal are not included; the next process that opens the job commits them.
    """
    import pyarrow.compute as pc  # here: it takes as long to load as a whole store

    read = [*dict.fromkeys((*columns, *REQUEST_COLUMNS))]
    requests, limits = _requests(wanted)
    for part in part_files(run.shards(table.name, job)):
        with opened_parquet(part) as file:
            for batch in file.iter_batches(batch_size=rows, columns=read):
                kept = batch.filter(pc.less(batch["sample"], _limits(batch, requests, limits)))
                if kept.num_rows:
                    yield kept.select(list(columns))


def wanted_rows(rows: pa.Table, wanted: pa.Table) -> pa.Table:
    """The rows of the requests in `wanted` (request_id, n), by their columns request_id and sample."""
    import pyarrow.compute as pc  # here: as above

    return rows.filter(pc.less(rows["sample"], _limits(rows, *_requests(wanted))))


def _requests(wanted: pa.Table) -> tuple[pa.Array[Any], pa.Array[Any]]:
    """The requests, and how many samples of each are wanted."""
    return wanted["request_id"].combine_chunks(), wanted["n"].combine_chunks()


def _limits(rows: pa.Table | pa.RecordBatch, requests: pa.Array[Any], limits: pa.Array[Any]) -> Any:
    """How many samples are wanted of the request of each row; null where nobody wants it."""
    import pyarrow.compute as pc  # here: as above

    return pc.take(limits, pc.index_in(rows["request_id"], value_set=requests))


def find_answers(
    run: RunFolder,
    job: Job,
    table: Table[Any],
    wanted: pa.Table,
    by: Sequence[str] | None = None,
    committed: Sequence[Table[Any]] = (),
) -> dict[str, pa.Table]:
    """The rows of a table in sibling runs for the wanted keys, by the table's name, in no particular order; and those
    of the tables that it commits, each of the part that its row is from.

    `wanted` has the table's key, and the columns that a row found takes from here: the cell that its prompt has in this
    run. The key is that of the request as sent, so an answer is valid in every run; by this run nothing was paid for
    it. Of several runs the first by name speaks. Failures are not reused, nor are files that lack a column.

    Where the key says more than the request, the columns `by` tell which answer is to the same one; this run's own rows
    are looked at, too.
    """
    parts = sibling_parts(run, job, table) if wanted.num_rows else []
    if by is not None and wanted.num_rows:
        parts = [*((run, part) for part in part_files(run.shards(table.name, job))), *parts]
    if not parts:
        return {one.name: rows_to_table(one, []) for one in (*committed, table)}
    same = by or (table.key,)
    here = [f'wanted."{name}" AS "{name}"' for name in wanted.column_names if name not in same]
    here += ["NULL AS purchase"] if "purchase" in table.columns else []
    replaced = f"REPLACE ({', '.join(here)})" if here else ""
    query = f"""
        SELECT DISTINCT ON (wanted.{table.key}) stored.* {replaced}
        FROM read_parquet($files, filename = 'file') AS stored JOIN wanted USING ({", ".join(map(str, same))})
        WHERE stored.status = 'ok'
        ORDER BY wanted.{table.key}, stored.file
    """  # noqa: S608, our own names
    with memory_database() as connection:
        connection.register("wanted", wanted)
        found: pa.Table = connection.sql(query, params={"files": [str(part) for _, part in parts]}).to_arrow_table()
        tables = {one.name: _committed(connection, job, one, table, parts, found) for one in committed}
    return {**tables, table.name: found.select(table.schema.names).cast(table.schema)}


def _committed(
    connection: DuckDBPyConnection,
    job: Job,
    of: Table[Any],
    table: Table[Any],
    parts: Sequence[tuple[RunFolder, Path]],
    found: pa.Table,
) -> pa.Table:
    """The rows of a table that were written together with the rows `found` of the table that commits it."""
    beside = {str(part): str(run.shards(of.name, job) / part.name) for run, part in parts}
    from_parts = [beside[str(file)] for file in found["file"].to_pylist()]
    files = sorted({file for file in from_parts if Path(file).exists()})
    if not files:
        return rows_to_table(of, [])
    keys = pa.table(
        {table.key or "": found[table.key or ""].combine_chunks(), "part": pa.array(from_parts, pa.string())}
    )
    connection.register("keys", keys)
    query = f"""
        SELECT stored.* FROM read_parquet($files, filename = 'file') AS stored
        SEMI JOIN keys ON keys.{table.key} = stored.{table.key} AND keys.part = stored.file
    """  # noqa: S608, our own names
    rows: pa.Table = connection.sql(query, params={"files": files}).to_arrow_table()
    return rows.select(of.schema.names).cast(of.schema)


def sibling_parts(run: RunFolder, job: Job, table: Table[Any]) -> list[tuple[RunFolder, Path]]:
    """The parts of a job's table in sibling runs of this format, each with its run."""
    beside = sorted(path for path in run.root.parent.glob("*/") if path.resolve() != run.root.resolve())
    runs = [RunFolder(path) for path in beside]
    parts = [(one, part) for one in runs for part in part_files(one.shards(table.name, job))]
    return [(one, part) for one, part in parts if _readable(part, table)]


def _readable(part: Path, table: Table[Any]) -> bool:
    try:
        check_columns(part, table)
    except (OSError, pa.ArrowInvalid, StoreError):
        return False
    return True
