"""Which column of a file says what of a text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from polyculture.cache.errors import UserError, did_you_mean
from polyculture.imports.record import Record

FIELDS = (
    *("text", "language", "topic", "model", "country", "condition", "prompt"),
    *("id", "seed", "finish_reason", "prompt_tokens", "completion_tokens"),
)
ITEM_FIELDS = ("surface", "granularity", "qid", "label")
NEEDED = ("text", "language", "topic", "model")
PARTS = "--parts"  # the pattern among stored columns: no field has this name
_GAP = re.compile(r"\\\{([a-z_]*)\\\}")


@dataclass(frozen=True)
class Columns:
    """The column of each field, and a pattern that takes fields out of a column."""

    columns: Mapping[str, str]
    pattern: tuple[str, re.Pattern[str]] | None = None
    guessed: tuple[str, ...] = field(default=())  # fields whose column nobody named

    def read(self, record: Record) -> dict[str, Any]:
        """The fields of a record; None where it does not say one."""
        values = {name: self._value(record, column) for name, column in self.columns.items()}
        if self.pattern is not None:
            column, pattern = self.pattern
            matched = pattern.fullmatch(str(record.get(column) or ""))
            values |= {name: value for name, value in (matched.groupdict() if matched else {}).items() if value}
        return values

    def _value(self, record: Record, column: str) -> Any:
        return column[1:] if column.startswith("=") else record.get(column)

    @property
    def stored(self) -> dict[str, str]:
        """The mapping as a store keeps it: two mappings are the same where these are."""
        pattern = {} if self.pattern is None else {PARTS: f"{self.pattern[0]}={self.pattern[1].pattern}"}
        return {**self.columns, **pattern}

    @property
    def line(self) -> str:
        """What is taken from where, in a line."""
        told = [
            f"{name} is {column[1:]!r}" if column.startswith("=") else f"{name} from {column!r}"
            for name, column in self.columns.items()
        ]
        if self.pattern is not None:
            told.append(f"{', '.join(self.pattern[1].groupindex)} from parts of {self.pattern[0]!r}")
        lacking = [name for name in FIELDS if name not in self.columns and name not in self._parts]
        return f"{'; '.join(told)}. Not in the file, and not made up: {', '.join(lacking) or 'nothing'}"

    @property
    def _parts(self) -> Mapping[str, int]:
        return {} if self.pattern is None else self.pattern[1].groupindex


@cache
def known_names() -> Mapping[str, Mapping[str, Any]]:
    """The tables of `columns.toml`."""
    return tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))


def find_mapping(
    first: Record,
    told: Mapping[str, str],
    usual: Mapping[str, str],
    pattern: str | None,
    path: Path,
    *,
    items: bool = False,
) -> Columns:
    """The mapping of a file by what the user says, where its format has things, and the names of its columns.

    With `items` the columns of items are looked for, too. Raises `UserError` where a named
    column is not in the file, or where nothing says a field that is needed.
    """
    parts = None if pattern is None else read_pattern(pattern)
    columns = dict(told)
    names = (*FIELDS, *ITEM_FIELDS) if items else FIELDS
    if wrong := [name for name in told if name not in names]:
        what = f"--{wrong[0]} is of items, and this format has none"
        raise UserError(what, where=path, remedy="Say --format makieval.")
    for name, column in told.items():
        if not column.startswith("=") and first.get(column) is None and column.split(".")[0] not in first.values:
            near = did_you_mean(column, first.values) or f"It has: {', '.join(map(str, first.values))}."
            raise UserError(f"--{name.replace('_', '-')}: the file has no column {column!r}", where=path, remedy=near)
    by_case = {str(column).casefold(): str(column) for column in first.values}
    for name in names:
        if name in columns or (parts is not None and name in parts[1].groupindex):
            continue
        candidates = (
            [usual[name]] if name in usual else {**known_names()["names"], **known_names()["items"]}.get(name, ())
        )
        if name in usual:
            if _may_have(first, usual[name]):
                columns[name] = usual[name]
            continue
        match = next((by_case[one] for one in candidates if one in by_case), None)
        if match is not None and match not in columns.values():
            columns[name] = match
    has = {*columns, *(parts[1].groupindex if parts else ())}
    lacking = [name for name in (*NEEDED, *(ITEM_FIELDS[:3] if items else ())) if name not in has]
    if lacking:
        name = lacking[0]
        remedy = f"Write --{name} COLUMN, or --{name} =VALUE for all rows. It has: {', '.join(map(str, first.values))}."
        raise UserError(f"no column says the {name} of a text", where=path, remedy=remedy)
    ordered = {name: columns[name] for name in names if name in columns}
    return Columns(ordered, parts, tuple(name for name in ordered if name not in told))


def _may_have(first: Record, column: str) -> bool:
    """Whether a format's usual column is in this file, as its first record tells."""
    return first.get(column) is not None or column in first.values


def read_pattern(pattern: str) -> tuple[str, re.Pattern[str]]:
    """`custom_id={language}-{topic}-{}` as a column and a pattern. Raises `UserError` where it is none."""
    column, equals, form = pattern.partition("=")
    names = _GAP.findall(re.escape(form))
    wrong = [name for name in names if name and name not in FIELDS]
    if (
        not equals
        or not column
        or not any(names)
        or wrong
        or len({n for n in names if n}) < len([n for n in names if n])
    ):
        what = f"--parts {pattern!r} is no COLUMN=PATTERN with fields in braces"
        raise UserError(what, remedy="Write, for example, --parts 'custom_id={language}-{topic}-{}'.")
    # A part ends at the next character of the pattern: no two readings of one text, and no slow one.
    return column, re.compile(_expression(form), re.DOTALL)


def _expression(form: str) -> str:
    made, rest = "", form
    while rest:
        gap = re.match(r"\{([a-z_]*)\}", rest)
        if gap is None:
            made, rest = made + re.escape(rest[0]), rest[1:]
            continue
        rest = rest[gap.end() :]
        until = f"[^{re.escape(rest[0])}]" if rest and not rest.startswith("{") else "."
        made += f"(?P<{gap[1]}>{until}+)" if gap[1] else f"{until}*"
    return made
