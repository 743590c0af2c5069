"""Takes an import out of a run: its texts, what was extracted from them, and the items that it came with.

Nothing marks a row as removed: what is left is numbered anew, as a prompt's samples count from 0 without a gap. The row
of the file goes first: after a kill, rows of an import without one are taken out by the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.layout import Table
from polyculture.cache.parquet import in_categories, read_rows, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import EXTRACTIONS, IMPORT_FAILURES, IMPORTED_FILES, MENTIONS, PUBLISHED_ITEMS, RESPONSES
from polyculture.cache.shards import committed_parts

_NUMBERED = ("response_id", "model", "prompt_id", "language", "topic", "sample", "origin")


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
    for table in (MENTIONS, EXTRACTIONS, RESPONSES):
        for part in committed_parts(run, table):
            _rewrite(part, table, samples)


def _rewrite(part: Path, table: Table[Any], samples: Mapping[str, int]) -> None:
    """A part with the rows of responses that have a number, under that number."""
    rows = read_rows(part, table)
    ids, before = rows["response_id"].to_pylist(), rows["sample"].to_pylist()
    after = [samples.get(str(one)) for one in ids]
    if after == before:
        return
    place = rows.schema.get_field_index("sample")
    kept = rows.set_column(place, rows.schema.field(place), pa.array(after, rows.schema.field(place).type))
    write_parquet(in_categories(kept.filter(pc.is_valid(kept["sample"]))), part)
