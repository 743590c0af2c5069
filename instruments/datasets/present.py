"""What a data set holds now, written beside the rows that were made of it.

Rows of contexts and entities that it does not hold any more stay on disk, out of every view, and count again when it
holds them again; labels and translations are always those that it has now.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from polyculture.cache.layout import Table
from polyculture.cache.parquet import read_rows, rows_to_table
from polyculture.cache.run_folder import RunFolder
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext
from polyculture.instruments.datasets.phrasings import with_phrasings
from polyculture.instruments.datasets.rows import DATASET_CONTEXTS, DATASET_ENTITIES
from polyculture.instruments.swaps.sentiment import gold_label

KEYS = {DATASET_CONTEXTS: "context_id", DATASET_ENTITIES: "entity_id"}
Rows = dict[str, dict[str, Any]]


def present_tables(
    run: RunFolder, dataset: DataSet, helped: Iterable[MaskedContext] = ()
) -> dict[Table[Any], pa.Table]:
    """The tables that must be written for `dataset` to be what the run takes for present under its name.

    None where it is already. `helped` are contexts with help before them, as they are asked now: they take the place of
    others with the same help before the same context. A data set read in English stands beside the same one read as it
    is, in other languages.
    """
    contexts = [_context(context, english=dataset.english) for context in with_phrasings(dataset).contexts]
    entities = [_entity(entity, english=dataset.english) for entity in dataset.entities]
    found: dict[Table[Any], list[dict[str, Any]]] = {DATASET_CONTEXTS: contexts, DATASET_ENTITIES: entities}
    now = {table: _by_id(rows, KEYS[table]) for table, rows in found.items()}
    before = {table: _read(run, table) for table in now}
    asked = [_context(context, english=dataset.english) for context in helped]
    now[DATASET_CONTEXTS] |= _with_help(before[DATASET_CONTEXTS], now[DATASET_CONTEXTS], asked)
    tables = {
        table: _sorted(table, {**_others(before[table], KEYS[table], rows, dataset), **rows})
        for table, rows in now.items()
    }
    return {table: rows for table, rows in tables.items() if rows.to_pylist() != before[table]}


def _others(before: list[dict[str, Any]], key: str, now: Rows, dataset: DataSet) -> Rows:
    """The rows of other data sets, and of this one in its other reading."""
    languages = {row["language"] for row in now.values()}
    others = [
        row
        for row in before
        if row["dataset"] != dataset.name or (row["english"] != dataset.english and row["language"] not in languages)
    ]
    return _by_id(others, key)


def _with_help(before: list[dict[str, Any]], plain: Rows, helped: list[dict[str, Any]]) -> Rows:
    """The helped contexts of now, and others of before whose plain context is still there."""
    replaced = {(row["base_context_id"], row["context_prefix"]) for row in helped}
    kept = [
        row
        for row in before
        if row["base_context_id"] in plain and (row["base_context_id"], row["context_prefix"]) not in replaced
    ]
    return _by_id([*kept, *helped], KEYS[DATASET_CONTEXTS])


def _read(run: RunFolder, table: Table[Any]) -> list[dict[str, Any]]:
    path = run.table(table.name)
    return read_rows(path, table).to_pylist() if path.exists() else []


def _sorted(table: Table[Any], rows: Rows) -> pa.Table:
    return rows_to_table(table, [rows[key] for key in sorted(rows)])


def _by_id(rows: Iterable[dict[str, Any]], key: str) -> Rows:
    return {row[key]: row for row in rows}


def _context(context: MaskedContext, *, english: bool) -> dict[str, Any]:
    return {
        "context_id": context.context_id,
        "dataset": context.dataset,
        "language": context.language,
        "english": english,
        "gender": context.gender,
        "sentiment": gold_label(context),
        "context_prefix": context.context_prefix,
        "base_context_id": context.base_context_id,
    }


def _entity(entity: CulturalEntity, *, english: bool) -> dict[str, Any]:
    return {
        "entity_id": entity.entity_id,
        "dataset": entity.dataset,
        "language": entity.language,
        "english": english,
        "gender": entity.gender,
        "translation": entity.english,
        "publisher_qid": entity.qid,
    }
