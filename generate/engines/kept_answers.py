"""Answers in a form that nobody could read: kept as they came, and read by a later version before anything is asked.

The column `body` of a table of answers has what a server sent, without keys, where no text could be read in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import pyarrow as pa

from polyculture.cache.store.layout import PAID, Table
from polyculture.cache.store.parquet import objects_to_table
from polyculture.cache.text.sanitize import hide_keys, mended, parse
from polyculture.generate.engines.answer import Answer, read_answer
from polyculture.generate.engines.event_stream import assemble, is_event_stream

_LONGEST = 1_000_000  # characters of a body that are kept
I = TypeVar("I")  # noqa: E741, an item
R = TypeVar("R")


def parse_body(content: bytes) -> object:
    """A body, whole or as an event stream, as JSON. Raises `ValueError`; a stream that breaks off is one."""
    return assemble(content) if is_event_stream(content) else parse(content)


def as_kept(body: object) -> str | None:
    """A body without keys, parsed or as the text that it came as; None of one that is too large or nested too deeply
    to be kept."""
    try:
        written = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    except RecursionError:
        return None
    return hide_keys(mended(written)) if len(written) <= _LONGEST else None


def read_kept(body: str | None) -> Answer | None:
    """The answer in a body that was kept; None where it has no text that can be read."""
    with suppress(ValueError):  # `NoAnswerError` is one
        answer = None if body is None else read_answer(parse_body(body.encode()))
        return answer if answer is not None and answer.text is not None else None
    return None


def rows_of_kept(
    table: Table[R], items: Mapping[str, I], failed: pa.Table, row: Callable[[I, Answer], R]
) -> dict[str, pa.Table] | None:
    """The rows of failed items, by their keys, whose answer can be read now. What was paid stays with the failure."""
    rows = []
    for one in failed.select([table.key or "", "body"]).to_pylist():
        item, answer = items.get(one[table.key or ""]), read_kept(one["body"])
        if item is not None and answer is not None:
            unpaid: dict[str, Any] = dict.fromkeys(PAID)
            rows.append(replace(row(item, answer), **unpaid))  # type: ignore[type-var]
    return {table.name: objects_to_table(table, rows)} if rows else None
