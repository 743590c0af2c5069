"""Reads an extractor's answer without JSON, line by line, into the rows of tables: Markdown, CSV, HTML and XML,
labelled lines as in YAML, lists.

    | text | kind |     text,kind      - text: ramen     dish: ramen, udon     - ramen (dish)     <mention kind="dish">
    |------|------|     ramen,dish       kind: dish      place: Kyoto          - Kyoto: place       ramen</mention>
    | ramen | dish |

Read only where it is unambiguous: every bullet must be a mention with a known kind, unless a header or labels name its
fields. Small models that are asked without a schema write mostly `kind: texts`, bullets and Markdown tables.
"""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterator, Sequence
from functools import cache

from polyculture.extract.answer_tables import TableReader, is_rule
from polyculture.extract.base import NamedEntity
from polyculture.extract.spellings import between, bullet

_LONGEST_LINE = 8_000  # characters; no list of mentions has longer lines, and matching them takes long
_LONGEST_ITEM = 600  # characters of a line that is one mention
_MOST_LINES = 2_000
_SEPARATORS = "|\t;,"
_HEADING = re.compile(r"\s*#+\s*")
_LABEL = re.compile(r"(?P<label>[^\W\d][\w ()（）'’-]{0,40}?)\s*(?:[:：]|\s=)\s*(?P<value>\S.*)?")
# Several labels in a line, as `text: ramen, kind: dish`.
_LABELS = re.compile(r"""(?P<label>[^\W\d]\w*)\s*[:：=]\s*(?P<value>"[^"]*"|'[^']*'|[^,，;；|(){}]*)""")
_REMARK = re.compile(r"\s+#\s.*")
_BEHIND = re.compile(r"\s+[(（][^()（）]*[)）]\W*$")  # a remark behind a text under the heading of its kind
_BETWEEN = re.compile(r"\s*[;；\n]\s*|(?<=[)）\]])\s*[,，、]?\s*(?=[^\s(（,，、])|(?<=[)）])(?=[(（])")
_SENTENCE = re.compile(r"\w\s*[.。!！?？]\s*$")
_LIST = re.compile("[,;，；、]")
_ATTRIBUTE = re.compile(r"""(?P<name>[\w-]+)\s*=\s*(?P<value>"[^"]*"|'[^']*')""")
_ELEMENT = re.compile(
    r"""<(?P<name>[\w-]+)(?P<told>(?:\s+[\w-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(?:/>|>(?P<inside>[^<>]*)</(?P=name)\s*>)"""
)
_NO_ELEMENT = re.compile(r"(?:<\?xml[^<>]*>\s*)?(?:xml\s+)?<(?P<name>[\w-]+)\s*(?:/>|>\s*</(?P=name)\s*>)")
_ROW = re.compile(r"<tr\b[^<>]*>(.*?)</tr\s*>", re.DOTALL | re.IGNORECASE)
_CELL = re.compile(r"<t[hd]\b[^<>]*>(.*?)</t[hd]\s*>", re.DOTALL | re.IGNORECASE)
_AROUND = " \t*_`\"'“”„«»"


def line_entities(text: str, reader: TableReader, *, cut: bool) -> list[NamedEntity] | None:
    """The mentions in a text; None where there are none, or not in every line: an empty table has no mention.

    Of a text that was `cut` the last line is left out.
    """
    lines = text.splitlines()[:_MOST_LINES]
    if any(len(line) > _LONGEST_LINE for line in lines):
        return None
    if (elements := _elements(text, reader)) is not None:
        return elements
    lines = [line for line in lines if not line.lstrip().startswith("```")]
    lines = [line for line in (lines[:-1] if cut else lines) if line.strip(" \t-`")]
    rows = None if (enumerated := _names_kinds(lines, reader)) else _tables(lines, reader)
    if rows is not None:
        return rows
    return _LabelledLines(reader).read(lines) or (None if enumerated else _items(lines, reader) or None)


def _names_kinds(lines: Sequence[str], reader: TableReader) -> bool:
    """Whether a text is one line that lists kinds and no mention: "It names no dishes, ingredients or places."."""
    for clause in re.split("[;；]", lines[0]) if len(lines) == 1 else ():
        parts = [_plain(part).rstrip(".。") for part in _LIST.split(clause)]
        words = [part.split() for part in parts if not reader.is_kind(part) and part.replace(" ", "").isalpha()]
        if sum(map(reader.is_kind, parts)) > 1 or any(reader.is_kind(one[-1]) for one in words if one):
            return True
    return False


def line_entity(line: str, reader: TableReader) -> NamedEntity | None:
    """The mention in a line that is a text with its kind, or cells with a kind among them."""
    if len(line) > _LONGEST_ITEM:
        return None
    if line.count("|") > 1:
        return next(reader.cells([[_plain(cell) for cell in line.strip(" |").split("|")]]), None)
    item = _item().fullmatch(line.strip().strip("*_`"))
    if item is None or not reader.is_kind(item["kind"]):
        return None
    return NamedEntity(_plain(item["text"]), _plain(item["kind"]))


@cache
def _item() -> re.Pattern[str]:
    """A text with its kind: "ramen (dish)", "ramen - dish", "[ramen](dish)", "（ramen，dish）"."""
    return re.compile(
        rf"[\[(（「\"“]?(?P<text>.+?)[\])）」\"”]?\s*(?:[(（\[]|{between()})\s*"
        r"(?P<kind>[^\W\d][\w -]{0,40}(?:\s*\([^()]*\))?)\s*[)）\]\"”]*"
    )


def _plain(cell: str) -> str:
    return cell.strip(_AROUND)


def _elements(text: str, reader: TableReader) -> list[NamedEntity] | None:
    """The mentions of HTML's rows, and of XML: fields as elements or attributes, or texts in elements of their kind."""
    if rows := [[_plain(html.unescape(cell)) for cell in _CELL.findall(row)] for row in _ROW.findall(text)]:
        return list(_below(rows[0], rows[1:], "", reader)) if len(rows) > 1 else None
    records: list[dict[str, str]] = []
    for found in _ELEMENT.finditer(text):
        name, inside = found["name"], html.unescape(found["inside"] or "").strip(_AROUND + "\n\r")
        told = {one["name"]: html.unescape(one["value"][1:-1]) for one in _ATTRIBUTE.finditer(found["told"])}
        record = {key: value for key, value in told.items() if reader.field(key) is not None}
        if reader.is_kind(name) and inside:
            records.append({"kind": name, **record, "text": inside})
        elif record:
            has_text = any(reader.is_field(key, "text") for key in record)
            records.append({**record, **({} if has_text or not inside else {"text": inside})})
        elif reader.field(name) is not None:
            if not records or name in records[-1]:
                records.append({})
            records[-1][name] = inside
    entities = [entity for record in records for entity in reader.read(record)]
    return entities or ([] if _NO_ELEMENT.fullmatch(text.strip("` \t\r\n")) else None)


def _tables(lines: Sequence[str], reader: TableReader) -> list[NamedEntity] | None:
    """The mentions in rows below headers, or in lines that are all rows with a kind; None where there are neither."""
    for separator in _SEPARATORS:
        if not any(separator in line for line in lines):
            continue
        rows = [_cells(line, separator) for line in lines]
        headers = [place for place, row in enumerate(rows) if _heads(rows, place, separator, reader)]
        if headers:
            entities: list[NamedEntity] = []
            for start, end in zip(headers, [*headers[1:], len(rows)], strict=True):
                kind = next((heading for heading in (_heading(lines[start - 1], reader),) if start and heading), "")
                body = [row for row in rows[start + 1 : end] if len(row) > 1 and not is_rule(row)]
                entities += _below(rows[start], body, kind, reader)
            return entities if entities or len(rows) <= headers[-1] + 2 else None
        if separator == "," and any(";" in line for line in lines):  # "ramen, dish; udon, dish"
            continue
        bare = [_cells(bullet().sub("", line, count=1), separator) for line in lines]
        if len(bare[0]) > 1 and all(len(row) == len(bare[0]) for row in bare) and (found := list(reader.cells(bare))):
            return found
    return None


def _heads(rows: Sequence[Sequence[str]], place: int, separator: str, reader: TableReader) -> bool:
    """Whether a row is a header: it names fields, or stands in Markdown above a line of hyphens."""
    row = rows[place]
    below = rows[place + 1] if place + 1 < len(rows) else ()
    return len(row) > 1 and (reader.is_header(row) or (separator == "|" and len(below) == len(row) and is_rule(below)))


def _below(header: Sequence[str], rows: Sequence[Sequence[str]], kind: str, reader: TableReader) -> list[NamedEntity]:
    return [entity for entity in reader.rows(header, rows, kind) if entity.text]


def _cells(line: str, separator: str) -> list[str]:
    if separator == "|":
        plain = line.strip()
        plain = plain.removeprefix("|").removesuffix("|") if plain.startswith("|") else plain
        return [_plain(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", plain)]
    try:
        return [
            cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True))
        ]
    except (csv.Error, StopIteration):
        return [line]


def _heading(line: str, reader: TableReader) -> str:
    """The kind that a line is the heading of; nothing where it is none."""
    name = _plain(bullet().sub("", _HEADING.sub("", line, count=1), count=1)).rstrip(":：").strip(_AROUND)
    return name if reader.is_kind(name) else ""


class _LabelledLines:
    """Reads labelled lines: `field: value`, whose records begin with a bullet or a label that is there already, and
    `kind: texts`; both may be under the heading of a kind."""

    def __init__(self, reader: TableReader) -> None:
        self._reader = reader
        self._records: list[dict[str, str]] = []
        self._kind = ""  # of the last heading
        self._begins = True  # the next label begins a record

    def read(self, lines: Sequence[str]) -> list[NamedEntity]:
        """The mentions of the lines; none where a line with a bullet is neither, or where only one text has a label."""
        for place, line in enumerate(lines):
            following = lines[place + 1] if place + 1 < len(lines) else ""
            if not self._take(line, following):
                return []
        entities = [entity for record in self._records for entity in self._reader.read(record)]
        by_kind = sum("by kind" in record for record in self._records)
        return [] if by_kind == 1 == len(self._records) else entities

    def _take(self, line: str, following: str) -> bool:
        """Takes a line; False where it might name something, and cannot be read."""
        if kind := _heading(line, self._reader):
            self._kind, self._begins = kind, True
            return True
        is_bullet = bullet().match(line) is not None
        plain = bullet().sub("", line, count=1).strip().replace("**", "").replace("`", "")
        if (record := _record(plain, self._reader)) is not None:
            self._add(record)
            return True
        found = _LABEL.fullmatch(plain)
        label, value = (found["label"], (found["value"] or "")) if found is not None else ("", "")
        if found is not None and self._reader.field(label) is not None:
            self._field(label, _plain(_REMARK.sub("", value)), begins=is_bullet and not self._is_nested(line))
            return True
        if found is not None and value and self._reader.is_kind(label):
            if _SENTENCE.search(value):
                return False
            for text in _LIST.split(value):
                if _plain(text):
                    self._add({"text": _plain(text), "kind": label, "by kind": ""})
            return True
        if is_bullet and not value and self._is_field(following):  # a text with its fields below it
            self._add({"text": _plain(plain.rstrip(":："))})
            self._begins = False
            return True
        if is_bullet:
            entity = line_entity(plain, self._reader)
            if entity is not None:
                self._add({"text": entity.text, "kind": entity.kind})
            elif self._kind:
                self._add({"text": _plain(_BEHIND.sub("", plain))})
            return entity is not None or bool(self._kind)
        self._begins = True
        return True

    def _add(self, record: dict[str, str]) -> None:
        self._records.append({**({"kind": self._kind} if self._kind else {}), **record})
        self._begins = True

    def _field(self, label: str, value: str, *, begins: bool) -> None:
        if begins or self._begins or not self._records or label in self._records[-1]:
            self._records.append(
                {"kind": self._kind} if self._kind and not self._reader.is_field(label, "kind") else {}
            )
        self._records[-1][label] = value
        self._begins = False

    def _is_nested(self, line: str) -> bool:
        """Whether a bullet is a field of the record above it."""
        return line[:1].isspace() and bool(self._records) and not self._begins

    def _is_field(self, line: str) -> bool:
        found = _LABEL.fullmatch(bullet().sub("", line, count=1).strip().replace("**", ""))
        return found is not None and self._reader.field(found["label"]) is not None


def _record(line: str, reader: TableReader) -> dict[str, str] | None:
    """The fields of a line that labels two or more of them; None of another line."""
    labelled = [one for one in _LABELS.finditer(line) if reader.field(one["label"]) is not None]
    record = {one["label"]: _plain(one["value"]) for one in labelled}
    return record if len(record) > 1 and len(record) == len(labelled) else None


def _items(lines: Sequence[str], reader: TableReader) -> list[NamedEntity]:
    """The mentions of a text that is nothing but texts with their kinds."""
    items = [item for item in _split("\n".join(lines)) if item.strip(" ,，、.")]
    entities = [line_entity(item.strip(" ,，、."), reader) for item in items]
    return [entity for entity in entities if entity is not None] if None not in entities else []


def _split(text: str) -> Iterator[str]:
    return iter(_BETWEEN.split(text))
