"""Counts the hits of a sweep: from places to n-grams that may be names, out of core, by DuckDB.

Counts are exact; data larger than memory goes to disk. A place counts for each n-gram that begins or ends there: for
*chicken* and for *chicken soup*.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from polyculture.cache.database import connect
from polyculture.cache.errors import StoreError
from polyculture.cache.store.parquet import write_parquet
from polyculture.cache.store.sql_file import read_sql
from polyculture.collect.mining.patterns import Filters, PatternSet
from polyculture.collect.mining.scan import HITS
from polyculture.collect.mining.sweep import SweepReport

MEMORY = "1GB"  # DuckDB's memory limit; the rest goes to disk
_SQL = Path(__file__).with_name("sql")


@dataclass(frozen=True, slots=True)
class CountedNgrams:
    """The n-grams that pass the filters, as rows of `sql/mined.sql`, and the counts before each filter."""

    rows: duckdb.DuckDBPyRelation
    hits: int  # in different documents
    ngrams: int
    kept: int


@contextmanager
def counted(swept: SweepReport, chosen: PatternSet, filters: Filters, folder: Path) -> Iterator[CountedNgrams]:
    """Yields the counts of a sweep's hits. `folder` is for data larger than memory.

    Raises `StoreError` where the disk is full.
    """
    file = folder / "count.duckdb"
    try:
        file.unlink(missing_ok=True)
        with connect(file, memory=MEMORY, spill=folder / "spilled") as connection:
            connection.execute("SET preserve_insertion_order = false")
            write_parquet(HITS.empty_table(), empty := folder / "none.parquet")
            yield _count(connection, swept, chosen, filters, empty)
    except (duckdb.IOException, duckdb.OutOfMemoryException) as fault:
        remedy = "Free space or choose another folder, then run the same command again: it resumes."
        raise StoreError(f"cannot be written: {fault}", where=folder, remedy=remedy) from fault


def _count(
    connection: duckdb.DuckDBPyConnection, swept: SweepReport, chosen: PatternSet, filters: Filters, empty: Path
) -> CountedNgrams:
    texts = [pattern.text for pattern in chosen.patterns]
    names = pa.table({"number": pa.array(range(len(texts)), pa.uint16()), "pattern": pa.array(texts, pa.string())})
    connection.from_arrow(names).create("patterns")
    limits = {
        "min_count": filters.min_count,
        "min_documents": filters.min_documents,
        "by_characters": chosen.unit != "words",
    }
    connection.execute(read_sql(_SQL, "hits"), {"parts": [str(part) for part in (empty, *swept.parts)]})
    connection.execute(read_sql(_SQL, "ngrams"))
    connection.execute(read_sql(_SQL, "candidates"), limits)
    connection.execute(read_sql(_SQL, "occurrences"))
    connection.execute("SET preserve_insertion_order = true")
    connection.sql(read_sql(_SQL, "mined"), params={"language": chosen.language}).create("mined")
    return CountedNgrams(connection.table("mined"), *(len(connection.table(name)) for name in _COUNTED))


_COUNTED = ("hits", "counted", "candidates")
