"""The columns of a sheet: found by their names, else by what stands in them where that is plain.

A column that no rule names is taken for one that is wanted where it is the only one whose cells say so: types of
entities, words of sentiment or gender, Wikidata items, texts with a gap, names in the script of the language. That is
told. Where two columns could be meant, neither is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from polyculture.cache.spreadsheet import is_error
from polyculture.cache.text.scripts import script_counts, script_share
from polyculture.instruments.datasets.gaps import read_gaps
from polyculture.instruments.datasets.model import BOTH, MASK, read_sentiment
from polyculture.instruments.datasets.rules import Block, DatasetRules
from polyculture.sources.headers import KnownColumns, plain_title, titles
from polyculture.sources.left_out import SourceLocation
from polyculture.sources.values import Row

FIXED = ("culture", "type", "setting", "form")
OPTIONAL = ("english", "language", "culture", "type", "gender", "country", "qid", "setting", "form", "sentiment",
            "phrasing", "pair", "question")  # fmt: skip
GENDERS = {"female": "female", "f": "female", "male": "male", "m": "male", "both": BOTH, "neutral": BOTH,
           "unisex": BOTH}  # fmt: skip
QID = re.compile(r"(?:^|/)(Q[1-9][0-9]*)$")
MOSTLY = 0.9  # of a column's cells must be of a kind for the column to be of it
LATIN = ("Latn",)


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
_PLAIN = re.compile(r"[^.\[\]{}]*$")  # a name that is no path and no template
_UNSEEN = "\ufeff"  # a byte order mark, also in mid-file


def cell_text(value: Any) -> str:
    """A cell as a text: a whole number without its point, nothing of a formula that failed."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = "" if value is None else str(value).strip().strip(_UNSEEN).strip()
    return "" if is_error(text) else text


@dataclass(frozen=True, slots=True)
class Columns:
    """Where to find what in a sheet: indices, by the name of an attribute and by language for the texts."""

    of: Mapping[str, int]
    texts: Mapping[str, int]  # language -> the column; '' where a column says the language
    told: tuple[str, ...] = field(default=())  # columns read by their content, and languages without a column


def find_columns(rules: DatasetRules, block: Block, sheet: Sheet, fixed: Mapping[str, str], contexts: bool) -> Columns:
    """The columns of a sheet. Raises `MissingColumnError` where one is missing that all rows need."""
    return _Finder(rules, block, sheet, fixed, contexts).columns()


def known_columns(rules: DatasetRules, block: Block) -> KnownColumns:
    """How the header of a sheet is known."""
    words = (*rules.cultures, rules.reference, *rules.others)
    return KnownColumns(
        frozenset(map(plain_title, column_names(rules, block))),
        frozenset(map(plain_title, words)),
        lambda cell: bool(QID.search(cell)) or MASK in read_gaps(cell, rules.masks).text,
        by_people=True,
    )


def column_names(rules: DatasetRules, block: Block) -> list[str]:
    """All names that the columns of a block may have: the row that has most of them is the header."""
    spoken = [(name, code) for code, name in rules.languages.items()] or [("", "")]
    names = [name for attribute in ("text", *OPTIONAL) for name in getattr(block, attribute)]
    return list(dict.fromkeys(spelt(name, told, code) for name in names for told, code in spoken))


def spelt(name: str, language: str, code: str) -> str:
    """A column's name in a language: "{language} Entity" is "Hindi Entity"."""
    return name.replace("{language}", language).replace("{code}", code)


class _Finder:
    def __init__(
        self, rules: DatasetRules, block: Block, sheet: Sheet, fixed: Mapping[str, str], contexts: bool
    ) -> None:
        self.rules, self.block, self.sheet, self.fixed, self.contexts = rules, block, sheet, fixed, contexts
        self.told: list[str] = []
        self.languages = self._languages()

    def columns(self) -> Columns:
        named = {name: self.sheet.column(getattr(self.block, name)) for name in OPTIONAL if getattr(self.block, name)}
        found = {name: column for name, column in named.items() if column is not None}
        texts = self._named_texts()
        taken = {*found.values(), *texts.values()}
        for code in [code for code in self.languages if code not in texts]:
            column = self._only(taken, self._is_text(code), f"the text in {self._spoken(code) or 'its language'}")
            if column is not None:
                texts[code] = column
                taken.add(column)
        for name in self._wanted(found):
            column = self._only(taken, getattr(self, f"_is_{name}"), name)
            if column is not None:
                found[name] = column
                taken.add(column)
        self._check(found, texts)
        return Columns(found, texts, tuple(self.told))

    def _languages(self) -> tuple[str, ...]:
        if self.block.language:
            return ("",)
        of_culture = self.rules.cultures.get(self.fixed["culture"])
        return of_culture or tuple(dict.fromkeys(code for each in self.rules.cultures.values() for code in each))

    def _named_texts(self) -> dict[str, int]:
        found = {code: self.sheet.column(self._names(code)) for code in self.languages}
        return {code: column for code, column in found.items() if column is not None}

    def _names(self, code: str) -> list[str]:
        """Column names for one language; a name that says no language fits where there is but one."""
        told = [spelt(name, self._spoken(code), code) for name in self.block.text]
        return [one for one, name in zip(told, self.block.text, strict=True) if one != name or len(self.languages) == 1]

    def _spoken(self, code: str) -> str:
        return self.rules.languages.get(code, code)

    def _wanted(self, found: Mapping[str, int]) -> Iterable[str]:
        """What the block reads, no column is named for, and what can be told by its content."""
        missing = [name for name in OPTIONAL if getattr(self.block, name) and name not in found]
        said = {name for name in FIXED if self.fixed.get(name)} - {"culture"}  # rows of another culture may stand here
        return [name for name in _BY_CONTENT if name in missing and name not in said]

    def _only(self, taken: set[int], fits: Callable[[int], bool], wanted: str) -> int | None:
        """The one column left that fits; told, as no rule names it."""
        free = [
            column for column, _ in enumerate(self.sheet.header) if column not in taken and self.sheet.cells(column)
        ]
        fitting = [column for column in free if fits(column)]
        if len(fitting) != 1:
            return None
        title = self.sheet.header[fitting[0]] or f"number {fitting[0] + 1}, without a name,"
        self.told.append(f"kept: column {title!r} is read as {wanted}, by what stands in it")
        return fitting[0]

    def _is_text(self, code: str) -> Callable[[int], bool]:
        scripts = self.rules.scripts.get(code, ())

        def fits(column: int) -> bool:
            if scripts in ((), LATIN) and self._says_english(column):
                return False
            if self.contexts and not self._has_gaps(column):
                return False
            if not self.contexts and self._repeats(column):
                return False
            return bool(scripts or self.contexts) and self._mostly(column, lambda cell: _written_in(cell, scripts))

        return fits

    def _repeats(self, column: int) -> bool:
        """Does a column say few words again and again? Then it sorts the entities, and does not name them."""
        cells = self.sheet.cells(column)
        kinds = (self._is_culture, self._is_type, self._is_gender, self._is_qid)
        return 2 * len(set(cells)) < len(cells) or any(is_kind(column) for is_kind in kinds)

    def _is_english(self, column: int) -> bool:
        """Of contexts: texts with a gap in Latin letters; of entities also the column's name must say so."""
        if not self.contexts or all(self.rules.scripts.get(code, LATIN) == LATIN for code in self.languages):
            return self._says_english(column) and (not self.contexts or self._has_gaps(column))
        return self._has_gaps(column) and self._mostly(column, lambda cell: _written_in(cell, LATIN))

    def _is_type(self, column: int) -> bool:
        return self._mostly(column, lambda cell: self.rules.word("type", cell).partition("/")[0] in self.rules.types)

    def _is_sentiment(self, column: int) -> bool:
        labels = {read_sentiment(cell) for cell in self.sheet.cells(column)}
        return len(labels - {None}) > 1 and self._mostly(column, lambda cell: read_sentiment(cell) is not None)

    def _is_gender(self, column: int) -> bool:
        genders = {GENDERS.get(cell.casefold()) for cell in self.sheet.cells(column)}
        return bool(genders & {"female", "male"}) and self._mostly(column, lambda cell: cell.casefold() in GENDERS)

    def _is_culture(self, column: int) -> bool:
        known = {*self.rules.cultures, self.rules.reference, *self.rules.others}
        return self._mostly(column, lambda cell: self.rules.word("culture", cell) in known)

    def _is_qid(self, column: int) -> bool:
        return self._mostly(column, lambda cell: QID.search(cell) is not None)

    def _says_english(self, column: int) -> bool:
        title = plain_title(self.sheet.header[column])
        return any(word in title for word in ("engl", "translation", "transliteration", "romani"))

    def _has_gaps(self, column: int) -> bool:
        return self._mostly(column, lambda cell: MASK in read_gaps(cell, self.rules.masks).text)

    def _mostly(self, column: int, fits: Callable[[str], bool]) -> bool:
        cells = self.sheet.cells(column)
        return bool(cells) and sum(map(fits, cells)) >= MOSTLY * len(cells)

    def _check(self, found: Mapping[str, int], texts: Mapping[str, int]) -> None:
        for name in ("language", "culture", "type", "setting"):
            wanted = getattr(self.block, name)
            if wanted and name not in found and not self.fixed.get(name):
                raise self._missing(wanted)
        if not texts:
            raise self._missing(self._names(self.languages[0]) or self.block.text)
        if self.fixed["culture"] != self.rules.reference:
            there = ", ".join(self.sheet.header)
            lacking = [code for code in self.languages if code not in texts]
            self.told += [f"no column for {self._spoken(code)}; there are {there}" for code in lacking]

    def _missing(self, wanted: Sequence[str]) -> MissingColumnError:
        there = ", ".join(title for title in self.sheet.header if title) or "none with a name"
        return MissingColumnError(f"no column {' or '.join(map(repr, wanted))}; there are: {there}")


# What can be told by its content, in this order: a column is taken once.
_BY_CONTENT = ("type", "sentiment", "gender", "culture", "qid", "english")


def _written_in(text: str, scripts: Sequence[str]) -> bool:
    """Are most letters of one of these scripts? Without scripts, nothing is asked."""
    share = script_share(script_counts(text.replace(MASK, "")), scripts)
    return not scripts or (share is not None and share >= 0.5)
