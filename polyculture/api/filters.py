"""Rows of a view by the values of its columns: `language="ja"`, `topic=["food", "music"]`, `country=None`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import duckdb
from duckdb import ColumnExpression, ConstantExpression, FunctionExpression

from polyculture.cache.errors import StoreError
from polyculture.cache.text.suggestions import did_you_mean

_LISTED = 40  # known values that an error lists; of more, the nearest
_LOOKED_THROUGH = 100_000  # of these
_PLAIN = (str, bool, int, float, date, type(None))


def filtered(
    rows: duckdb.DuckDBPyRelation, view: str, wanted: Mapping[str, Any], known: Mapping[str, Sequence[str]]
) -> duckdb.DuckDBPyRelation:
    """The rows whose columns have one of the wanted values; None is a missing value, and text is told in any case.

    `known` has the values that a column may have though no row does: these give no rows. Raises `StoreError` for an
    unknown column, and for a value that neither a row nor `known` has.
    """
    for asked, value in wanted.items():
        name = next((one for one in rows.columns if one.lower() == asked.lower()), None)
        if name is None:
            raise StoreError(f"{view} has no column {asked!r}", remedy=did_you_mean(asked, rows.columns))
        kind, values = rows.types[rows.columns.index(name)].id, _listed(view, name, value)
        if kind in ("list", "map", "struct"):
            remedy = "Ask for it by sql(), e.g. list_contains."
            raise StoreError(f"{view}: {name} holds several values a row", remedy=remedy)
        cell, exact = ColumnExpression(name), [one for one in values if one is not None]
        condition = cell.isin(*map(ConstantExpression, exact)) if exact else ConstantExpression(False)
        if kind == "varchar" and exact:
            lower = [FunctionExpression("lower", ConstantExpression(str(one))) for one in exact]
            condition = FunctionExpression("lower", cell).isin(*lower)
        there = {str(one).casefold() for (one,) in rows.filter(condition).select(cell).distinct().fetchall()}
        there |= {one.casefold() for one in known.get(name, ())}
        for one in exact:
            if str(one).casefold() not in there:
                remedy = _remedy(rows, name, one, known.get(name, ()))
                raise StoreError(f"{view} has no {name} {one!r}", remedy=remedy)
        rows = rows.filter(condition | cell.isnull() if None in values else condition)
    return rows


def _listed(view: str, column: str, value: object) -> list[Any]:
    many = list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping) else [value]
    values = [one.item() if hasattr(one, "item") else one for one in many]  # scalars of numpy and pandas
    for one in values:
        if not isinstance(one, _PLAIN):
            what = f"{view}: {column} cannot be compared with a {type(one).__name__}"
            raise StoreError(what, remedy="Give text, a number, a truth value, None, or a list of these.")
    return values


def _remedy(rows: duckdb.DuckDBPyRelation, column: str, value: Any, known: Sequence[str]) -> str:
    cell = ColumnExpression(column)
    found = rows.filter(cell.isnotnull()).select(cell).distinct().limit(_LOOKED_THROUGH).fetchall()
    values = sorted({*(str(one) for (one,) in found), *known})
    if not values:
        return "No row has any."
    if len(values) <= _LISTED:
        return f"Known: {', '.join(values)}."
    return did_you_mean(str(value), values, otherwise=f"{len(values)} others are known.")
