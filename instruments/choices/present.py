"""The questions of a run as they are at present: a table that is written where it is not so already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from polyculture.cache.layout import Table

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.run_folder import RunFolder


def present_rows(
    run: RunFolder, table: Table[Any], rows: Iterable[object], dataset: str | None = None
) -> dict[Table[Any], pa.Table]:
    """The table to write so that `rows` are the run's rows of `dataset`; none where they are already.

    Rows of other data sets of the run stay, by the column `dataset`. Without a data set the rows are all there are.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from polyculture.cache.parquet import objects_to_table, read_rows

    now = objects_to_table(table, list(rows))
    path = run.table(table.name)
    if not path.exists():
        return {table: now}
    before = read_rows(path, table).cast(table.schema)
    if dataset is None:
        return {} if before.equals(now) else {table: now}
    if before.filter(pc.field("dataset") == dataset).equals(now):
        return {}
    return {table: pa.concat_tables([before.filter(pc.field("dataset") != dataset), now])}
