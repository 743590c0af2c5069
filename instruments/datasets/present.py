"""The present content of a data set, recorded in the run: it decides which rows are current.

Rows about contexts and entities that it no longer holds stay on disk, out of every view, and are valid again when it
holds them again. Labels and translations are always the present ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import pyarrow as pa

from polyculture.cache.store.layout import Table
from polyculture.cache.store.parquet import objects_to_table, read_rows
from polyculture.cache.store.run_folder import RunFolder
from polyculture.instruments.datasets.layout import (
    DATASET_CONTEXTS,
    DATASET_ENTITIES,
    DatasetContext,
    DatasetEntity,
)
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext, gold_label
from polyculture.instruments.datasets.phrasings import with_phrasings

R = TypeVar("R", DatasetContext, DatasetEntity)


def present_tables(
    run: RunFolder, dataset: DataSet, prefixed: Iterable[MaskedContext] = ()
) -> dict[Table[Any], pa.Table]:
    """The tables to write so that `dataset` is the run's present one under its name.

    None where it is already. `prefixed` are contexts with a prefix, as they are asked now: they take the place of
    others with the same prefix before the same context. A data set read in English stands beside the same one read as
    it is, in other languages. Rows that only a reading as published has are there in any case, and marked.
    """
    contexts = [_context(one, dataset) for one in with_phrasings(dataset).every_context]
    entities = [_entity(one, dataset) for one in dataset.every_entity]
    plain = {context.context_id: context for context in contexts}
    with_prefix = [_prefixed(_context(context, dataset), plain) for context in prefixed]
    before, before_entities = _read(run, DATASET_CONTEXTS), _read(run, DATASET_ENTITIES)
    kept = _with_prefix(before, plain, with_prefix)
    now = {row.context_id: row for row in (*_others(before, [*contexts, *kept], dataset), *contexts, *kept)}
    now_entities = {row.entity_id: row for row in (*_others(before_entities, entities, dataset), *entities)}
    return {
        **_changed(DATASET_CONTEXTS, before, [now[key] for key in sorted(now)]),
        **_changed(DATASET_ENTITIES, before_entities, [now_entities[key] for key in sorted(now_entities)]),
    }


def _changed(table: Table[R], before: list[R], now: list[R]) -> dict[Table[Any], pa.Table]:
    return {} if now == before else {table: objects_to_table(table, now)}


def _others(before: list[R], now: list[R], dataset: DataSet) -> list[R]:
    """The rows of other data sets, and of this one in its other reading."""
    languages = {row.language for row in now}
    return [
        row
        for row in before
        if row.dataset != dataset.name or (row.english != dataset.english and row.language not in languages)
    ]


def _with_prefix(
    before: list[DatasetContext], plain: Mapping[str, DatasetContext], prefixed: list[DatasetContext]
) -> list[DatasetContext]:
    """The contexts with a prefix of now, and others of before whose plain context is still there."""
    replaced = {(row.base_context_id, row.context_prefix) for row in prefixed}
    kept = [
        _prefixed(row, plain)
        for row in before
        if row.base_context_id in plain and (row.base_context_id, row.context_prefix) not in replaced
    ]
    return [*kept, *prefixed]


def _prefixed(row: DatasetContext, plain: Mapping[str, DatasetContext]) -> DatasetContext:
    """A context with a prefix counts where its plain one does."""
    base = plain.get(row.base_context_id or "")
    return row if base is None else replace(row, left_out=base.left_out, as_published=base.as_published)


def _read(run: RunFolder, table: Table[R]) -> list[R]:
    path = run.table(table.name)
    return [table.row(**row) for row in read_rows(path, table).to_pylist()] if path.exists() else []


def _context(context: MaskedContext, dataset: DataSet) -> DatasetContext:
    return DatasetContext(
        context_id=context.context_id,
        dataset=context.dataset,
        language=context.language,
        english=dataset.english,
        culture=context.culture,
        entity_type=context.entity_type,
        gender=context.gender,
        setting=context.setting,
        form=context.form,
        context=context.text,
        sentiment=gold_label(context),
        phrasing=context.phrasing,
        pair=context.pair,
        context_prefix=context.context_prefix,
        base_context_id=context.base_context_id,
        source_context_id=context.source_context_id,
        source_language=context.source_language,
        unit=context.unit,
        starts_with_gap=context.starts_with_gap and context.context_prefix is None,
        left_out=context.left_out,
        repeats=context.repeats,
        as_published=dataset.as_published,
    )


def _entity(one: CulturalEntity, dataset: DataSet) -> DatasetEntity:
    return DatasetEntity(
        entity_id=one.entity_id,
        dataset=one.dataset,
        language=one.language,
        english=dataset.english,
        culture=one.culture,
        entity_type=one.entity_type,
        entity=one.surface,
        gender=one.gender,
        published_gender=one.published_gender,
        translation=one.english,
        publisher_qid=one.qid,
        reference=one.culture == dataset.reference,
        left_out=one.ours is None,
        repeats=one.repeats,
        as_published=dataset.as_published,
    )
