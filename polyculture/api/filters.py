"""Rows of a view by the values of its columns: `language="ja"`, `topic=["food", "music"]`, `country=None`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import duckdb
from duckdb import ColumnExpression, ConstantExpression, Expression, FunctionExpression

from polyculture.cache.errors import StoreError, did_you_mean

_LISTED = 40  # known values that an error lists; of more, the nearest
_LOOKED_THROUGH = 100_000  # of these
_PLAIN = (str, bool, int, float, date)


def filtered(
    rows: duckdb.DuckDBPyRelation, view: str, wanted: Mapping[str, Any], known: Mapping[str, Sequence[str]]
) -> duckdb.DuckDBPyRelation:
    """The rows whose columns have one of the wanted values; None is a missing value.

    Text is compared exactly, and where no row has it so, in any case. `known` has the values that a column may have
    though no row does: these give no rows. Raises `StoreError` for an unknown column, and for a value that neither a
    row nor `known` has.
    """
    for column, value in wanted.items():
        name = _column(rows, view, column)
        rows = rows.filter(_condition(rows, view, name, _listed(view, name, value), known.get(name, ())))
    return rows


def _column(rows: duckdb.DuckDBPyRelation, view: str, asked: str) -> str:
    names = {name.lower(): name for name in rows.columns}
    if asked.lower() not in names:
        raise StoreError(f"{view} has no column {asked!r}", remedy=did_you_mean(asked, rows.columns))
    return names[asked.lower()]


def _listed(view: str, column: str, value: object) -> list[Any]:
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        values = [_plain(one) for one in value]
    else:
        values = [_plain(value)]
    for one in values:
        if one is not None and not isinstance(one, _PLAIN):
            what = f"{view}: {column} cannot be compared with a {type(one).__name__}"
            raise StoreError(what, remedy="Give text, a number, a truth value, None, or a list of these.")
    return values


def _plain(value: Any) -> Any:
    """A scalar of numpy or pandas as Python's."""
    return value.item() if hasattr(value, "item") and not isinstance(value, _PLAIN) else value


def _condition(
    rows: duckdb.DuckDBPyRelation, view: str, column: str, values: Sequence[Any], known: Sequence[str]
) -> Expression:
    cell = ColumnExpression(column)
    if rows.types[rows.columns.index(column)].id in ("list", "map", "struct"):
        raise StoreError(
            f"{view}: {column} holds several values a row", remedy="Ask for it by sql(), e.g. list_contains."
        )
    exact = [value for value in values if value is not None]
    there = _present(rows, cell, exact)
    condition = cell.isin(*map(ConstantExpression, exact)) if exact else ConstantExpression(False)
    absent = [value for value in exact if value not in there]
    for value in absent:
        spelled = _spelled(rows, cell, value) if isinstance(value, str) else []
        if spelled:
            condition = condition | cell.isin(*map(ConstantExpression, spelled))
        elif str(value).casefold() not in {one.casefold() for one in known}:
            raise StoreError(f"{view} has no {column} {value!r}", remedy=_remedy(rows, cell, value, known))
    return condition | cell.isnull() if None in values else condition


def _present(rows: duckdb.DuckDBPyRelation, cell: Expression, values: Sequence[Any]) -> set[Any]:
    if not values:
        return set()
    found = rows.filter(cell.isin(*map(ConstantExpression, values))).select(cell).distinct().fetchall()
    return {value for (value,) in found}


def _spelled(rows: duckdb.DuckDBPyRelation, cell: Expression, value: str) -> list[str]:
    """How rows write a value that none has as it stands: in another case."""
    same = FunctionExpression("lower", cell) == FunctionExpression("lower", ConstantExpression(value))
    return [found for (found,) in rows.filter(same).select(cell).distinct().fetchall()]


def _remedy(rows: duckdb.DuckDBPyRelation, cell: Expression, value: Any, known: Sequence[str]) -> str:
    found = rows.filter(cell.isnotnull()).select(cell).distinct().limit(_LOOKED_THROUGH).fetchall()
    values = sorted({*(str(one) for (one,) in found), *known})
    if not values:
        return "No row has any."
    if len(values) <= _LISTED:
        return f"Known: {', '.join(values)}."
    near = did_you_mean(str(value), values)
    return near if near.startswith("Did") else f"{len(values)} others are known."
