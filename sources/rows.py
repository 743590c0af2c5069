"""The files that a block of rules reads, and their rows: which count, their parts, and columns of second files."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from polyculture.cache.errors import DataSetError, UserError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.sources.fields import is_skipped
from polyculture.sources.files import read_columns
from polyculture.sources.headers import KnownColumns
from polyculture.sources.left_out import LeftOut, SourceLocation
from polyculture.sources.places import path_expression, path_glob
from polyculture.sources.record import BadRow, Record, find
from polyculture.sources.rules import FileRules, Join, columns_of
from polyculture.sources.values import RowError, SourceRow, split_texts

SKIPPED = "skipped: "
MOST_ROWS = 1_000_000
NO_NAMES = KnownColumns.of(())  # of columns: the first row with text is the header
# The records of a file, and the file -> the rows that are read as if they stood in it; a `BadRow` says why one is not.
Expand: TypeAlias = "Callable[[Iterable[Record | BadRow], Path], Iterator[Record | BadRow]]"
B = TypeVar("B", bound=FileRules)


@lru_cache(maxsize=256)
def _path_pattern(pattern: str) -> tuple[re.Pattern[str], str]:
    return re.compile(path_expression(pattern)), path_glob(pattern)


def root_of(folder: Path, patterns: Iterable[str]) -> Path:
    """The folder that patterns begin in: `folder`, or the one above it where that is called as a pattern begins.

    People name `KoBBQ/data` as well as `KoBBQ`.
    """
    inside = folder.name in {pattern.partition("/")[0] for pattern in patterns if "/" in pattern}
    return folder.parent if inside and not (folder / folder.name).is_dir() else folder


def files_of(folder: Path, blocks: Iterable[B]) -> list[tuple[Path, B, Mapping[str, str]]]:
    """The files of each block in the order of their paths, with what their paths say."""
    root = folder.resolve()
    found: list[tuple[Path, B, Mapping[str, str]]] = []
    for block in blocks:
        told: dict[Path, Mapping[str, str]] = {}
        for pattern in block.files:
            expression, globbed = _path_pattern(pattern)
            for file in folder.glob(globbed):
                path = file.relative_to(folder).as_posix()
                match = expression.fullmatch(path)
                if match is None or not file.is_file() or not file.resolve().is_relative_to(root):
                    continue
                if not any(_path_pattern(one)[0].fullmatch(path) for one in block.without):
                    told.setdefault(file, match.groupdict())
        found += [(file, block, told[file]) for file in sorted(told)]
    return found


def read_rows(
    folder: Path,
    file: Path,
    block: FileRules,
    told: Mapping[str, str],
    known: KnownColumns = NO_NAMES,
    expand: Expand | None = None,
) -> Iterator[SourceRow | LeftOut]:
    """The rows of a file; in place of one that cannot be read or split, why.

    `told` is what the file's path says, `known` what its columns are called. `expand` makes rows of the file's records,
    where code has to. Raises `DataSetError` where the file cannot be read as a whole.
    """
    name = file.relative_to(folder).as_posix()
    records: list[tuple[SourceLocation, Record]] = []
    for record in _records(file, block.rows, replace(known, header=block.header), expand, quoted=block.quotes):
        place = row_place(name, record.row)
        if isinstance(record, BadRow):
            if record.lost and block.turns:
                raise DataSetError(
                    record.reason, where=place, remedy="Rows take turns: mend it, or all later ones shift."
                )
            what = "left out" if record.lost else "not read"
            yield LeftOut(place, f"{what}: {record.reason}", record.value)
        elif any(value not in (None, "") for value in record.values.values()):
            records.append((place, record))
        if len(records) > MOST_ROWS:
            raise DataSetError(f"has more than {MOST_ROWS:,} rows", where=file, remedy="Split it.")
    path = {"file": file.stem, **told}
    rows = [SourceRow(place, record, {**path, "row": record.row, **_turn(number, block)}, told)
            for number, (place, record) in enumerate(records)]  # fmt: skip
    for column, pattern in block.split.items():
        rows = yield from _split(rows, column, pattern)
    yield from rows


def _turn(number: int, block: FileRules) -> dict[str, str]:
    if not block.turns:
        return {}
    round_, turn = divmod(number, len(block.turns))
    return {"turn": block.turns[turn], "round": str(round_ + 1)}


def _split(rows: list[SourceRow], column: str, pattern: str) -> Generator[LeftOut, None, list[SourceRow]]:
    """The rows with the parts of a column; what does not fit is a remark."""
    kept: list[SourceRow] = []
    texts: list[str] = []
    whole: list[SourceRow] = []
    for row in rows:
        try:
            texts.append(row.text(column))
            whole.append(row)
        except RowError as fault:
            yield LeftOut(row.place, f"left out: {fault}")
    for row, text, parts in zip(whole, texts, split_texts(texts, pattern), strict=True):
        if parts is None:
            yield LeftOut(row.place, f"left out: {column} {text!r} is not of the form {pattern}", text)
        else:
            kept.append(replace(row, more={**row.more, **parts}))
    return kept


def _records(
    file: Path, rows: str | None, known: KnownColumns, expand: Expand | None = None, *, quoted: bool = True
) -> Iterator[Record | BadRow]:
    """The records of a file, or those inside it. Raises `DataSetError` where it cannot be read as a whole."""
    try:
        records = read_columns(file, known, quoted=quoted)
        if rows is not None:
            records = _inside(records, rows)
        if expand is not None:
            records = expand(records, file)
        yield from records
    except UserError as fault:
        raise DataSetError(fault.what, where=fault.where or file, remedy=fault.remedy) from fault
    except OSError as fault:
        raise DataSetError(f"cannot be read: {fault.strerror}", where=file) from fault


def _inside(records: Iterable[Record | BadRow], path: str) -> Iterator[Record | BadRow]:
    """The rows that a file holds as the values of an object, or as a list at a path.

    `key1` of a row is what its path has in place of the first star; a text alone is its `value`. A file in which the
    path leads to none gets one that says what the file has.
    """
    any_rows, keys = False, dict[str, None]()
    for record in records:
        if isinstance(record, BadRow):
            yield record
            any_rows = True  # it says itself what is wrong
            continue
        keys |= dict.fromkeys(record.values)
        if path == "object":
            inner: Iterable[tuple[str, dict[str, str], Any]] = ((key, {}, one) for key, one in record.values.items())
        else:
            inner = (
                ("/".join(map(str, (*at, number) if isinstance(many, list) else at or (number,))), _keys(at), one)
                for at, many in find(record.values, path)
                for number, one in enumerate(many if isinstance(many, list) else [many], 1)
            )
        for key, stars, values in inner:
            any_rows = True
            if isinstance(values, dict):
                yield Record(key, {"key": key, **stars, **values})
            elif isinstance(values, str) and path != "object":
                yield Record(key, {"key": key, **stars, "value": values})
            else:
                yield BadRow(key, "is no object")
    if not any_rows and keys:
        said = did_you_mean(
            path.partition(".")[0], keys, otherwise="Write rows as a path to a list, such as key or key[].rows."
        )
        yield BadRow("1", f"rows = {path!r} leads to no row: the file has {', '.join(keys)}. {said}")


def _keys(at: Sequence[Any]) -> dict[str, str]:
    return {f"key{number}": str(one) for number, one in enumerate(at, 1)}


def row_place(name: str, row: str) -> SourceLocation:
    """Where a record stands: `row` is as `imports` has it, '7', 'Sheet1!7', or the key of an object."""
    sheet, _, number = row.rpartition("!")
    return SourceLocation(name, sheet or None, int(number)) if number.isdecimal() else SourceLocation(f"{name} {row}")


class JoinedColumns:
    """The columns of second files, by the key of their rows."""

    def __init__(self, folder: Path, join: Join) -> None:
        self._folder, self._join = folder, join
        self._read: dict[str, dict[str, dict[str, str]]] = {}
        self.remarks: list[LeftOut] = []

    @property
    def files(self) -> Collection[str]:
        """The second files that were read so far, or that are named without a field of the row."""
        return {*self._read, *self._join.files}

    def columns(self, row: SourceRow, name: str) -> Mapping[str, str]:
        """What the second file says of a row. Raises `DataSetError` where it must be there and is not."""
        paths = self._join.files
        for field, value in row.more.items():
            paths = tuple(path.replace(f"{{{field}}}", value) for path in paths)
        path = next((path for path in paths if (self._folder / path).is_file()), paths[0])
        if path not in self._read:
            self._read[path] = self._rows(path)
        try:
            key = name if self._join.key is None else row.text(self._join.key)
        except RowError as fault:
            raise RowError(f"{fault}. `key` of the join with {path} is a column of this file") from fault
        found = self._read[path].get(key.casefold())  # BBQ's table writes its categories otherwise than its rows
        if found is None and self._read[path]:
            self.remarks.append(LeftOut(row.place, f"missing: no row of {path} is about it", key))
        return found or dict.fromkeys(self._join.take, "")

    def _rows(self, path: str) -> dict[str, dict[str, str]]:
        file, wanted = self._folder / path, ", ".join(self._join.take)
        if not file.is_file():
            if not self._join.optional:
                what = f"there is no {path}, which has {wanted}"
                raise DataSetError(what, where=self._folder, remedy="Get it from the publisher.")
            self.remarks.append(LeftOut(SourceLocation(path), f"missing: it would tell {wanted}"))
            return {}
        found: dict[str, dict[str, str]] = {}
        known = KnownColumns.of(columns_of((str(self._join.on), *self._join.take)))
        for record in _records(file, self._join.rows, known):
            if isinstance(record, BadRow):
                what = "left out" if record.lost else "not read"
                self.remarks.append(LeftOut(row_place(path, record.row), f"{what}: {record.reason}"))
                continue
            row = SourceRow(row_place(path, record.row), record, {})
            try:
                taken = {column: row.text(column) for column in self._join.take}
                first = found.setdefault(row.text(self._join.on).casefold(), taken)
            except RowError as fault:
                remedy = "`on` and `take` of a join are columns of the second file: name those that it has."
                raise DataSetError(str(fault), where=row.place, remedy=remedy) from fault
            if first != taken:
                self.remarks.append(LeftOut(row.place, "left out: the row contradicts an earlier one of its key"))
        return found


class Joins:
    """What blocks of rules say of rows that were read: the columns of second files, and which rows are skipped."""

    def __init__(self, folder: Path, blocks: Iterable[FileRules]) -> None:
        self._joined = {id(join): JoinedColumns(folder, join) for block in blocks for join in block.join}

    @property
    def remarks(self) -> list[LeftOut]:
        """What is missing or left out of second files."""
        return [remark for joined in self._joined.values() for remark in joined.remarks]

    def has(self, path: str) -> bool:
        """Is it one of the second files whose columns were joined?"""
        return any(path in joined.files for joined in self._joined.values())

    def joined(self, row: SourceRow, block: FileRules, name: str = "") -> SourceRow | LeftOut:
        """The row with joined columns, or why it is skipped. `name` is its id.

        Raises `RowError` of a missing column.
        """
        for join in block.join:
            row = replace(row, more={**row.more, **self._joined[id(join)].columns(row, name)})
        for skip in block.skip:
            if is_skipped(row, skip):
                return LeftOut(row.place, f"{SKIPPED}{skip.reason}", name or None)
        return row
