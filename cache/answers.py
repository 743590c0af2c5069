"""Reuses answers that sibling runs have paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from polyculture.cache.database import connect
from polyculture.cache.errors import StoreError
from polyculture.cache.layout import Table
from polyculture.cache.parquet import check_columns, rows_to_table
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import RESPONSES
from polyculture.cache.shards import part_files


def find_answers(run: RunFolder, job: Job, wanted: pa.Table) -> pa.Table:
    """The rows of `responses` in sibling runs for the wanted keys, in no particular order.

    `wanted` has the columns response_id, prompt_id, condition and country. The key is that of the request as sent, so
    an answer is valid in every run; the rows found have the cell that the prompt has in this one. Failures are not
    reused, nor are files that lack a column.
    """
    files = sibling_parts(run, job, RESPONSES) if wanted.num_rows else []
    if not files:
        return rows_to_table(RESPONSES, [])
    schema = RESPONSES.schema
    query = Path(__file__).with_name("answers.sql").read_text(encoding="utf-8")
    with connect() as connection:
        connection.register("wanted", wanted)
        params = {"files": [str(file) for _, file in files]}
        found: pa.Table = connection.sql(query, params=params).to_arrow_table()
    return found.select(schema.names).cast(schema)


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
