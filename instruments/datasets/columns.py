"""The columns of a sheet, by the names that the rules give them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from polyculture.cache.spreadsheet import is_error
from polyculture.instruments.datasets.model import BOTH
from polyculture.instruments.datasets.rules import DataBlock, DatasetRules
from polyculture.sources.headers import KnownColumns, plain_title, titles
from polyculture.sources.left_out import SourceLocation
from polyculture.sources.values import Row

FIXED = ("culture", "type", "setting", "form")
OPTIONAL = ("english", "language", "culture", "type", "gender", "country", "qid", "setting", "form", "sentiment",
            "phrasing", "pair", "question")  # fmt: skip
GENDERS = {"female": "female", "f": "female", "male": "male", "m": "male", "both": BOTH, "neutral": BOTH,
           "unisex": BOTH}  # fmt: skip
QID = re.compile(r"(?:^|/)(Q[1-9][0-9]*)$")


class MissingColumnError(Exception):
    """A sheet lacks a column without which no row can be used; the message says which, and what there is."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows of a sheet, as cells of text without the spaces around it. Case does not count in names of columns."""

    place: SourceLocation
    header: tuple[str, ...]  # as written; '' of a column without a name
    rows: tuple[tuple[str, ...], ...]
    places: tuple[SourceLocation, ...]

    @classmethod
    def of(cls, rows: Sequence[Row], names: Sequence[str]) -> Sheet:
        """Rows of one sheet, under all columns that they have, and those of `names` that are paths into them.

        What their path says is no column.
        """
        own = dict.fromkeys(name for row in rows for name in row.record.values)
        joined = dict.fromkeys(name for row in rows for name in row.more if name not in _OF_PATHS and name not in own)
        paths = [one for one in names if one not in own and not _PLAIN.match(one) and any(row.has(one) for row in rows)]
        columns = [*own, *joined, *paths]
        cells = tuple(tuple(cell_text(row.get(name)) for name in columns) for row in rows)
        kept = [number for number, of_row in enumerate(cells) if any(of_row)]
        first = rows[0].place
        return cls(
            SourceLocation(first.file, first.sheet),
            (*titles(own), *joined, *paths),
            tuple(cells[number] for number in kept),
            tuple(rows[number].place for number in kept),
        )

    def column(self, names: Sequence[str]) -> int | None:
        """The index of the first of these columns that exists."""
        known = {plain_title(title): number for number, title in reversed(list(enumerate(self.header)))}
        return next((known[plain_title(name)] for name in names if plain_title(name) in known), None)

    def cells(self, column: int) -> list[str]:
        """The texts of a column, empty cells left out."""
        return [row[column] for row in self.rows if row[column]]


_OF_PATHS = frozenset({"file", "row", "turn", "round", *FIXED})
_PLAIN = re.compile(r"[^.\[\]{}|]*$")  # a name that is no path and no template
_UNSEEN = "\ufeff"  # a byte order mark, also in mid-file


def cell_text(value: Any) -> str:
    """A cell as a text: a whole number without its point, nothing of a formula that failed."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = "" if value is None else str(value).strip().strip(_UNSEEN).strip()
    return "" if is_error(text) else text


@dataclass(frozen=True, slots=True)
class SheetColumns:
    """Where to find what in a sheet: indices, by the name of an attribute and by language for the texts."""

    of: Mapping[str, int]
    texts: Mapping[str, int]  # language -> the column; '' where a column says the language
    told: tuple[str, ...] = field(default=())  # languages without a column


def find_columns(rules: DatasetRules, block: DataBlock, sheet: Sheet, fixed: Mapping[str, str]) -> SheetColumns:
    """The columns of a sheet. Raises `MissingColumnError` where one is missing that all rows need."""
    named = {name: sheet.column(getattr(block, name)) for name in OPTIONAL if getattr(block, name)}
    found = {name: column for name, column in named.items() if column is not None}
    for name in ("language", "culture", "type", "setting"):
        if name in named and name not in found and not fixed.get(name):
            raise _missing(sheet, getattr(block, name))
    languages = _languages(rules, block, fixed["culture"])
    names = {code: _text_names(rules, block, code, alone=len(languages) == 1) for code in languages}
    columns = {code: sheet.column(of_language) for code, of_language in names.items()}
    texts = {code: column for code, column in columns.items() if column is not None}
    if not texts:
        raise _missing(sheet, names[languages[0]] or block.text)
    there = ", ".join(sheet.header)
    lacking = [code for code in languages if code not in texts and fixed["culture"] != rules.reference]
    told = (f"no column for {rules.languages.get(code, code)}; there are {there}" for code in lacking)
    return SheetColumns(found, texts, tuple(told))


def _languages(rules: DatasetRules, block: DataBlock, culture: str) -> tuple[str, ...]:
    """The languages that a sheet may have texts in; '' where a column says the language."""
    if block.language:
        return ("",)
    every = dict.fromkeys(code for of_culture in rules.cultures.values() for code in of_culture)
    return rules.cultures.get(culture) or tuple(every)


def _text_names(rules: DatasetRules, block: DataBlock, code: str, *, alone: bool) -> list[str]:
    """Names of the text's column in a language; one that says no language fits where there is but one."""
    told = [spelt(name, rules.languages.get(code, code), code) for name in block.text]
    return [one for one, name in zip(told, block.text, strict=True) if one != name or alone]


def _missing(sheet: Sheet, wanted: Sequence[str]) -> MissingColumnError:
    there = ", ".join(title for title in sheet.header if title) or "none with a name"
    return MissingColumnError(f"no column {' or '.join(map(repr, wanted))}; there are: {there}")


def known_columns(rules: DatasetRules, block: DataBlock) -> KnownColumns:
    """How the header of a sheet is known."""
    words = (*rules.cultures, rules.reference, *rules.others)
    return KnownColumns(
        frozenset(map(plain_title, column_names(rules, block))),
        frozenset(map(plain_title, words)),
        by_people=True,
    )


def column_names(rules: DatasetRules, block: DataBlock) -> list[str]:
    """All names that the columns of a block may have: the row that has most of them is the header."""
    spoken = [(name, code) for code, name in rules.languages.items()] or [("", "")]
    names = [name for attribute in ("text", *OPTIONAL) for name in getattr(block, attribute)]
    return list(dict.fromkeys(spelt(name, told, code) for name in names for told, code in spoken))


def spelt(name: str, language: str, code: str) -> str:
    """A column's name in a language: "{language} Entity" is "Hindi Entity"."""
    return name.replace("{language}", language).replace("{code}", code)
