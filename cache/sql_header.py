"""The comment above a view or a query: the one place that says what its rows and columns are.

    -- Davies-Bouldin index of native and Western entities
    -- separations: a row is a type of entities of a model at a layer, or the mean over types. A long explanation
    -- goes on in the next line.
    --   corrected: the index less what chance gives
    --   $layer = last: the layer, or all
    -- printed: model, language, entity_type, estimate, corrected
    -- no rows: nothing was represented yet
    SELECT ...

`name: what a row is` begins a header. Indented by three spaces come columns, and parameters of a query with their
defaults; their explanations go on indented by five. A view needs no more. A table (`declared_table`) has its title in
the line before, and may say which columns are printed (a file has all of them), which values of its column `metric`
are printed as columns (`side by side`), and what it means that there are no rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby, islice
from pathlib import Path

_NAME = re.compile(r"-- (\w+): (.*)")
_KEY = re.compile(r"-- (printed|side by side|no rows): (.*)")
_COLUMN = re.compile(r"--   (\$?\w+)(?: = (\S+))?: (.*)")
_CONTINUED = re.compile(r"--(?:     | )(\S.*)")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a query: `NULL` as default is None; other defaults are text, a number or a truth value."""

    default: str | int | float | bool | None
    meaning: str


@dataclass(frozen=True)
class Header:
    """What the comment above a view or a query says; texts are one line each."""

    name: str
    row: str  # what a row is
    title: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    printed: tuple[str, ...] = ()
    side_by_side: tuple[str, ...] = ()
    no_rows: str = ""


def read_headers(text: str) -> Iterator[Header]:
    """The headers of an SQL text, in order."""
    for is_comment, block in groupby(text.splitlines(), lambda line: line.startswith("--")):
        lines = list(block) if is_comment else []
        named = ((at, found) for at, line in enumerate(lines[:2]) if (found := _NAME.match(line)))
        for at, found in islice(named, 1):
            title = lines[0].removeprefix("-- ") if at else ""
            yield _header(found[1], title, found[2], lines[at + 1 :])


def _header(name: str, title: str, row: str, following: list[str]) -> Header:
    said: dict[str, str] = {"": row}  # '' is the row, 'name' a column, '$name' a parameter, '-- name' a key
    defaults: dict[str, str | None] = {}
    last = ""
    for line in following:
        if key := _KEY.match(line):
            last, said[last] = f"-- {key[1]}", key[2]
        elif column := _COLUMN.match(line):
            last, said[last] = column[1], column[3]
            defaults[last] = column[2]
        elif more := _CONTINUED.match(line):
            said[last] += f" {more[1]}"
    return Header(
        name,
        said[""],
        title,
        {word: text for word, text in said.items() if word and word[0] not in "$-"},
        {w[1:]: Parameter(typed(defaults[w] or "NULL"), text) for w, text in said.items() if w.startswith("$")},
        _words(said.get("-- printed", "")),
        _words(said.get("-- side by side", "")),
        said.get("-- no rows", ""),
    )


def typed(word: str) -> str | int | float | bool | None:
    """A value as it is written: NULL, true and false, a number, or text."""
    if word in ("NULL", "true", "false"):
        return {"NULL": None, "true": True, "false": False}[word]
    for number in (int, float):
        try:
            return number(word)
        except ValueError:
            continue
    return word


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


@cache
def read_sql(folder: Path, name: str) -> str:
    """The text of `<folder>/<name>.sql`, read once per process. Raises `FileNotFoundError` where there is none."""
    return (folder / f"{name}.sql").read_text(encoding="utf-8")
