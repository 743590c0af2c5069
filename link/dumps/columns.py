"""Rows of a snapshot from a chunk of a dump at once, column by column, without an object for each.

What `scan` is not certain of is left to `Rows`, line by line; the rows are the same either way.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from polyculture.link.dumps import scan
from polyculture.link.dumps.scan import ALIAS, CLAIM, CODE, DESCRIPTION, END, ITEM, LEFT, NUMBER, START, WHAT
from polyculture.link.entity_json import NAME_KINDS, PROPERTIES, SCHEMAS
from polyculture.link.normalise import FOLDS, Fold, fold_of, letters, normalise_array

_KNOWN = scan.words(PROPERTIES)
_KINDS, _PROPERTIES = pa.array(NAME_KINDS, pa.string()), pa.array(PROPERTIES, pa.string())


@dataclass(frozen=True, slots=True)
class Columns:
    """What came of a chunk: rows by table, and the lines that are left: how many stand before, and what they hold."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    items: int = 0
    modified: str = ""
    left: list[tuple[int, bytes]] = field(default_factory=list)


class Scanner:
    """Reads chunks of whole lines, of items with names in `languages`."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._languages = pa.array(languages, pa.string())
        self._words = scan.words(languages)
        self._folds = np.array([FOLDS.index(fold_of(language)) for language in languages])
        self._letters = {fold: letters(fold) for fold in FOLDS}
        self._sites = np.zeros(scan.SITES, np.int64)
        self._rows = np.empty((0, 5), np.int64)

    def read(self, text: bytes) -> Columns:
        """Reads the lines that are of the form it knows."""
        chunk = np.frombuffer(text if text.endswith(b"\n") else text + b"\n", np.uint8)
        if 2 * len(self._rows) <= len(chunk):
            self._rows = np.empty((len(chunk) // 2 + 1, 5), np.int64)  # a row a line that is left; of items far fewer
        count, changed = scan.scan(chunk, self._rows, self._words, _KNOWN, self._sites)
        rows = self._rows[:count]
        what = rows[:, WHAT]
        try:
            tables = {
                "items": _items(rows[what == ITEM]),
                "claims": _claims(rows[what == CLAIM]),
                "descriptions": self._descriptions(chunk, rows[what == DESCRIPTION]),
                "names": self._names(chunk, rows[what <= ALIAS]),
            }
        except pa.ArrowInvalid:  # a text is no UTF-8
            return Columns(left=list(enumerate(io.BytesIO(text))))
        left = [(int(row[CODE]), text[row[START] : row[END]]) for row in rows[what == LEFT]]
        modified = text[changed + 1 : changed + 21].decode() if changed else ""
        return Columns(tables, tables["items"].num_rows, modified, left)

    def _descriptions(self, chunk: scan.Bytes, rows: scan.Numbers) -> pa.Table:
        texts = _Texts.of(chunk, rows)
        return _table("descriptions", [texts.rows[:, NUMBER], self._language(texts.rows), texts.array()])

    def _names(self, chunk: scan.Bytes, rows: scan.Numbers) -> pa.Table:
        folds = self._folds[rows[:, CODE]]
        return pa.concat_tables(
            self._named(_Texts.of(chunk, rows[folds == place]), fold) for place, fold in enumerate(FOLDS)
        )

    def _named(self, texts: _Texts, fold: Fold) -> pa.Table:
        rows, names = texts.rows, texts.array()
        folded = self._folded(texts, names, fold)
        return _table("names", [rows[:, NUMBER], self._language(rows), names, _few(rows[:, WHAT], _KINDS), folded])

    def _folded(self, texts: _Texts, names: pa.Array[Any], fold: Fold) -> pa.Array[Any]:
        """Letter by letter where that is enough."""
        data, ends = np.empty(2 * len(texts.data), np.uint8), np.zeros_like(texts.ends)
        unsure = np.zeros(len(names), np.bool_)
        scan.folded(texts.data, texts.ends, self._letters[fold], data, ends, unsure)
        found, others = _array(data, ends), pa.array(unsure)
        if not unsure.any():
            return found
        whole: pa.Array[Any] = pc.replace_with_mask(found, others, normalise_array(names.filter(others), fold))
        return whole

    def _language(self, rows: scan.Numbers) -> pa.Array[Any]:
        return _few(rows[:, CODE], self._languages)


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of some rows, one behind the other: each begins where the one before ends."""

    data: scan.Bytes
    ends: scan.Ends
    rows: scan.Numbers

    @classmethod
    def of(cls, chunk: scan.Bytes, rows: scan.Numbers) -> _Texts:
        """Without the aliases that repeat a name. Raises `pa.ArrowInvalid` where a text is no UTF-8."""
        rows = np.ascontiguousarray(rows)
        data = np.empty(int((rows[:, END] - rows[:, START]).sum()), np.uint8)
        ends, kept = np.zeros(len(rows) + 1, np.int32), np.empty(len(rows), np.int64)
        count = scan.gathered(chunk, rows, data, ends, kept)
        texts = cls(data, ends[: count + 1], rows[kept[:count]])
        texts.array().validate(full=True)
        return texts

    def array(self) -> pa.Array[Any]:
        return _array(self.data, self.ends)


def _array(data: scan.Bytes, ends: scan.Ends) -> pa.Array[Any]:
    return pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends.data), pa.py_buffer(data.data))


def _items(rows: scan.Numbers) -> pa.Table:
    revisions = rows[:, END]
    known = pa.array(revisions.astype(np.uint64), mask=revisions < 0)
    return _table("items", [rows[:, NUMBER], rows[:, START], known])


def _claims(rows: scan.Numbers) -> pa.Table:
    return _table("claims", [rows[:, NUMBER], _few(rows[:, CODE], _PROPERTIES), rows[:, START]])


def _few(places: scan.Numbers, words: pa.Array[Any]) -> pa.Array[Any]:
    return pa.DictionaryArray.from_arrays(places.astype(np.int8), words)


def _table(name: str, columns: Sequence[pa.Array[Any] | scan.Numbers]) -> pa.Table:
    schema = SCHEMAS[name]
    arrays = [pa.array(column.astype(np.uint32)) if isinstance(column, np.ndarray) else column for column in columns]
    return pa.Table.from_arrays(arrays, schema=schema)
