"""Reads mentions by header out of whatever an extractor's answer holds: tables of names and values, rows below a
header, columns, texts under their kinds.

    {"text": "ramen", "kind": "dish"}       [["text", "kind"], ["ramen", "dish"]]       {"dish": ["ramen", "udon"]}
    {"文本": "拉面", "类型": "dish"}         {"text": ["ramen"], "kind": ["dish"]}       {"ramen": "dish"}

A header says which field a column has (`fields.toml`). Without a known header for the kind, it is the column of known
kinds; without one for the text, the first other column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from polyculture.cache.text.sanitize import mended
from polyculture.extract.base import NamedEntity
from polyculture.extract.fields import FIELDS, Field, field_of, folded, is_no_name, is_number

_DEEPEST = 8  # values within values
_LONGEST_NAME = 200  # characters of a name
_KNOWN = 0.5  # of rows of JSON without a header, the share with a known kind; in plain lines every one has
_MOST_WIDE = 40  # columns of a table
_NUMBERED = re.compile(r"(?P<name>.*\D)_?(?P<number>\d+)")
_IN_PARENTHESES = re.compile(r"(?P<name>.+?)\s*[(（](?P<kind>[^()（）]+)[)）]")
_BRACKETS = ("{", "[")

Known = Mapping[str, str]  # kinds by the forms in which they are written, folded


class TableReader:
    """Reads the mentions in values, as JSON has them; `within` reads the values in a text that is JSON itself, and
    `line` the mention of one that is a line of cells."""

    def __init__(
        self, known: Known, within: Callable[[str], list[Any]], line: Callable[[str], NamedEntity | None]
    ) -> None:
        self.known, self._within, self._line = known, within, line

    def read(self, value: Any, kind: str = "", depth: int = 0) -> Iterator[NamedEntity]:
        """The mentions in a value, in its order. `kind` is that under whose name it stands."""
        if depth > _DEEPEST:
            return
        if isinstance(value, str):
            yield from self._read_text(value, kind, depth)
        elif isinstance(value, list | tuple):
            yield from self._read_list(list(value), kind, depth)
        elif isinstance(value, dict):
            yield from self._read_table({str(key): content for key, content in value.items()}, kind, depth)

    def rows(self, header: Sequence[str], rows: Sequence[Sequence[Any]], kind: str = "") -> Iterator[NamedEntity]:
        """The mentions of rows below a header, one each; no mention where no column is a text."""
        if self._are_kinds(header):  # a column for each kind: `| title | author |`
            for row in rows:
                named = [(one, cell) for one, cell in zip(header, row, strict=False) if self.is_kind(one)]
                yield from (NamedEntity(cell, one) for one, cell in named if isinstance(cell, str) and cell.strip())
            return
        place = self._places(header, rows)
        if "text" not in place or ("kind" not in place and not kind):
            return
        for row in rows:
            cells = {field: row[column] for field, column in place.items() if column < len(row)}
            entity = self._entity(cells, kind)
            if entity is not None:
                yield entity

    def cells(self, rows: Sequence[Sequence[Any]], *, known: float = 1.0) -> Iterator[NamedEntity]:
        """The mentions of rows without a header, as wide as each other: a share of them, `known` or more, has a known
        kind in one column.

        Of four texts with the kind in the second place they are those that were asked for, in their order.
        """
        rows = _unnumbered(rows)
        width = min(map(len, rows), default=0)
        columns = [[row[column] for row in rows] for column in range(min(width, _MOST_WIDE))]
        kinds = [c for c, cells in enumerate(columns) if sum(map(self.is_kind, cells)) >= known * len(rows)]
        if not kinds:
            return
        kind = kinds[0]
        texts = [c for c in range(width) if c not in kinds and all(isinstance(row[c], str) for row in rows)]
        if not texts:
            return
        place: dict[Field, int] = {"text": texts[0], "kind": kind}
        if kind == 1 and texts[:3] == [0, 2, 3] and all(len(row) == len(FIELDS) for row in rows):
            place |= {"name": 2, "english": 3}
        for row in rows:
            entity = self._entity({field: row[column] for field, column in place.items()}, "")
            if entity is not None:
                yield entity

    def is_kind(self, value: Any) -> bool:
        """Whether a value is a kind of the topic."""
        return isinstance(value, str) and folded(value) in self.known

    def field(self, header: str) -> tuple[Field, int] | None:
        """The field that a header names, as `field_of`; a kind of the topic (`dish_category`) is no field."""
        return None if self.is_kind(header) else field_of(header)

    def is_field(self, header: str, field: Field) -> bool:
        """Whether a header names a field."""
        found = self.field(header)
        return found is not None and found[0] == field

    def is_header(self, cells: Sequence[str]) -> bool:
        """Whether cells name a text and a kind, or each of them a field or the numbers of rows."""
        fields = {field[0] for one in cells if (field := self.field(one)) is not None}
        each = all(self.field(one) is not None or is_number(one) for one in cells)
        return {"text", "kind"} <= fields or (bool(fields) and each) or self._are_kinds(cells)

    def _are_kinds(self, header: Sequence[str]) -> bool:
        """Whether a header names two kinds or more, and else the numbers of rows."""
        kinds = sum(map(self.is_kind, header))
        return kinds > 1 and all(self.is_kind(one) or is_number(one) for one in header)

    def name(self, value: Any, text: str = "") -> str | None:
        """A name on one line, without its kind in parentheses; None where a model says that there is none."""
        if isinstance(value, dict):
            inner = [one for key, one in value.items() if self.is_field(str(key), "english") or len(value) == 1]
            value = inner[0] if inner else None
        if isinstance(value, list | tuple):
            value = value[0] if value else None
        words = mended(" ".join(value.split()))[:_LONGEST_NAME] if isinstance(value, str) else ""
        found = _IN_PARENTHESES.fullmatch(words)
        words = found["name"] if found is not None and self.is_kind(found["kind"]) else words
        is_one = words.casefold() == text.strip().casefold() or not is_no_name(words)
        return words if words and is_one else None

    def _read_text(self, value: str, kind: str, depth: int) -> Iterator[NamedEntity]:
        if value.lstrip()[:1] in _BRACKETS:  # JSON within JSON
            for inner in self._within(value):
                yield from self.read(inner, kind, depth + 1)
        elif (entity := self._line(value)) is not None:
            yield entity
        elif kind:
            yield NamedEntity(value, kind)

    def _read_list(self, values: list[Any], kind: str, depth: int) -> Iterator[NamedEntity]:
        tables = [one for one in values if isinstance(one, dict)]
        lists = [one for one in values if isinstance(one, list | tuple)]
        if values and len(lists) == len(values) and all(_is_row(one) for one in lists):
            header, *rows = lists
            if rows and all(isinstance(cell, str) for cell in header) and self.is_header(header):
                yield from self.rows(header, rows, kind)
                return
            if entities := list(self.cells(lists, known=_KNOWN)):
                yield from entities
                return
        if len(tables) > 1 and all(one.keys() == tables[0].keys() for one in tables):
            keys = [str(key) for key in tables[0]]
            rows = [list(one.values()) for one in tables]
            place = self._places(keys, rows)
            if "text" in place and ("kind" in place or kind) and not any(self.is_kind(key) for key in keys):
                yield from self._read_rows(values, keys, place, kind, depth)
                return
        for one in values:
            yield from self.read(one, kind, depth + 1)

    def _read_rows(
        self, values: list[Any], keys: list[str], place: Mapping[Field, int], kind: str, depth: int
    ) -> Iterator[NamedEntity]:
        """The mentions of a list whose tables have the same keys, between whatever else is in it."""
        for one in values:
            if not isinstance(one, dict):
                yield from self.read(one, kind, depth + 1)
                continue
            cells = list(one.values())
            entity = self._entity({field: cells[column] for field, column in place.items()}, kind)
            yield from (
                (entity,) if entity is not None else self._read_table(dict(zip(keys, cells, strict=True)), kind, depth)
            )

    def _read_table(self, table: dict[str, Any], kind: str, depth: int) -> Iterator[NamedEntity]:
        asked = table.get("mentions")
        if isinstance(asked, list):  # beside it a model repeats the text or the kinds, or lists what it left out
            own = next((one for key, one in table.items() if self.is_field(key, "kind") and self.is_kind(one)), kind)
            if entities := list(self.read(asked, own, depth + 1)):
                yield from entities
                return
        if (columns := self._columns(table)) is not None:
            header, rows = columns
            if entities := list(self.rows(header, rows, kind)):
                yield from entities
                return
        if (records := self._by_number(table)) is not None:
            yield from self._read_list(records, kind, depth + 1)
            return
        values = list(table.values())
        place = self._places(list(table), [values])
        cells = {field: values[column] for field, column in place.items()}
        by_kind = [key for key in table if self.is_kind(key)]  # `{"dish": "ramen", "english": "ramen"}`
        names = [key for key in table if key not in by_kind]
        if (
            len(by_kind) == 1
            and names
            and all(self.is_field(key, "name") or self.is_field(key, "english") for key in names)
        ):
            name = next((table[key] for key in names if self.is_field(key, "name")), None)
            cells |= {"text": table[by_kind[0]], "kind": by_kind[0], "name": name}
        if (entity := self._entity(cells, kind, table)) is not None:
            yield entity
            return
        yield from self._read_named(table, kind, depth)

    def _read_named(self, table: dict[str, Any], kind: str, depth: int) -> Iterator[NamedEntity]:
        """The mentions of a table whose keys are kinds, texts, or names of whatever is in it."""
        texts = next((value for key, value in table.items() if self.is_field(key, "text")), None)
        own = next((value for key, value in table.items() if self.is_field(key, "kind")), None)
        if isinstance(texts, list) and isinstance(own, str):
            yield from (NamedEntity(one, own) for one in texts if isinstance(one, str))
            return
        # Where one key or one content is a kind, the others are meant as kinds: unknown ones are dropped, and noted.
        by_kind = any(self.is_kind(key) for key in table)
        by_text = any(self.is_kind(one) for key, one in table.items() if self.field(key) is None)
        under_kind = bool(kind) and not by_kind and not any(map(_NUMBERED.fullmatch, table))
        for key, content in table.items():
            if by_text and isinstance(content, str) and not by_kind:
                yield NamedEntity(key, content)
            elif under_kind and isinstance(content, str) and self.field(key) is None and not key.isdecimal():
                yield NamedEntity(key, kind)  # a remark or a name behind the text
            elif (named := self._named_by_key(key, content)) is not None:
                yield named
            elif kind and (not content or isinstance(content, bool | int | float)):  # texts under their kind
                yield NamedEntity(key, kind)
            else:
                yield from self.read(content, key if by_kind else kind, depth + 1)

    def _named_by_key(self, key: str, content: Any) -> NamedEntity | None:
        """The mention of a table that stands under its text: `{"ramen": {"kind": "dish"}}`."""
        if not isinstance(content, dict) or self.is_kind(key) or key.strip().isdecimal() or _NUMBERED.fullmatch(key):
            return None
        table = {str(name): value for name, value in content.items()}
        place = self._places(list(table), [list(table.values())], texts=False)
        if "text" in place or "kind" not in place:
            return None
        values = list(table.values())
        return self._entity({field: values[column] for field, column in place.items()} | {"text": key}, "")

    def _entity(
        self, cells: Mapping[Field, Any], kind: str, table: Mapping[str, Any] | None = None
    ) -> NamedEntity | None:
        """The mention of a row's cells; of a table without a kind only where nothing else is in it."""
        text, kinds = cells.get("text"), cells.get("kind", "")
        if isinstance(kinds, list | tuple) and kinds and all(isinstance(one, str) for one in kinds):
            kinds = kinds[0]  # of several the first: a text is one mention
        found = _IN_PARENTHESES.fullmatch(kinds.strip()) if isinstance(kinds, str) and not self.is_kind(kinds) else None
        kinds = found["kind"] if found is not None and self.is_kind(found["kind"]) else kinds  # `Gericht (dish)`
        nested = table is not None and any(map(_holds_more, table.values()))
        if (
            nested
            and table is not None
            and not self.is_kind(kinds)
            and not any(self.is_field(key, "text") for key in table)
        ):
            return None  # a call of a tool: its `name` and `type` are of the call
        if not isinstance(text, str) or not isinstance(kinds, str) or ("kind" not in cells and nested):
            return None
        name, english = self.name(cells.get("name"), text), self.name(cells.get("english"), text)
        return NamedEntity(text, kinds or kind, name, english)

    def _places(self, header: Sequence[str], rows: Sequence[Sequence[Any]], *, texts: bool = True) -> dict[Field, int]:
        """The column of each field; without `texts` no unknown column is taken for the text."""
        found: dict[Field, tuple[int, int]] = {}
        for column, one in enumerate(header[:_MOST_WIDE]):
            if (field := self.field(one)) is not None and (field[1], column) < found.get(field[0], (10**6, 0)):
                found[field[0]] = (field[1], column)
        place = {field: column for field, (_, column) in found.items()}
        free = [c for c, one in enumerate(header[:_MOST_WIDE]) if self.field(one) is None and not is_number(one)]
        if "kind" not in place:
            kinds = [c for c in free if any(len(row) > c and self.is_kind(row[c]) for row in rows)]
            if len(kinds) == 1:
                place["kind"] = kinds[0]
        if "text" not in place and texts:
            strings = [
                c for c in free if c != place.get("kind") and all(len(r) > c and isinstance(r[c], str) for r in rows)
            ]
            if strings and "kind" in place and rows:
                place["text"] = strings[0]
            elif "name" in place:
                place["text"] = place.pop("name")
        return place

    def _columns(self, table: Mapping[str, Any]) -> tuple[list[str], list[list[Any]]] | None:
        """The header and rows of a table that has its columns as lists, or a list of names and one of rows."""
        lists = {key: value for key, value in table.items() if isinstance(value, list)}
        headers = [value for value in lists.values() if value and all(isinstance(one, str) for one in value)]
        header = next(
            (one for one in headers if len(one) > 1 and self.is_header(one) and not self._are_kinds(one)), None
        )
        if header is not None:
            rows = [
                value
                for value in lists.values()
                if value and all(isinstance(one, list) and len(one) == len(header) for one in value)
            ]
            return (header, rows[0]) if len(rows) == 1 else None
        columns = {key: value for key, value in lists.items() if self.field(key) is not None}
        lengths = {len(value) for value in columns.values()}
        if len(columns) > 1 and len(lengths) == 1:
            return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]
        return None

    def _by_number(self, table: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        """The tables in one whose fields are numbered: `{"text1": ..., "kind1": ..., "text2": ...}`."""
        records: dict[str, dict[str, Any]] = {}
        for key, value in table.items():
            found = _NUMBERED.fullmatch(key)
            if found is None or self.field(found["name"]) is None:
                return None
            records.setdefault(found["number"], {})[found["name"]] = value
        return list(records.values()) if table and all(len(one) > 1 for one in records.values()) else None


def _unnumbered(rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """Rows without the numbers that each of them begins with."""
    numbered = bool(rows) and all(row and str(row[0]).strip(" .)").isdecimal() for row in rows)
    return [row[1:] for row in rows] if numbered else rows


def _is_row(value: Sequence[Any]) -> bool:
    return len(value) > 1 and not any(isinstance(one, dict | list) for one in value)


def is_rule(cells: Sequence[str]) -> bool:
    """Whether a row is the line of hyphens below the header of a Markdown table."""
    return any("-" in cell for cell in cells) and not any(cell.strip(" :-") for cell in cells)


def _holds_more(value: Any) -> bool:
    return isinstance(value, dict | list) or (isinstance(value, str) and value.lstrip()[:1] in _BRACKETS)
