"""Counts the hits of a sweep: from places to n-grams that may be names, out of core, by DuckDB.

Nothing is estimated and nothing dropped at a bound: what does not fit into memory goes to disk. Nested n-grams are told
apart longest first (`choose.sql`): each place is a completion of the longest n-gram there that is frequent enough as a
whole, and of no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from polyculture.cache.errors import StoreError
from polyculture.cache.sql_files import read_sql
from polyculture.collect.mining.jobs import write_part
from polyculture.collect.mining.patterns import Filters, PatternSet
from polyculture.collect.mining.scan import HITS
from polyculture.collect.mining.sweep import Intake

MEMORY = "1GB"  # what DuckDB may hold; the rest goes to disk
_SQL = Path(__file__).with_name("sql")


@dataclass(frozen=True, slots=True)
class Counted:
    """The n-grams that are kept, as rows of `sql/mined.sql`, and how many there were before each filter."""

    rows: duckdb.DuckDBPyRelation
    hits: int  # in different documents
    ngrams: int
    kept: int
    chosen: int


@contextmanager
def counted(intake: Intake, chosen: PatternSet, filters: Filters, folder: Path) -> Iterator[Counted]:
    """Yields what the hits of a sweep come to. `folder` holds what does not fit into memory meanwhile.

    Raises `StoreError` where the disk is full.
    """
    file = folder / "count.duckdb"
    try:
        file.unlink(missing_ok=True)
        with duckdb.connect(str(file)) as connection:
            connection.execute("SET memory_limit = $limit", {"limit": MEMORY})
            connection.execute("SET temp_directory = $folder", {"folder": str(folder / "spilled")})
            connection.execute("SET preserve_insertion_order = false")
            yield _count(connection, intake, chosen, filters, write_part(folder, "none", 0, HITS.empty_table()))
    except (duckdb.IOException, duckdb.OutOfMemoryException) as fault:
        remedy = "Free space or choose another folder, then run the same command again: it goes on."
        raise StoreError(f"cannot be written: {fault}", where=folder, remedy=remedy) from fault


def _count(
    connection: duckdb.DuckDBPyConnection, intake: Intake, chosen: PatternSet, filters: Filters, empty: Path
) -> Counted:
    texts = [pattern.text for pattern in chosen.patterns]
    names = pa.table({"number": pa.array(range(len(texts)), pa.uint16()), "pattern": pa.array(texts, pa.string())})
    connection.from_arrow(names).create("patterns")
    limits = {"min_count": filters.min_count, "min_documents": filters.min_documents}
    connection.execute(read_sql(_SQL, "hits"), {"parts": [str(part) for part in (empty, *intake.parts)]})
    connection.execute(read_sql(_SQL, "ngrams"))
    connection.execute(read_sql(_SQL, "candidates"), {**limits, "by_characters": chosen.unit == "characters"})
    connection.execute(read_sql(_SQL, "occurrences"))
    sizes = connection.execute("SELECT DISTINCT size FROM candidates ORDER BY size DESC").fetchall()
    for (size,) in sizes:
        connection.execute(read_sql(_SQL, "choose"), {**limits, "size": size, "min_share": filters.min_share})
        connection.execute(read_sql(_SQL, "take"), {"size": size})
    connection.execute("SET preserve_insertion_order = true")
    connection.sql(read_sql(_SQL, "mined"), params={"language": chosen.language}).create("mined")
    return Counted(connection.table("mined"), *(len(connection.table(name)) for name in _COUNTED))


_COUNTED = ("hits", "counted", "candidates", "chosen")
