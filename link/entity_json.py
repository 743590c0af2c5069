"""Converts Wikidata items to rows of a snapshot's tables."""

from __future__ import annotations

import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, repeat
from typing import Any, TypeAlias

import orjson
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import astuple

from polyculture.cache.text.inflection import base_language
from polyculture.link.entity import (
    PROPERTIES,
    Claims,
    DumpItem,
    EntityText,
    best_targets,
    decoder,
)
from polyculture.link.index.tables import SCHEMAS, ArrowTables
from polyculture.link.keys import keys_of
from polyculture.link.normalise import fold_of, normalise_array
from polyculture.link.qid import number

NAME_KINDS = ("label", "alias")
ItemNumbers: TypeAlias = "array.array[int]"  # of items
_TextColumns: TypeAlias = "tuple[str, ItemNumbers, list[str]]"  # a language, items, and a text of each
_Targets: TypeAlias = (
    "tuple[ItemNumbers, ItemNumbers, list[int | None]]"  # items, a target of each, and when that ended
)


class EntityRows:
    """Collects rows of the snapshot's tables column by column, and returns them as Arrow tables."""

    def __init__(self, languages: Iterable[str]) -> None:
        self.modified = ""  # the latest time of change seen, ISO 8601
        self._languages = tuple(sorted(set(languages)))
        self._decode = decoder(self._languages)
        self._items: tuple[ItemNumbers, list[int | None], list[int | None]] = (_empty(), [], [])
        self._redirects: tuple[list[int], list[int]] = ([], [])
        self._kinds: tuple[list[int], list[str], list[str]] = ([], [], [])
        self._labels, self._aliases, self._descriptions = self._by_language(), self._by_language(), self._by_language()
        self._claims: list[_Targets] = [(_empty(), _empty(), []) for _ in PROPERTIES]

    def __len__(self) -> int:
        return len(self._items[0])

    @property
    def names(self) -> int:
        """The number of labels and aliases."""
        return sum(len(items) for store in (self._labels, self._aliases) for _, items, _ in store)

    def add(self, entity: Mapping[str, Any]) -> None:
        """Adds an entity from parsed JSON. Raises what `add_json` raises."""
        self.add_json(orjson.dumps(entity))

    def add_json(self, text: bytes) -> None:
        """Adds an entity from JSON, whole or not at all.

        Raises `NotAnItemError` for other kinds of entity, and `ValueError` for malformed items.
        """
        item = self._decode(text)
        code, claims = number(item.id), self._found_claims(item)
        moved = (number(item.redirects.origin), number(item.redirects.target)) if item.redirects else None
        # From here on nothing can fail: the item is added whole.
        items, sitelinks, revisions = self._items
        items.append(code)
        sitelinks.append(None if item.sitelinks is None else len(item.sitelinks))
        revisions.append(item.lastrevid)
        self._add_texts(code, item)
        for (subjects, objects, ends), targets in claims:
            subjects.extend([code] * len(targets))
            objects.extend(targets)
            ends.extend(targets.values())
        if moved:
            self.add_redirect(*moved)
        self.modified = max(self.modified, item.modified or "")

    def add_redirect(self, item: int, target: int) -> None:
        """Records that `item` was merged into `target`."""
        self._redirects[0].append(item)
        self._redirects[1].append(target)

    def add_kind(self, qid: str, topic: str, kind: str) -> None:
        """Records that an item was assigned to a topic's kind by hand."""
        self._kinds[0].append(number(qid))
        self._kinds[1].append(topic)
        self._kinds[2].append(kind)

    def tables(self) -> ArrowTables:
        """The rows as Arrow tables, by table name."""
        return {
            "items": _table("items", self._items),
            "descriptions": self._described(),
            "names": self._named(),
            "claims": self._claimed(),
            "redirects": _table("redirects", self._redirects),
            "kinds": _table("kinds", self._kinds),
        }

    def _by_language(self) -> list[_TextColumns]:
        return [(language, _empty(), []) for language in self._languages]

    def _found_claims(self, item: DumpItem) -> list[tuple[_Targets, dict[int, int | None]]]:
        if not isinstance(item.claims, Claims):
            return []
        named = zip(self._claims, astuple(item.claims), strict=True)
        return [(column, best_targets(statements)) for column, statements in named if statements]

    def _add_texts(self, code: int, item: DumpItem) -> None:
        labels = _in_order(item.labels)
        _add(self._labels, code, labels)
        _add(self._descriptions, code, _in_order(item.descriptions))
        _add_aliases(self._aliases, code, _in_order(item.aliases), labels)

    def _described(self) -> pa.Table:
        rows = [
            [_numbers(items), _all(place, len(items), self._languages), pa.array(texts, pa.string())]
            for place, (_, items, texts) in enumerate(self._descriptions)
            if items
        ]
        return _joined("descriptions", rows)

    def _named(self) -> pa.Table:
        by_base: dict[str, list[list[pa.Array[Any]]]] = {}  # en-gb is folded, and keyed, as en: each call costs
        for kind, store in enumerate((self._labels, self._aliases)):
            for place, (language, items, texts) in enumerate(store):
                if items:
                    shared = _all(place, len(items), self._languages), pa.array(texts, pa.string())
                    row = [_numbers(items), *shared, _all(kind, len(items), NAME_KINDS)]
                    by_base.setdefault(base_language(language), []).append(row)
        rows = []
        for base, parts in by_base.items():
            columns = [pa.concat_arrays(column) for column in zip(*parts, strict=True)]
            normalised = normalise_array(columns[2], fold_of(base))
            rows.append([*columns, normalised, keys_of(normalised, base)])
        return _joined("names", rows)

    def _claimed(self) -> pa.Table:
        rows = [
            [_numbers(items), _all(place, len(items), PROPERTIES), _numbers(targets), pa.array(ends, pa.int16())]
            for place, (items, targets, ends) in enumerate(self._claims)
            if items
        ]
        return _joined("claims", rows)


def _in_order(texts: Any) -> Sequence[Any]:
    """The item's text in each language, or None; an empty sequence where it has no texts."""
    return astuple(texts) if isinstance(texts, Struct) else ()


# The API may answer with a fallback language; `text.language` names it.
def _add(store: Sequence[_TextColumns], code: int, texts: Sequence[EntityText | None]) -> None:
    for (language, items, found), text in zip(compress(store, texts), filter(None, texts), strict=True):
        if text.language == language:
            items.append(code)
            found.append(text.value)


def _add_aliases(
    store: Sequence[_TextColumns],
    code: int,
    aliases: Sequence[Sequence[EntityText] | None],
    labels: Sequence[EntityText | None],
) -> None:
    """Adds each alias once, unless it equals the label."""
    own = compress(labels or repeat(None), aliases)
    for (language, items, found), texts, label in zip(
        compress(store, aliases), filter(None, aliases), own, strict=False
    ):
        names = {text.value: None for text in texts if text.language == language}
        if label is not None and label.language == language:
            names.pop(label.value, None)
        items.extend([code] * len(names))
        found.extend(names)


def _empty() -> ItemNumbers:
    return array.array("I")


def _all(place: int, count: int, words: Sequence[str]) -> pa.Array[Any]:
    """`count` times the word `words[place]`, dictionary-encoded."""
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(place, pa.int8()), count), pa.array(words, pa.string()))


def _numbers(values: ItemNumbers) -> pa.Array[Any]:
    return pa.Array.from_buffers(pa.uint32(), len(values), [None, pa.py_buffer(values)])


def _table(name: str, columns: Sequence[Sequence[Any]]) -> pa.Table:
    schema = SCHEMAS[name]
    arrays = [
        _numbers(column) if isinstance(column, array.array) else pa.array(column, type=field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _joined(name: str, rows: Iterable[Sequence[Any]]) -> pa.Table:
    schema = SCHEMAS[name]
    return pa.concat_tables([schema.empty_table(), *(pa.Table.from_arrays(arrays, schema=schema) for arrays in rows)])
