"""The items that a published study found in its texts: a row per item, or a row per text with lists of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from polyculture.cache.catalog import Topic
from polyculture.cache.sanitize import mended
from polyculture.imports.mapping import ITEM_FIELDS, Columns, known_names
from polyculture.imports.record import BadRow, Record, shown
from polyculture.imports.text import NoTextError

ITEMS = " items"  # the key of a record's items; no column of a file begins with a space
_QID = re.compile(r"(?:https?://(?:www\.)?wikidata\.org/(?:wiki|entity)/)?(Q[1-9]\d{0,9})")
_LONGEST_SURFACE = 500


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a text."""

    surface: str
    kind: str
    qid: str | None  # None where the study found none
    label: str | None


def by_text(rows: Iterable[Record | BadRow], columns: Columns) -> Iterator[Record | BadRow]:
    """A record per text, with its items: those of rows that stand together and have the same fields."""
    of_text = [column for name, column in columns.columns.items() if name not in ITEM_FIELDS]
    waiting: Record | None = None
    same: Any = None
    items: list[dict[str, Any]] = []
    for row in rows:
        if isinstance(row, BadRow):
            yield row
            continue
        try:
            mine = _items(row, columns)
        except NoTextError as fault:
            yield BadRow(row.row, str(fault.args[0]), fault.args[1])
            continue
        key = [row.get(column) for column in of_text]
        if waiting is not None and key == same and len(mine) == 1:
            items += mine
            continue
        if waiting is not None:
            yield Record(waiting.row, {**waiting.values, ITEMS: items})
        waiting, same, items = row, key, mine
    if waiting is not None:
        yield Record(waiting.row, {**waiting.values, ITEMS: items})


def read_item(values: Mapping[str, Any], topic: Topic) -> Item:
    """An item in the words of a topic. Raises `NoTextError` with the reason where it is none."""
    surface, qid = _text(values.get("surface")), _text(values.get("qid"))
    if not surface:
        raise NoTextError("item: its surface is empty", qid)
    if len(surface) > _LONGEST_SURFACE or mended(surface) != surface:
        raise NoTextError(f"item: its surface is no text of at most {_LONGEST_SURFACE} characters", shown(surface))
    if qid is not None and qid.casefold() in ("nil", "none", "null", "nan", "n/a"):
        qid = None
    matched = _QID.fullmatch(qid) if qid else None
    if qid and matched is None:
        raise NoTextError("item: its QID is no QID", shown(qid))
    label = _text(values.get("label"))
    return Item(surface, _kind(values.get("granularity"), topic), matched[1] if matched else None,
                mended(label)[:_LONGEST_SURFACE] if label else None)  # fmt: skip


def _kind(value: Any, topic: Topic) -> str:
    written = _text(int(value) if isinstance(value, bool | float) and value in (0, 1) else value)
    if written is None:
        raise NoTextError("item: its granularity is missing", None)
    folded = written.casefold().replace(" ", "_")
    kinds = {name.casefold(): name for name in topic.kinds}
    if folded in kinds:
        return kinds[folded]
    level = known_names()["granularities"].get(folded.replace("_", "-"))
    if level is None:
        raise NoTextError("item: its granularity is not known (1 or 0, specific or general, or a kind of the topic)",
                          shown(written))  # fmt: skip
    kind_name = next((name for name, kind in topic.kinds.items() if kind.counted and kind.granularity == level), None)
    if kind_name is None:
        raise NoTextError(f"item: the topic {topic.code} has no counted kind of its granularity", shown(written))
    return kind_name


def _items(row: Record, columns: Columns) -> list[dict[str, Any]]:
    """The items of a row: one, several by lists of one length, or none where nothing is said of any."""
    named = {name: column for name, column in columns.columns.items() if name in ITEM_FIELDS}
    values = {name: _listed(_value(row, column)) for name, column in named.items() if not column.startswith("=")}
    constant = {name: column[1:] for name, column in named.items() if column.startswith("=")}
    lists = {name: value for name, value in values.items() if isinstance(value, list)}
    if not lists:
        return [] if all(_text(value) is None for value in values.values()) else [{**values, **constant}]
    lengths = {len(value) for value in lists.values()}
    if len(lengths) > 1:
        counts = ", ".join(f"{name} {len(value)}" for name, value in lists.items())
        raise NoTextError("its lists of items are not of one length", counts)
    single = {name: value for name, value in values.items() if name not in lists}
    return [{**single, **constant, **dict(zip(lists, one, strict=True))} for one in zip(*lists.values(), strict=True)]


def _value(row: Record, column: str) -> Any:
    """A column's value; of a list of objects (`entities.qid`) the list of theirs."""
    value = row.get(column)
    head, _, rest = column.partition(".")
    within = _listed(row.values.get(head)) if rest and value is None else None
    if isinstance(within, list):
        return [Record("", one).get(rest) if isinstance(one, Mapping) else None for one in within]
    return value


def _listed(value: Any) -> Any:
    """A list that a cell of a table holds as JSON."""
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _text(value: Any) -> str | None:
    return None if value is None or value != value or not str(value).strip() else str(value).strip()
