"""Takes an import out of a run: its texts, what was extracted from them, and the items that it came with.

What is left is numbered anew, as a prompt's samples count from 0 without a gap. The row of the file goes first: after a
kill, rows of an import without one are taken out by the next.

What an extractor was paid for stays, as the row of a request that nobody makes: it counts in no number, is in the bill,
and answers for an equal text of a later import (`extract/sharing.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.layout import Table
from polyculture.cache.parquet import in_categories, read_rows, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import EXTRACTIONS, IMPORT_FAILURES, IMPORTED_FILES, MENTIONS, PUBLISHED_ITEMS, RESPONSES
from polyculture.cache.shards import committed_parts, recover

_NUMBERED = ("response_id", "model", "prompt_id", "language", "topic", "sample", "origin")
_REMOVED = ""  # the request of extractions whose response is gone


def keep_imports(run: RunFolder, import_ids: Collection[str]) -> None:
    """Takes all imports but these out of a run that no other process writes, also what a killed one left."""
    others: tuple[Table[Any], ...] = (IMPORTED_FILES, PUBLISHED_ITEMS, IMPORT_FAILURES)
    for other in others:
        path = run.table(other.name)
        if path.exists():
            kept = read_rows(path, other)
            write_parquet(kept.filter(pc.is_in(kept["import_id"], pa.array(sorted(import_ids), pa.string()))), path)
    rows = [
        row for part in committed_parts(run, RESPONSES) for row in read_rows(part, RESPONSES, _NUMBERED).to_pylist()
    ]
    samples, next_sample = dict[str, int](), Counter[tuple[Any, ...]]()
    for row in sorted(rows, key=lambda row: row["sample"]):
        if str(row["origin"]).partition(":")[0] in import_ids:
            place = (row["model"], row["prompt_id"], row["language"], row["topic"])
            samples[row["response_id"]] = next_sample[place]
            next_sample[place] += 1
    for job in run.jobs(EXTRACTIONS.name):
        recover(run, job, [MENTIONS, EXTRACTIONS])  # what a killed run left in a journal would come back later
    for table in (MENTIONS, EXTRACTIONS, RESPONSES):
        for part in committed_parts(run, table):
            _rewrite(part, table, samples)


def _rewrite(part: Path, table: Table[Any], samples: Mapping[str, int]) -> None:
    """A part with the rows of responses that have a number, under that number, and with what was paid for others."""
    rows = read_rows(part, table)
    ids, before = rows["response_id"].to_pylist(), rows["sample"].to_pylist()
    after = [samples.get(str(one)) for one in ids]
    if after == before:
        return
    kept = _with(rows, "sample", after).filter(pc.is_valid(pa.array(after, pa.int64())))
    if table is EXTRACTIONS:
        paid = rows.filter(pc.and_(pc.invert(pc.is_in(rows["response_id"], pa.array(samples, pa.string()))),
                                   pc.is_valid(rows["purchase"])))  # fmt: skip
        # The same text may come back under its id: the old key would say that it is done.
        keys = [f"{key}-{uuid4().hex[:8]}" for key in paid["extraction_id"].to_pylist()]
        paid = _with(_with(paid, "extraction_id", keys), "request_id", [_REMOVED] * len(keys))
        kept = pa.concat_tables([kept, paid])
    write_parquet(in_categories(kept), part)


def _with(rows: pa.Table, name: str, values: Sequence[Any]) -> pa.Table:
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, rows.schema.field(place), pa.array(values, rows.schema.field(place).type))
