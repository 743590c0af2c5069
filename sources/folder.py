"""Reads a folder by blocks of rules: each block reads every file that it names.

A row has the columns of second files, and is left out where its block skips it. What its fields become is the target's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Generic, TypeVar

from polyculture.cache.text.suggestions import did_you_mean
from polyculture.sources.fields import FieldWords, Spellings
from polyculture.sources.files import RECORDS, table_suffix
from polyculture.sources.headers import KnownColumns
from polyculture.sources.joins import Joins
from polyculture.sources.left_out import LEFT_OUT, MISSING, NOT_READ, LeftOut, SourceLocation, UnreadableFileError
from polyculture.sources.places import path_expression
from polyculture.sources.record import alternatives, listed_names
from polyculture.sources.rows import RuledFile, read_rows, ruled_files, tables_in
from polyculture.sources.rules import ColumnName, FileRules
from polyculture.sources.values import RowError, SourceRow, may_be_missing

B = TypeVar("B", bound=FileRules)


class MissingColumnError(Exception):
    """A sheet lacks a column without which no row can be used; the message says which, and what there is."""


@dataclass(frozen=True)
class Sheet(Generic[B]):
    """The rows of a table: those of a file, or of a sheet of a workbook."""

    block: B
    place: SourceLocation
    rows: Sequence[SourceRow]

    def has(self, rule: ColumnName) -> bool:
        """Whether there is a column. All rows of a table have the same; of objects each may have others."""
        return any(row.has(rule) for row in (self.rows if self.rows[0].record.nulls else self.rows[:1]))

    def lacks(self, rule: ColumnName) -> MissingColumnError:
        """The error that a column is not there, with those that are."""
        wanted = " or ".join(map(repr, alternatives(str(rule))))
        there = listed_names(dict.fromkeys(name for row in self.rows for name in row.record.values))
        return MissingColumnError(f"no column {wanted}; there are: {there or 'none with a name'}")


def _is_optional(name: str) -> bool:
    """Whether tables may lack the column of a name, which is the same in each language."""
    return may_be_missing(name) and "{language}" not in name and "{code}" not in name


class RuledFolder(Generic[B]):
    """The files of a folder that blocks read. What is left out of them is added to `left_out` as it is met."""

    def __init__(self, folder: Path, blocks: Sequence[B], words: Spellings, left_out: list[LeftOut]) -> None:
        self.files = ruled_files(folder, blocks)
        self.words = FieldWords(words)
        self._folder, self._blocks, self._left_out = folder, blocks, left_out
        self._joins = Joins(folder, blocks, left_out)
        self._absent = dict.fromkeys(name for block in blocks for name in block.column_names if _is_optional(name))
        self._first_rows: list[SourceRow] = []  # of each file

    def reads(self, path: Path) -> bool:
        """Whether a block reads a file, or joins it."""
        is_named = any(path == file.path for file in self.files)
        return is_named or self._joins.has(path.relative_to(self._folder).as_posix())

    def rows(self, file: RuledFile[B], known: KnownColumns) -> list[SourceRow]:
        """The rows of a file, whose columns are `known`.

        A file that cannot be read as a whole has none, and a line says why. It blocks no other file.
        """
        before = len(self._left_out)
        try:
            return [*self._rows(file, known)]
        except UnreadableFileError as fault:
            del self._left_out[before:]  # of rows that are not read either
            place = SourceLocation(file.path.relative_to(self._folder).as_posix())
            other = isinstance(fault.where, SourceLocation) and fault.where.file != place.file  # a joined file
            what = f"{f'{fault.where}: ' if other else ''}{fault.what}. {fault.remedy or ''}".rstrip()
            self._left_out.append(LeftOut(place, f"{NOT_READ}{what}"))
            return []

    def _rows(self, file: RuledFile[B], known: KnownColumns) -> Iterator[SourceRow]:
        row, is_first = None, True
        for row in read_rows(self._folder, file, known):
            try:
                taken = row if isinstance(row, LeftOut) else self._joins.joined(row, file.block, self.words)
            except RowError as fault:
                taken = LeftOut(row.place, f"{LEFT_OUT}{fault}")
            if isinstance(taken, LeftOut):
                self._left_out.append(taken)
                continue
            if is_first:
                self._first_rows.append(taken)
            if self._absent and (is_first or taken.record.nulls):  # all rows of a table have the same columns
                self._absent = {name: None for name in self._absent if not taken.has(name)}
            is_first = False
            yield taken
        if row is None:
            place = SourceLocation(file.path.relative_to(self._folder).as_posix())
            self._left_out.append(LeftOut(place, f"{NOT_READ}the file has no row"))

    def tell_unread(self, others: Iterable[str] = ()) -> None:
        """A line for each table that no block reads. `others` are patterns of files that something else reads."""
        for path in tables_in(self._folder, self._blocks):
            name = path.relative_to(self._folder).as_posix()
            is_other = any(path_expression(one).fullmatch(name) for one in others)
            if table_suffix(path) not in RECORDS and not is_other and not self.reads(path):
                self._left_out.append(LeftOut(SourceLocation(name), "no rule of the data set reads this file"))

    def tell_absent(self) -> None:
        """Once all files are read: a line for each column that tables may lack and that no row of any file has."""
        there = {name for row in self._first_rows for name in row.record.values}
        for name in self._absent if self._first_rows else ():
            near = did_you_mean(name.strip("|"), there, otherwise="")
            place = SourceLocation(self._first_rows[0].place.file)
            self._left_out.append(LeftOut(place, f"{MISSING}no table has {name!r}{near and f'. {near}'}"))

    def tell_unused(self, languages: Mapping[str, str], read: Collection[str]) -> None:
        """Once all rows are taken: a line for the words of each field that no row has, and for each of the rules'
        `languages` in which nothing was `read`."""
        if not self._first_rows:
            return
        place = SourceLocation(self._first_rows[0].place.file)
        for name, unmet in self.words.unmet():
            words = ", ".join(map(repr, unmet))
            self._left_out.append(LeftOut(place, f"{MISSING}words.{name}: no row says {words}"))
        for code, name in languages.items():
            if read and code not in read:
                self._left_out.append(LeftOut(place, f"{MISSING}languages.{code}: nothing is read in {name!r}"))

    def sheets(self, file: RuledFile[B], known: KnownColumns) -> Iterator[Sheet[B]]:
        """The rows of a file, sheet by sheet."""
        name = file.path.relative_to(self._folder).as_posix()
        for sheet, rows in groupby(self.rows(file, known), key=lambda row: row.place.sheet):
            yield Sheet(file.block, SourceLocation(name, sheet), list(rows))
