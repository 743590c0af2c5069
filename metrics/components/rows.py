"""The rows of `variance_components`, read from a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import duckdb

from polyculture.cache.schema import VarianceComponent
from polyculture.cache.sql_file import read_sql
from polyculture.metrics.components.design import Design, PromptValue, design
from polyculture.metrics.components.inference import COMPONENTS, Component, variance_components

QUERIES = Path(__file__).parent / "queries"
METRICS = ("granularity", "diversity", "specificity")
NO_VALUES, NO_COUNTRY_ASKED = "no values", "no country is asked about"
_PLURALS = ("models", "languages", "topics", "countries", "wordings", "names")


def component_rows(store: duckdb.DuckDBPyConnection, inputs: str) -> Iterator[VarianceComponent]:
    """A row per metric, condition and component. Reads the mentions once; holds a number per prompt and model."""
    store.execute(read_sql(QUERIES, "prompt_values"))
    for condition, responses, incidences in store.execute(read_sql(QUERIES, "conditions")).fetchall():
        for metric in METRICS:
            values = _values(store, metric, condition)
            table = design(values)
            reason = NO_VALUES if values else NO_COUNTRY_ASKED
            found = variance_components(table) if table else [Component(name, reason=reason) for name in COMPONENTS]
            of_table = (levels(table), table.used, table.filled, table.left_out) if table else (None, 0, 0, len(values))
            rests_on: tuple[Any, ...] = (*of_table, responses, incidences, inputs)
            yield from (VarianceComponent(metric, condition, *astuple(one), *rests_on) for one in found)


def prompt_design(
    store: duckdb.DuckDBPyConnection, metric: str, conditions: Sequence[str] = ()
) -> tuple[str, float, Design] | None:
    """The first of `conditions` that has values, else the one with most: its responses a prompt, and its table."""
    store.execute(read_sql(QUERIES, "prompt_values"))
    asked = {"metric": metric, "conditions": list(conditions)}
    most = store.execute(read_sql(QUERIES, "most_prompts"), asked).fetchone()
    table = design(_values(store, metric, most[0])) if most else None
    return None if most is None or table is None else (str(most[0]), float(most[1]), table)


def _values(store: duckdb.DuckDBPyConnection, metric: str, condition: str) -> list[PromptValue]:
    """The values of a metric's prompts under one condition."""
    rows = store.execute(read_sql(QUERIES, "values"), {"metric": metric, "condition": condition}).fetchall()
    return [PromptValue(*row) for row in rows]


def levels(table: Design) -> str:
    """The factors of a design that have several levels: '2 models, 13 languages'."""
    known = [(count, name) for count, name in zip(table.levels, _PLURALS, strict=True) if count > 1]
    return ", ".join(f"{count} {name}" for count, name in known) or "one value"
