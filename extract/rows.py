"""Extracted responses as rows of the tables `extractions` and `mentions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

from polyculture.cache.catalog import Topic
from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.cache.schema import EXTRACTIONS, MENTIONS, Extraction, Mention
from polyculture.extract.base import Extracted, FoundMention


@dataclass(frozen=True, slots=True)
class ResponseColumns:
    """The columns that extractions and mentions copy from the response."""

    response_id: str
    request_id: str
    prompt_id: str
    model: str
    language: str
    topic: str
    condition: str
    country: str | None
    sample: int


RESPONSE_COLUMNS = tuple(field.name for field in fields(ResponseColumns))
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
    "ending",
    "finish_reason",
    "note",
)
_FOUND = ("surface", "kind", "start", "end", "hallucinated", "name", "english", "repaired", "returned")


def extraction_id(response_id: str, extractor_id: str, reader_id: str | None = None, attempt: int | None = None) -> str:
    """The key of an extraction; of an answer of no use that of its attempt, whoever reads it."""
    of_reader = [reader_id] if reader_id and attempt is None else []
    return content_id(response_id, extractor_id, *([] if attempt is None else [attempt]), *of_reader)


def extraction_rows(
    cell: ResponseColumns,
    extracted: Extracted,
    topic: Topic,
    extractor_id: str,
    reader_id: str | None = None,
    asked_id: str | None = None,
) -> tuple[Extraction | Mention, ...]:
    """One extracted response as its row of `extractions` and those of its mentions."""
    shared: dict[str, Any] = {name: getattr(cell, name) for name in RESPONSE_COLUMNS}
    # An unusable answer is a row of its own: it was paid for, and what follows it may not come.
    attempt = extracted.attempts if extracted.status == "unusable" else None
    key = extraction_id(cell.response_id, extractor_id, reader_id, attempt)
    ids: dict[str, Any] = {"extractor_id": extractor_id, "extraction_id": key, "reader_id": reader_id}
    result: dict[str, Any] = {name: getattr(extracted, name) for name in _RESULT}
    extraction = Extraction(**shared, **ids, mentions=len(extracted.mentions), **result, asked_id=asked_id)
    mentions = [_mention(shared | ids, ordinal, mention, topic) for ordinal, mention in enumerate(extracted.mentions)]
    return (*mentions, extraction)


def extraction_tables(
    cells: Sequence[ResponseColumns], extracted: Sequence[Extracted], topic: Topic, extractor_id: str
) -> dict[str, pa.Table]:
    """Many extracted responses as Arrow tables. `cells` holds those of at least all responses in `extracted`."""
    of_response = {cell.response_id: cell for cell in cells}
    own = [of_response[one.response_id] for one in extracted]
    ids = [extraction_id(one.response_id, extractor_id) for one in extracted]
    extractions = _columns(own, extractor_id, ids)
    extractions["mentions"] = [len(one.mentions) for one in extracted]
    extractions["asked_id"] = [None] * len(extracted)
    for column in _RESULT:
        extractions[column] = [getattr(one, column) for one in extracted]
    every = [
        (cell, key, mention) for cell, key, one in zip(own, ids, extracted, strict=True) for mention in one.mentions
    ]
    mentions = _columns([cell for cell, _, _ in every], extractor_id, [key for _, key, _ in every])
    mentions["ordinal"] = [ordinal for one in extracted for ordinal in range(len(one.mentions))]
    for column in _FOUND:
        mentions[column] = [getattr(mention, column) for _, _, mention in every]
    mentions["granularity"] = [topic.kinds[mention.kind].granularity for _, _, mention in every]
    mentions["counted"] = [topic.kinds[mention.kind].counted for _, _, mention in every]
    return {table.name: _table(table, columns) for table, columns in ((MENTIONS, mentions), (EXTRACTIONS, extractions))}


def _mention(shared: Mapping[str, Any], ordinal: int, mention: FoundMention, topic: Topic) -> Mention:
    kind = topic.kinds[mention.kind]
    columns = {name: getattr(mention, name) for name in _FOUND}
    return Mention(**shared, ordinal=ordinal, **columns, granularity=kind.granularity, counted=kind.counted)


def _columns(cells: Sequence[ResponseColumns], extractor_id: str, ids: list[str]) -> dict[str, Any]:
    shared: dict[str, Any] = {name: [getattr(cell, name) for cell in cells] for name in RESPONSE_COLUMNS}
    none = [None] * len(cells)  # what is done in bulk is no model's answer, and nobody reads it
    return {**shared, "extractor_id": [extractor_id] * len(cells), "extraction_id": ids, "reader_id": none}


def _table(table: Table[Any], columns: Mapping[str, Any]) -> pa.Table:
    schema = table.schema
    return pa.table({field.name: columns[field.name] for field in schema}, schema=schema)
