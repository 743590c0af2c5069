"""An extractor's answer without JSON: YAML, a Markdown list or table, a line for each entity.

    - text: ramen                - **ramen** (dish)            | ramen | dish |            dish:
      kind: dish                 - Kyoto: place                | Kyoto | place |             - ramen

Read only where it is unambiguous: every line that could be an entity must be one, with a known kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

_FIELD = re.compile(r"\s*(?P<begins>[-*]\s+)?(?P<name>[a-z_]+)\s*:\s+(?P<value>\S.*)", re.IGNORECASE)
_HEADING = re.compile(r"[#*\s-]*(?P<kind>[^\W\d][\w -]{0,40}?)[*\s]*:[*\s]*")
_BULLET = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+(?P<rest>.+)")
_ITEM = re.compile(r"(?P<text>.+?)\s*(?:\((?P<inside>[^()]+)\)|(?::|\s[–—-]|->|→)\s*(?P<behind>[^:]+))")
_AROUND = " \t*_`\"'“”"


Table = dict[str, str]  # the fields of an entity


def entity_lines(text: str, known: Callable[[str], bool], fields: Container[str]) -> list[Table]:
    """The entities in a text; none where there are none, or not in every line."""
    lines = [line for line in text.splitlines() if line.strip(" \t-`") and not line.lstrip().startswith("```")]
    return _tables(lines, fields) or _rows(lines, known) or _bullets(lines, known)


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
            heading = found["kind"] if known(found["kind"]) else None
        elif (bullet := _BULLET.fullmatch(line)) is not None:
            item = None if heading else _ITEM.fullmatch(bullet["rest"].strip())
            kind = heading or (item and (item["inside"] or item["behind"]).strip(_AROUND)) or ""
            if not known(kind):
                return []
            entities.append({"text": (item["text"] if item else bullet["rest"]).strip(_AROUND), "kind": kind})
    return entities
