"""The row of a table that holds its column names.

A cell is evidence where it is a name that is known: of a rules file's columns, or of those that hold texts and what is
said of them. Its own column must not say it again: 'Chinese' names a column of some sheets and fills one of others.
Below the first row with text more is needed, as a row of data may hold such a word: what is above a header is narrower.
Where no name is known, what is above a header are titles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from polyculture.cache.text.folding import fold

DEEPEST = 10  # the last row in which column names are looked for: titles and empty rows may be above them
ENOUGH = 2  # names in a row below the first make it a header; fewer do where it has nothing else
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PLURAL = re.compile(r"(?<=[a-z]{3})(?:ies|(?<!s)s)$")
_LONGEST_NAME = 60  # characters of a column's name below a title
UNNAMED = " "  # begins the name of a column that has none: its number follows


@dataclass(frozen=True)
class KnownColumns:
    """What a rules file calls columns, and how their tables are written.

    Two forms are read. A program writes each row with as many cells as the header has: another number is damage. People
    leave out the last cells of a row where these are empty, and open quotation marks that they do not close.
    """

    names: frozenset[str]
    values: frozenset[str] = frozenset()  # those that also fill a column: alone they are evidence in the first row only
    by_people: bool = False
    all_columns: bool = False  # True: each column is read, whatever it is called
    header: bool = True  # False: there is no row of names; columns are called '0', '1', ...

    @classmethod
    def of(cls, names: Iterable[str]) -> KnownColumns:
        """The columns of these names, in tables that a program has written."""
        return cls(frozenset(map(plain_title, names)))


@lru_cache(maxsize=4096)
def plain_title(title: str) -> str:
    """A column's name as names are compared: its words, whatever their case, order and plural, and what is between.

    "Context (Hindi)", "hindi_context" and "HindiContexts" are one.
    """
    words = re.findall(r"\w+", fold(_CAMEL.sub(" ", title).replace("_", " ")))
    return " ".join(sorted(_PLURAL.sub(_singular, word) for word in words)) or fold(title)


def _singular(plural: re.Match[str]) -> str:
    return "y" if plural[0] == "ies" else ""


def header_of(table: Sequence[Sequence[str]], known: KnownColumns) -> int | None:
    """The index of the row of column names: of those that have names which are known, the one that has most.

    Where none has one, the first row with text, or the one below titles. None where people wrote the table and that row
    says what its columns say again: it is data, and the table has no header.
    """
    first = next(number for number, row in enumerate(table) if any(row))
    widest, ranks = 0, dict[int, tuple[int, int]]()
    for number in range(first, min(len(table), first + DEEPEST)):
        width = len({cell for cell in table[number] if cell})
        if number == first or width > widest:
            ranks[number] = _rank(table, number, known, number == first)
        widest = max(widest, width)
    top = max(ranks, key=lambda number: ranks[number])
    if ranks[top] > (0, 0):
        return top
    if not known.by_people:
        return first + _titles_above(table[first:])
    return None if any(cell and _recurs(table, first, place) for place, cell in enumerate(table[first])) else first


def _titles_above(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first rows are titles: of one cell, with words, above names of several columns and their rows."""
    filled = [len([*filter(None, cells)]) for cells in rows]
    above = next((place for place, cells in enumerate(filled) if cells > 1), 0)
    header, *table = rows[above:]
    is_table = bool(table) and _names_columns(header) and all(1 < n <= len(header) for n in filled[above + 1 :] if n)
    has_words = any(" " in cell.strip() for row in rows[:above] for cell in row)
    return above if above and is_table and has_words else 0


def _names_columns(cells: Sequence[str]) -> bool:
    """Whether cells are names of several columns, rather than a text and what is said of it."""
    found = [*filter(None, cells)]
    return len(found) > 1 and len(set(found)) == len(found) and max(map(len, found)) <= _LONGEST_NAME


def named(cells: Sequence[str], width: int) -> list[str]:
    """The keys of `width` columns: each its name, and a number where it has none, or one that is there before."""
    names: dict[str, None] = {}
    for number in range(max(width, len(cells))):
        name = cells[number].strip("\ufeff \t") if number < len(cells) else ""
        names[name if name and name not in names else f"{UNNAMED}{number + 1}"] = None
    return list(names)


def titles(values: Mapping[str, object]) -> list[str]:
    """The names of columns as their table has them: '' of those without one."""
    return ["" if name.startswith(UNNAMED) else name for name in values]


def _rank(table: Sequence[Sequence[str]], number: int, known: KnownColumns, is_first: bool) -> tuple[int, int]:
    """How many plain names a row has, and how many with those that may be data; (0, 0): it is no header."""
    filled = [(column, plain_title(cell)) for column, cell in enumerate(table[number]) if cell]
    hits = [cell for column, cell in filled
            if cell in known.names
            and not ((known.by_people or not is_first) and _recurs(table, number, column))]  # fmt: skip
    strong = sum(cell not in known.values for cell in hits)
    plain = is_first or (strong > 0 and (len(hits) >= ENOUGH or len(hits) == len(filled)))
    return (strong, len(hits)) if plain else (0, 0)


def _recurs(table: Sequence[Sequence[str]], number: int, column: int) -> bool:
    """Does the column say the cell again, in a row that is not this one repeated?"""
    row = table[number]
    return any(
        column < len(other) and plain_title(other[column]) == plain_title(row[column]) and other != row
        for other in table
    )
