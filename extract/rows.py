"""Extracted responses as rows of the tables `extractions` and `mentions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from polyculture.cache.catalog import Topic
from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.cache.schema import EXTRACTIONS, MENTIONS
from polyculture.cache.shards import Record
from polyculture.extract.base import Extracted, FoundMention

# The columns that a response hands on to its extraction and mentions.
CELL = (
    "response_id", "prompt_id", "sampling_id", "model", "language", "topic", "condition", "country", "sample",
)  # fmt: skip


def extraction_record(
    cell: Mapping[str, Any], extracted: Extracted, topic: Topic, extractor_id: str, extraction_id: str
) -> Record:
    """One extracted response as a record for a job's journal."""
    shared = {**cell, "extractor_id": extractor_id, "extraction_id": extraction_id}
    extraction = {**shared, "mentions": len(extracted.mentions), **_result(extracted)}
    mentions = [
        {**shared, "ordinal": ordinal, **_found(mention, topic)} for ordinal, mention in enumerate(extracted.mentions)
    ]
    return {"mentions": mentions, "extractions": [extraction]}


def extraction_tables(
    cells: pa.Table, found: Sequence[Extracted], topic: Topic, extractor_id: str
) -> dict[str, pa.Table]:
    """Many extracted responses as Arrow tables. `cells` has the columns `CELL` of at least all responses in `found`."""
    place = {response_id: row for row, response_id in enumerate(cells["response_id"].to_pylist())}
    ids = [content_id(one.response_id, extractor_id) for one in found]
    rows = [place[one.response_id] for one in found]
    extractions = _columns(cells, rows, extractor_id, ids)
    extractions["mentions"] = [len(one.mentions) for one in found]
    for column in _RESULT:
        extractions[column] = [getattr(one, column) for one in found]
    every = [(row, key, mention) for row, key, one in zip(rows, ids, found, strict=True) for mention in one.mentions]
    mentions = _columns(cells, [row for row, _, _ in every], extractor_id, [key for _, key, _ in every])
    mentions["ordinal"] = [ordinal for one in found for ordinal in range(len(one.mentions))]
    for column in _FOUND:
        mentions[column] = [getattr(mention, column) for _, _, mention in every]
    mentions["granularity"] = [topic.kinds[mention.kind].granularity for _, _, mention in every]
    mentions["counted"] = [topic.kinds[mention.kind].counted for _, _, mention in every]
    return {"mentions": _table(MENTIONS, mentions), "extractions": _table(EXTRACTIONS, extractions)}


_RESULT = (
    "status",
    "attempts",
    "error",
    "retryable",
    "raw",
    "prompt_tokens",
    "completion_tokens",
    "extractor_model",
    "purchase",
)
_FOUND = ("surface", "kind", "start", "end", "hallucinated")


def _result(extracted: Extracted) -> dict[str, Any]:
    return {column: getattr(extracted, column) for column in _RESULT}


def _found(mention: FoundMention, topic: Topic) -> dict[str, Any]:
    kind = topic.kinds[mention.kind]
    return {
        **{column: getattr(mention, column) for column in _FOUND},
        "granularity": kind.granularity,
        "counted": kind.counted,
    }


def _columns(cells: pa.Table, rows: list[int], extractor_id: str, ids: list[str]) -> dict[str, Any]:
    taken = cells.take(pa.array(rows, pa.int64()))
    shared: dict[str, Any] = {column: taken[column] for column in CELL}
    return {**shared, "extractor_id": [extractor_id] * len(rows), "extraction_id": ids}


def _table(table: Table[Any], columns: Mapping[str, Any]) -> pa.Table:
    schema = table.schema
    return pa.table({field.name: columns[field.name] for field in schema}, schema=schema)
