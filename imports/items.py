"""The items that a published study found in its texts: a row per item, or a row per text with lists of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from polyculture.cache.catalog import Catalog, Topic
from polyculture.cache.files import store_faults
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import EXTRACTIONS, MENTIONS, Extraction, Mention, Prompt, PublishedItem
from polyculture.cache.store.shards import JobShards
from polyculture.cache.text.sanitize import mended, parse
from polyculture.extract.base import Extracted, FoundMention, NamedEntity
from polyculture.extract.published import place, published_extractor_id
from polyculture.extract.rows import ResponseColumns, as_tables, extraction_rows, number_of
from polyculture.generate.request import imported_request_id
from polyculture.imports.mapping import ITEM_FIELDS, Columns
from polyculture.imports.text import ImportedText
from polyculture.sources.record import BadRow, Record, find, known_names, shown

ITEMS = " items"  # the key of a record's items, or of the reason why they cannot be read
NO_ITEM = ("na", "nil", "none", "null", "nan", "n/a")  # QIDs that say that the study found none
_QID = re.compile(r"(?:https?://(?:www\.)?wikidata\.org/(?:wiki|entity)/)?Q([1-9]\d{0,9})")
_LAST = 2**32 - 1  # the highest number of an item that a snapshot can hold
_LONGEST_SURFACE = 500


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a text, as the study has it and as we read it."""

    surface: str
    type: str | None  # its kind or granularity, as it is written
    kind: str | None  # of the topic; None where what is written is none of its kinds
    qid: str | None  # as it is written, of an address its end; None where the study found none
    label: str | None
    name: str | None = None  # its dictionary form, and its English name, as an extractor gave them
    english: str | None = None
    faults: tuple[tuple[str, str | None], ...] = ()  # what of it is not read, and its value


def by_text(rows: Iterable[Record | BadRow], columns: Columns) -> Iterator[Record | BadRow]:
    """A record per text, with its items: its lists, or those of rows that stand together and have the same fields."""
    of_text = [column for name, column in columns.columns.items() if name not in ITEM_FIELDS]
    waiting: Record | None = None
    same: Any = None
    items: list[dict[str, Any]] = []
    for row in rows:
        if isinstance(row, BadRow):
            yield row
            continue
        mine, listed = _items(row, columns)
        key = None if listed else [row.get(column) for column in of_text]
        if waiting is not None and key is not None and key == same and isinstance(mine, list):
            items += mine
            continue
        if waiting is not None:
            yield replace(waiting, values={**waiting.values, ITEMS: items})
            waiting = None
        if listed or not isinstance(mine, list):
            yield replace(row, values={**row.values, ITEMS: mine})
        else:
            waiting, same, items = row, key, mine
    if waiting is not None:
        yield replace(waiting, values={**waiting.values, ITEMS: items})


def read_item(values: Mapping[str, Any], topic: Topic) -> Item:
    """An item in the words of a topic. What cannot be read of it is among its faults; the rest is kept."""
    surface, written, label = (_text(values.get(name)) for name in ("surface", "granularity", "label"))
    name, english = (one and mended(one)[:_LONGEST_SURFACE] for one in map(_text, map(values.get, ("name", "english"))))
    surface, qid, faults = mended(surface or ""), _text(values.get("qid")), list[tuple[str, str | None]]()
    if not surface or len(surface) > _LONGEST_SURFACE:
        what = f"longer than {_LONGEST_SURFACE} characters" if surface else "empty"
        faults.append((f"item: its surface is {what}", shown(surface) or None))
    qid = None if qid is None or qid.casefold() in NO_ITEM else qid
    matched = _QID.fullmatch(qid) if qid else None
    known = matched is not None and int(matched[1]) <= _LAST
    if qid and not known:
        faults.append(("item: its QID is no QID", shown(qid)))
    kind = _kind(values.get("granularity"), topic)
    if kind is None:
        faults.append((f"item: its kind is not known in the topic {topic.code}", shown(written)))
    kind = kind if surface and len(surface) <= _LONGEST_SURFACE else None
    label = label and mended(label)[:_LONGEST_SURFACE]
    qid = f"Q{matched[1]}" if matched else qid
    return Item(surface[:_LONGEST_SURFACE], written, kind, qid, label, name, english, tuple(faults))


def _kind(value: Any, topic: Topic) -> str | None:
    """A kind of the topic: by its name, as MAKIEval names it, or the first counted one of a granularity."""
    written = _text(int(value) if isinstance(value, bool | float) and value in (0, 1) else value)
    folded = (written or "").casefold().replace(" ", "_").replace("-", "_")
    kinds = {name.casefold(): name for name in topic.kinds}
    name = kinds.get(folded) or kinds.get(known_names()["kinds"].get(folded, ""))
    level = known_names()["granularities"].get(folded.replace("_", "-"))
    if name is not None or level is None:
        return name
    return next((name for name, kind in topic.kinds.items() if kind.counted and kind.granularity == level), None)


def _items(row: Record, columns: Columns) -> tuple[list[dict[str, Any]] | str, bool]:
    """The items of a row, or why they cannot be read; and whether the row has lists of them."""
    named = {name: column for name, column in columns.columns.items() if name in ITEM_FIELDS}
    constant = {name: column[1:] for name, column in named.items() if column.startswith("=")}
    try:
        values = {name: _value(row, column) for name, column in named.items() if name not in constant}
    except ValueError as fault:
        return f"its items are no JSON: {shown(fault)}", True
    lists = {name: value for name, value in values.items() if isinstance(value, list)}
    if not lists:
        return ([] if all(_text(value) is None for value in values.values()) else [{**values, **constant}]), False
    if len({len(value) for value in lists.values()}) > 1:
        counts = ", ".join(f"{name} {len(value)}" for name, value in lists.items())
        return f"its lists of items are not of one length: {counts}", True
    single = {name: value for name, value in values.items() if name not in lists}
    items = [{**single, **constant, **dict(zip(lists, one, strict=True))} for one in zip(*lists.values(), strict=True)]
    return items, True


def _value(row: Record, column: str) -> Any:
    """A column's value; of a list of objects (`entities[*].qid`) theirs. Raises `ValueError` for no JSON."""
    head, _, rest = column.replace("[*]", "").partition(".")
    if column in row.values or not rest:
        return _listed(row.get(column))
    within = _listed(row.values.get(head))
    if isinstance(within, list):
        return [next((value for _, value in find(one, rest)), None) for one in within]
    if within is not None and not isinstance(within, Mapping):
        raise ValueError(shown(within))
    return _listed(row.get(column))


def _listed(value: Any) -> Any:
    """What a cell of a table holds as JSON: a list, or an object."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return parse(value.encode("utf-8", "surrogateescape"))
        except ValueError as fault:
            raise ValueError(shown(value)) from fault
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _text(value: Any) -> str | None:
    return None if value is None or value != value or not str(value).strip() else str(value).strip()


class PublishedItems:
    """The items of one file. Extractions are written before their responses."""

    def __init__(self, run: RunFolder, catalog: Catalog, import_id: str) -> None:
        self._run, self._catalog, self._import_id = run, catalog, import_id
        self._extractor_id = published_extractor_id()
        self._waiting: dict[Job, list[Extraction | Mention]] = {}
        self.items: list[PublishedItem] = []

    @property
    def types(self) -> frozenset[str]:
        """The kinds of the items, as the file names them."""
        return frozenset(item.type for item in self.items if item.type)

    def take(
        self, row: Record, text: ImportedText, prompt: Prompt, response_id: str, job: Job, sample: int
    ) -> Iterator[BadRow]:
        """Takes a text's items; yields what of them cannot be read."""
        topic, written = self._catalog.topic(text.topic), row.values[ITEMS]
        items = [] if isinstance(written, str) else [read_item(values, topic) for values in written]
        if isinstance(written, str):
            yield BadRow(row.row, written.partition(":")[0], written, lost=False)
        for item in items:
            yield from (BadRow(row.row, reason, value, lost=False) for reason, value in item.faults)
        # They are looked for in what counts: the text without reasoning and markers.
        placed = place(
            text.answer.text or "",
            [NamedEntity(one.surface, one.kind or "", one.name, one.english) for one in items if one.surface],
            text.language,
        )
        found = iter(placed)
        mentions: list[FoundMention] = []
        for number, item in enumerate(items):
            mention = next(found) if item.surface else None
            absent = mention is None or mention.hallucinated
            kept = replace(mention, published=item.qid) if mention is not None and not item.faults else None
            self.items.append(PublishedItem(self._import_id, response_id, number, text.language, text.topic,
                                            mention.surface if mention else item.surface, item.type, item.kind,
                                            item.qid, item.label, absent,
                                            number_of(kept, text.language, text.topic) if kept else None))  # fmt: skip
            mentions += [kept] if kept else []
        if text.answer.text is None:
            return
        request = imported_request_id(text.model, prompt.prompt_id)
        cell = ResponseColumns(response_id, request, prompt.prompt_id, text.model, text.language, text.topic,
                               text.condition, text.country, sample)  # fmt: skip
        extracted = Extracted(response_id, "ok", tuple(mentions))
        if isinstance(written, str):
            extracted = Extracted(response_id, "failed", error=written, retryable=False)
        rows = extraction_rows(cell, extracted, topic, self._extractor_id)
        self._waiting.setdefault(job, []).extend(rows)

    def flush(self) -> None:
        """Writes what waits, a part per job."""
        with store_faults(self._run.root):
            for job, rows in self._waiting.items():
                with JobShards(self._run, job, [MENTIONS, EXTRACTIONS]) as shards:
                    shards.append_part(as_tables(rows))
        self._waiting = {}
