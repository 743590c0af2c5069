"""Reuses answers that sibling runs have paid for."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from polyculture.cache.database import connect
from polyculture.cache.errors import StoreError
from polyculture.cache.parquet import SUFFIX, missing_columns, rows_to_table
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import RESPONSES


def find_answers(run: RunFolder, job: Job, wanted: pa.Table) -> pa.Table:
    """The rows of `responses` in sibling runs for the wanted keys, in no particular order.

    `wanted` has the columns response_id, prompt_id, condition and country; the rows found carry its values. The key
    identifies model, messages and sampling, so an answer is valid in every run. Failures are not reused, nor are files
    that lack a required column.
    """
    files = [str(file) for file in _sibling_parts(run, job)] if wanted.num_rows else []
    if not files:
        return rows_to_table(RESPONSES, [])
    schema = RESPONSES.schema
    query = Path(__file__).with_name("answers.sql").read_text(encoding="utf-8")
    with connect() as connection:
        connection.register("wanted", wanted)
        connection.register("blank", rows_to_table(RESPONSES, []))
        found: pa.Table = connection.sql(query, params={"files": files}).to_arrow_table()
    return found.select(schema.names).cast(schema)


def _sibling_parts(run: RunFolder, job: Job) -> list[Path]:
    siblings = sorted(path for path in run.root.parent.glob("*/") if path.resolve() != run.root.resolve())
    parts = [part for sibling in siblings for part in _parts(RunFolder(sibling), job)]
    return [part for part in parts if _readable(part)]


def _parts(run: RunFolder, job: Job) -> list[Path]:
    return sorted(run.shards("responses", job).glob(f"part-*{SUFFIX}"))


def _readable(part: Path) -> bool:
    try:
        missing_columns(part, RESPONSES)
    except (OSError, pa.ArrowInvalid, StoreError):
        return False
    return True
