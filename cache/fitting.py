"""The store's own door: rows whose values do not fit their columns are brought into type, or rejected by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.types as kind

from polyculture.cache.incoming import mended
from polyculture.cache.layout import Table

_NOTE = "note"  # the column, of tables that have it, that says what was changed
_LEAST, _MOST = -(2**63), 2**63 - 1


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
