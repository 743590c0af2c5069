"""Rows on their way into the store: brought into the types of their columns; voided when they are asked again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kind

from polyculture.cache.layout import Table
from polyculture.cache.sanitize import mended

_NOTE = "note"  # the column, of tables that have it, that says what was changed
_LEAST, _MOST = -(2**63), 2**63 - 1
_TOKENS = ("prompt_tokens", "completion_tokens")
VOID = "unusable"  # their status, with `retryable`


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
    if not {"purchase", "status", *_TOKENS}.issubset(rows.column_names):
        return rows.slice(0, 0)
    some = (pc.field(_TOKENS[0]) > 0) | (pc.field(_TOKENS[1]) > 0)
    return rows.filter(some & pc.field("purchase").is_valid())


def void_rows(rows: pa.Table, key: str) -> pa.Table:
    """Rows that complete nothing and count as no attempt, each under a new key."""
    keys = [f"{old}-{uuid4().hex[:8]}" for old in rows[key].to_pylist()]
    status = pa.array([VOID] * rows.num_rows, pa.string())
    return _retryable(_with(_with(rows, key, pa.array(keys, pa.string())), "status", status))


def reopened_rows(rows: pa.Table, key: str) -> pa.Table:
    """Failures that the next run tries again, and unusable answers that count as no attempt."""
    unusable = rows.filter(pc.field("status") == VOID)
    return pa.concat_tables([_retryable(rows.filter(pc.field("status") != VOID)), void_rows(unusable, key)])


def _retryable(rows: pa.Table) -> pa.Table:
    if "retryable" not in rows.column_names:
        return rows
    return _with(rows, "retryable", pa.array([True] * rows.num_rows, pa.bool_()))


def _with(rows: pa.Table, name: str, values: Any) -> pa.Table:
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, rows.schema.field(place), values)
