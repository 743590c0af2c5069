"""An extractor's answer without JSON: YAML, a Markdown list or table, CSV, XML, a line for each entity.

    - text: ramen        - **ramen** (dish)    | ramen | dish |     dish:        text,kind      <mention kind="dish">
      kind: dish         - Kyoto: place        | Kyoto | place |      - ramen    ramen,dish       ramen</mention>

Read only where it is unambiguous: every line that could be an entity must be one, with a known kind, unless a header or
tags name its fields.
"""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Callable, Container

_FIELD = re.compile(r"\s*(?P<begins>[-*]\s+)?(?P<name>[a-z_]+)\s*:\s+(?P<value>\S.*)", re.IGNORECASE)
_HEADING = re.compile(
    r"[#*\s-]*(?P<kind>[^\W\d][\w -]{0,40}?)[*\s]*:[*\s]*|(?:#+|\*\*)\s*(?P<marked>[^\W\d][\w -]{0,40}?)[*\s]*"
)
_LIST = re.compile(r"\s*(?:[-*•]\s+)?[*_]*(?P<kind>[^\W\d][\w -]{0,40}?)[*_]*\s*[:：][*_]*\s*(?P<texts>\S.*)")
_PAIR = re.compile(  # "ramen (dish)", "ramen - dish", "[ramen](dish)", "（ramen，dish）"
    r"\s*[\[(（「\"“*_]{0,6}(?P<text>[^\n;；]{1,200}?)[\])）」\"”*_]*\s*(?:[(（\[]|\s[–—-]|->|=>|→|[:：=/|，,])\s*"
    r"(?P<kind>[^\W\d][\w -]{0,40})[)）\]\"”]*\s*(?:[,;，；、.\n]+|(?=[(（\[])|$)"
)
_BULLET = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+(?P<rest>.+)")
_ITEM = re.compile(r"(?P<text>.+?)\s*(?:\((?P<inside>[^()]+)\)|(?::|\s[–—-]|->|→)\s*(?P<behind>[^:]+))")
_ATTRIBUTE = re.compile(r"""(?P<name>[\w-]+)\s*=\s*(?P<value>"[^"]*"|'[^']*')""")
_ELEMENT = re.compile(
    r"""<(?P<name>[\w-]+)(?P<told>(?:\s+[\w-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(?:/>|>(?P<inside>[^<>]*)</(?P=name)\s*>)"""
)
_NO_ELEMENT = re.compile(r"(?:<\?xml[^<>]*>\s*)?(?:xml\s+)?<(?P<name>[\w-]+)\s*(?:/>|>\s*</(?P=name)\s*>)")
_AROUND = " \t*_`\"'“”"


Table = dict[str, str]  # the fields of an entity


def entity_lines(text: str, known: Callable[[str], bool], fields: Container[str]) -> list[Table] | None:
    """The entities in a text; None where there are none, or not in every line: of an empty table there is no entity."""
    if (elements := _elements(text, known, fields)) is not None:
        return elements
    lines = [line for line in text.splitlines() if line.strip(" \t-`") and not line.lstrip().startswith("```")]
    if (rows := _separated(lines, known, fields)) is not None:
        return rows
    return (
        _tables(lines, fields)
        or _rows(lines, known)
        or _bullets(lines, known)
        or _lists(lines, known)
        or _pairs(text, known)
        or None
    )


def _elements(text: str, known: Callable[[str], bool], fields: Container[str]) -> list[Table] | None:
    """The entities of XML: fields as elements or attributes, or a text in an element of its kind."""
    tables: list[Table] = []
    for found in _ELEMENT.finditer(text):
        name, inside = found["name"].casefold(), html.unescape(found["inside"] or "").strip(_AROUND + "\n\r")
        told = {one["name"].casefold(): html.unescape(one["value"][1:-1]) for one in _ATTRIBUTE.finditer(found["told"])}
        table = {key: value for key, value in told.items() if key in fields}
        if table:
            tables.append({**table, **({} if "text" in table or not inside else {"text": inside})})
        elif known(name) and inside:
            tables.append({"text": inside, "kind": name})
        elif name in fields:
            if not tables or name in tables[-1]:
                tables.append({})
            tables[-1][name] = inside
    return tables or ([] if _NO_ELEMENT.fullmatch(text.strip("` \t\r\n")) else None)


def _separated(lines: list[str], known: Callable[[str], bool], fields: Container[str]) -> list[Table] | None:
    """The rows of CSV or TSV below a header of fields, or whose second cells are kinds."""
    for separator in "\t;,":
        try:
            rows = list(csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True))
        except csv.Error:
            continue
        header = [re.sub(r"\W+", "_", cell.strip(_AROUND).casefold()) for cell in rows[0]] if rows else []
        if len(header) > 1 and all(name in fields for name in header):
            return [dict(zip(header, row, strict=False)) for row in rows[1:]]
        if header and all(len(row) == len(rows[0]) > 1 and row[0] and known(row[1].strip()) for row in rows):
            return [{"text": row[0], "kind": row[1].strip()} for row in rows]
    return None


def _tables(lines: list[str], fields: Container[str]) -> list[Table]:
    tables: list[Table] = []
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is None or (name := field["name"].casefold()) not in fields:
            continue
        if field["begins"] or not tables or name in tables[-1]:
            tables.append({})
        tables[-1][name] = field["value"].strip(_AROUND)
    return tables


def _rows(lines: list[str], known: Callable[[str], bool]) -> list[Table]:
    """The rows of a Markdown table, whose header stands above a line of hyphens."""
    rows = [[cell.strip(_AROUND) for cell in line.strip().strip("|").split("|")] for line in lines if "|" in line]
    rows = rows[2:] if len(rows) > 2 and not any(cell.strip(":-") for cell in rows[1]) else rows
    whole = all(len(row) >= 2 and row[0] and known(row[1]) for row in rows)
    return [{"text": row[0], "kind": row[1]} for row in rows] if whole else []


def _bullets(lines: list[str], known: Callable[[str], bool]) -> list[Table]:
    entities: list[Table] = []
    heading: str | None = None
    for line in lines:
        if (found := _HEADING.fullmatch(line)) is not None:
            kind = found["kind"] or found["marked"]
            heading = kind if known(kind) else None
        elif (bullet := _BULLET.fullmatch(line)) is not None:
            item = None if heading else _ITEM.fullmatch(bullet["rest"].strip())
            kind = heading or (item and (item["inside"] or item["behind"]).strip(_AROUND)) or ""
            if not known(kind):
                return []
            entities.append({"text": (item["text"] if item else bullet["rest"]).strip(_AROUND), "kind": kind})
    return entities


def _lists(lines: list[str], known: Callable[[str], bool]) -> list[Table]:
    """The entities of lines that are a kind with its texts: `dish: ramen, udon`."""
    found = [_LIST.fullmatch(line) for line in lines]
    if not all(one is not None and known(one["kind"]) for one in found):
        return []
    texts = [
        (text.strip(_AROUND), one["kind"]) for one in found if one for text in re.split("[,;，；、]", one["texts"])
    ]
    return [{"text": text, "kind": kind} for text, kind in texts if text] if len(texts) > 1 else []


def _pairs(text: str, known: Callable[[str], bool]) -> list[Table]:
    """The entities of a text that is nothing but texts with their kinds."""
    tables: list[Table] = []
    position = 0
    while text[position:].strip():
        found = _PAIR.match(text, position)
        if found is None or not known(found["kind"].strip()):
            return []
        tables.append({"text": found["text"].strip(_AROUND), "kind": found["kind"].strip()})
        position = found.end()
    return tables
