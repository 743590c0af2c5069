"""Rows of a `Table`: brought into its columns' types, voided or replaced when they are asked again, in whole files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as kind

from polyculture.cache.errors import StoreError
from polyculture.cache.files import replacing
from polyculture.cache.store.layout import Table
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.text.sanitize import mended

SUFFIX = ".parquet"
_IN_PATHS = ("model", "language", "topic")  # columns that the paths of a job's parts name too
_NOTE = "note"  # the column, of tables that have it, that says what was changed
_LEAST, _MOST = -(2**63), 2**63 - 1
_PAID = ("prompt_tokens", "completion_tokens", "named_cost")
VOID = "unusable"  # their status, with `retryable`
R = TypeVar("R")


def rows_to_table(table: Table[Any], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows as dictionaries, a key per column of `table`, as an Arrow table."""
    return pa.Table.from_pylist(list(rows), schema=table.schema)


def objects_to_table(table: Table[R], objects: Sequence[R]) -> pa.Table:
    """Row objects (`Prompt`, `Link`, ...) as an Arrow table, column by column."""
    columns = [
        pa.array(map(attrgetter(field.name), objects), type=field.type, size=len(objects)) for field in table.schema
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)


def write_parquet(table: pa.Table, path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Writes `table` to `path`, whole or not at all; `metadata` goes into the file's footer.

    Raises `StoreError` where the folder cannot be written or the disk is full.
    """
    if metadata:
        footer = {key.encode(): value.encode() for key, value in metadata.items()}
        table = table.replace_schema_metadata(footer)
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def write_batches(batches: pa.RecordBatchReader | Iterable[pa.RecordBatch], path: Path, schema: pa.Schema) -> None:
    """Writes rows to `path` batch by batch, whole or not at all, so that a table need not fit into memory.

    Raises `StoreError` where the folder cannot be written or the disk is full.
    """
    with replacing(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)


def is_stored(table: pa.Table, path: Path) -> bool:
    """Whether a file has these very rows, in their order."""
    if not path.exists():
        return False
    with suppress(pa.ArrowException), opened_parquet(path) as file:
        return bool(file.read().equals(table))
    return False


def in_categories(table: pa.Table) -> pa.Table:
    """The rows of a part, with the columns that its path names as categories.

    `pandas.read_parquet` of a table's folder takes these columns from the paths, as categories, and refuses files that
    hold them as anything else.
    """
    category = pa.dictionary(pa.int32(), pa.string())
    for name in _IN_PATHS:
        place = table.schema.get_field_index(name)
        if place >= 0 and table.schema.field(place).type == pa.string():
            field = table.schema.field(place).with_type(category)
            table = table.set_column(place, field, table.column(place).cast(category))
    return table


def read_rows(path: Path, table: Table[Any], columns: Sequence[str] = ()) -> pa.Table:
    """`columns` of a file of `table`, or all of them. Raises `StoreError` where the file is not of this table."""
    check_columns(path, table)
    wanted = list(columns or table.columns)
    with opened_parquet(path) as file:  # `pq.read_table` does the same, and loads pandas
        rows = file.read(wanted)
    for at, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type):
            plain = field.with_type(field.type.value_type)
            rows = rows.set_column(at, plain, rows.column(at).cast(plain.type))
    return rows.select(wanted)


def largest(path: Path, column: str) -> int:
    """The largest of a file's whole numbers in a column; -1 where it has no row."""
    with opened_parquet(path) as file:
        place = file.schema_arrow.get_field_index(column)
        groups = [file.metadata.row_group(number).column(place) for number in range(file.metadata.num_row_groups)]
        told = [group.statistics for group in groups]
        if all(one is not None and one.has_min_max for one in told):
            values = [one.max for one in told if one is not None]
        else:
            values = file.read([column])[column].drop_null().to_pylist()
    return max((int(value) for value in values if value is not None), default=-1)


def check_columns(path: Path, table: Table[Any]) -> None:
    """Raises `StoreError` where a file lacks a column of its table."""
    there = frozenset(_footer(path).names)
    if missing := [name for name in table.columns if name not in there]:
        raise StoreError(
            f"has no column {', '.join(missing)}: another version of Polyculture wrote it",
            where=path,
            remedy="Read this run with that version, or begin a new one.",
        )


def read_metadata(path: Path) -> dict[str, str]:
    """What `write_parquet` was given as `metadata`; empty where the file is absent or has none."""
    if not path.exists():
        return {}
    found = _footer(path).metadata or {}
    return {key.decode(): value.decode() for key, value in found.items() if not key.startswith(b"ARROW:")}


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Puts the path before Arrow's errors in this block: Arrow does not name the file."""
    try:
        yield
    except pa.ArrowException as fault:
        raise pa.ArrowInvalid(f"{path}: {fault}") from fault
    except OSError as fault:  # of a damaged page: the system's own errors have a number
        if fault.errno is not None:
            raise
        raise pa.ArrowInvalid(f"{path}: {fault}") from fault


@contextmanager
def opened_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """A file to read. Every page is held against its checksum, where it has one; errors name the file."""
    with naming(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        yield file


def _footer(path: Path) -> pa.Schema:
    with naming(path):
        return pq.read_schema(path)


def present_rows(
    run: RunFolder,
    table: Table[Any],
    rows: Sequence[Any],
    others: Callable[[pa.Table], pa.Table] = lambda rows: rows,
) -> dict[Table[Any], pa.Table]:
    """The table to write so that `rows` take the place of those that its declaration calls the same; nothing where it
    is so already.

    `others` says what becomes of the other rows. No value in the columns of `same` is NULL.
    """
    import pyarrow.compute as pc  # here: it takes as long to load as a whole store

    now, path = objects_to_table(table, rows), run.table(table.name)
    if not path.exists():
        return {table: now}
    before = read_rows(path, table).cast(table.schema)
    same = pc.is_in(joined(before, table.same), value_set=joined(now, table.same))
    kept = before.filter(pc.invert(same))
    left = others(kept)
    if before.filter(same).equals(now) and left.equals(kept):
        return {}
    return {table: pa.concat_tables([left, now])}


def joined(table: pa.Table, key: Sequence[str]) -> Any:
    """The values of each row's key as one text."""
    import pyarrow.compute as pc  # here: it takes as long to load as a whole store

    columns: list[Any] = [table[name].combine_chunks().cast(pa.string()) for name in key]
    return pc.binary_join_element_wise(*columns, "\n")


class UnfitError(ValueError):
    """A row has no value of the right type in a column that cannot be NULL."""


class _UnfitValueError(Exception):
    """A value is not of a type."""


def fitted(table: Table[Any], row: Any) -> dict[str, Any]:
    """A row, an object or a dictionary by column, with values of its columns' types.

    A value that does not fit becomes NULL where it may, and the column `note` says so. Raises `UnfitError` elsewhere.
    """
    found, notes = {}, []
    for field in table.schema:
        value = row.get(field.name) if isinstance(row, Mapping) else getattr(row, field.name)
        try:
            found[field.name] = None if value is None else _fit(field.type, value)
        except _UnfitValueError:
            notes.append(f"{field.name}: dropped, as it does not fit")
            found[field.name] = None
        if found[field.name] is None and not field.nullable:
            raise UnfitError(f"{field.name} has no value that fits")
    if notes and _NOTE in found:
        found[_NOTE] = "; ".join(filter(None, (found[_NOTE], *notes)))
    return found


def _fit(wanted: pa.DataType, value: Any) -> Any:
    if kind.is_string(wanted) and isinstance(value, str):
        return mended(value)
    if kind.is_boolean(wanted) and isinstance(value, bool):
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind.is_int64(wanted) and number and _LEAST <= value <= _MOST and int(value) == value:
        return int(value)
    if kind.is_float64(wanted) and number:
        return _float(value)
    if isinstance(wanted, pa.ListType) and isinstance(value, list | tuple):
        return [None if one is None else _fit(wanted.value_type, one) for one in value]
    if isinstance(wanted, pa.MapType) and isinstance(value, Mapping | list | tuple):
        pairs = value.items() if isinstance(value, Mapping) else value
        return [(_fit(wanted.key_type, key), _fit(wanted.item_type, one)) for key, one in pairs]
    raise _UnfitValueError


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError as fault:
        raise _UnfitValueError from fault


def paid_rows(rows: pa.Table) -> pa.Table:
    """The rows that this run bought tokens with."""
    import pyarrow.compute as pc  # here: it takes as long to load as a whole store

    if not {"purchase", "status", *_PAID}.issubset(rows.column_names):
        return rows.slice(0, 0)
    # A comparison with NULL is NULL, and `or` takes it for false where another one holds.
    some = pc.field(_PAID[0]) > 0
    for name in _PAID[1:]:
        some |= pc.field(name) > 0
    return rows.filter(some & pc.field("purchase").is_valid())


def unpaid_rows(rows: pa.Table) -> pa.Table:
    """The rows as if nothing had been paid for them."""
    for name in ("purchase", *_PAID):
        if name in rows.column_names:
            rows = _with(rows, name, pa.nulls(rows.num_rows, rows.schema.field(name).type))
    return rows


def void_rows(rows: pa.Table, key: str) -> pa.Table:
    """Rows that complete nothing and count as no attempt, each under a new key."""
    keys = [f"{old}-{uuid4().hex[:8]}" for old in rows[key].to_pylist()]
    status = pa.array([VOID] * rows.num_rows, pa.string())
    return _retryable(_with(_with(rows, key, pa.array(keys, pa.string())), "status", status))


def reopened_rows(rows: pa.Table, key: str) -> pa.Table:
    """Failures that the next run tries again, and unusable answers that count as no attempt."""
    import pyarrow.compute as pc  # here: it takes as long to load as a whole store

    unusable = rows.filter(pc.field("status") == VOID)
    return pa.concat_tables([_retryable(rows.filter(pc.field("status") != VOID)), void_rows(unusable, key)])


def _retryable(rows: pa.Table) -> pa.Table:
    if "retryable" not in rows.column_names:
        return rows
    return _with(rows, "retryable", pa.array([True] * rows.num_rows, pa.bool_()))


def _with(rows: pa.Table, name: str, values: Any) -> pa.Table:
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, rows.schema.field(place), values)
