"""Extracted responses as rows of the tables `extractions` and `mentions`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Any

import pyarrow as pa

from polyculture.cache.catalog import Topic
from polyculture.cache.identity import content_id, query_number
from polyculture.cache.store.layout import Table
from polyculture.cache.store.parquet import objects_to_table
from polyculture.cache.store.schema import EXTRACTIONS, MENTIONS, Extraction, Mention
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
_RESULT = tuple(field.name for field in fields(Extracted) if field.name not in ("response_id", "mentions"))
_FOUND = tuple(field.name for field in fields(FoundMention) if field.name != "published")


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


def as_tables(
    rows: Iterable[Extraction | Mention], tables: tuple[Table[Mention], Table[Extraction]] = (MENTIONS, EXTRACTIONS)
) -> dict[str, pa.Table]:
    """Rows as Arrow tables, by the names of their tables."""
    every, (mentions, extractions) = list(rows), tables
    return {
        mentions.name: objects_to_table(mentions, [row for row in every if isinstance(row, Mention)]),
        extractions.name: objects_to_table(extractions, [row for row in every if isinstance(row, Extraction)]),
    }


def as_extracted(extraction: Mapping[str, Any], mentions: Iterable[Mapping[str, Any]]) -> Extracted:
    """A stored row of extractions with its mentions as the result that it was written from."""
    found = tuple(
        FoundMention(**{name: row[name] for name in _FOUND}) for row in sorted(mentions, key=itemgetter("ordinal"))
    )
    values: dict[str, Any] = {name: extraction[name] for name in _RESULT}
    return Extracted(extraction["response_id"], mentions=found, **values)


def number_of(mention: FoundMention, language: str, topic: str) -> int:
    """The number of what the linker is asked of a mention."""
    said = mention.surface, mention.name, mention.english, mention.published
    return query_number(language, topic, mention.kind, *said)


def _mention(shared: Mapping[str, Any], ordinal: int, mention: FoundMention, topic: Topic) -> Mention:
    kind = topic.kinds[mention.kind]
    columns = {name: getattr(mention, name) for name in _FOUND}
    query = number_of(mention, shared["language"], shared["topic"])
    return Mention(
        **shared, ordinal=ordinal, **columns, query=query, granularity=kind.granularity, counted=kind.counted
    )
