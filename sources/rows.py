"""The files that blocks of rules read, and the rows of each, with the parts of their columns."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from polyculture.cache.errors import UserError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.sources.files import read_columns, table_suffix
from polyculture.sources.headers import KnownColumns
from polyculture.sources.left_out import LEFT_OUT, NOT_READ, LeftOut, SourceLocation, UnreadableFileError
from polyculture.sources.places import path_expression, path_glob
from polyculture.sources.record import BadRow, Expand, Record, find
from polyculture.sources.rules import FileRules
from polyculture.sources.values import RowError, SourceRow, kept_whole, split_texts

_STEP = re.compile(r"\.(?![^\[]*\])")  # between the steps of a path, but for points within brackets
MOST_ROWS = 1_000_000
NO_NAMES = KnownColumns.of(())  # of columns: the first row with text is the header
B = TypeVar("B", bound=FileRules)


class RuledFile(NamedTuple, Generic[B]):
    """A file that a block reads, and what its path says."""

    path: Path
    block: B
    said: Mapping[str, str]


def ruled_files(folder: Path, blocks: Iterable[B]) -> list[RuledFile[B]]:
    """The files of the blocks in the order of their paths, and of one file in that of the blocks."""
    root = folder.resolve()
    found: list[RuledFile[B]] = []
    for block in blocks:
        said: dict[Path, Mapping[str, str]] = {}
        for pattern in block.files:
            for file in folder.glob(path_glob(pattern)):
                path = file.relative_to(folder).as_posix()
                match = path_expression(pattern).fullmatch(path)
                if match is None or not file.is_file() or not file.resolve().is_relative_to(root):
                    continue
                if pattern.endswith("*") and not table_suffix(file):
                    continue
                if not any(path_expression(one).fullmatch(path) for one in block.without):
                    said.setdefault(file, match.groupdict())
        found += [RuledFile(file, block, of_path) for file, of_path in said.items()]
    return sorted(found, key=lambda file: file.path)


def tables_in(folder: Path, blocks: Iterable[FileRules]) -> list[Path]:
    """The tables of a folder that blocks read or might read: those that lie as deep as their patterns reach."""
    patterns = [
        file for block in blocks for files in (block.files, *(one.files for one in block.join)) for file in files
    ]
    levels = range(1 + max((pattern.count("/") for pattern in patterns), default=0))
    return sorted(path for level in levels for path in folder.glob("/".join("*" * (level + 1))) if table_suffix(path))


def read_rows(folder: Path, file: RuledFile[B], known: KnownColumns = NO_NAMES) -> Iterator[SourceRow | LeftOut]:
    """The rows of a file; in place of one that cannot be read or split, why.

    `known` is what its columns are called. Raises `UnreadableFileError` where the file cannot be read as a whole.
    """
    block, records = file.block, list[tuple[SourceLocation, Record]]()
    known = replace(known, header=block.header)
    for place, record in placed_records(folder, file.path, known, block.rows, block.expanding, quoted=block.quotes):
        if isinstance(record, BadRow):
            if record.lost and block.turns:
                raise UnreadableFileError(
                    record.reason, where=place, remedy="Rows take turns: mend it, or all later ones shift."
                )
            yield bad_row(place, record)
        elif not all(map(_is_blank, record.values.values())):
            records.append((place, record))
        if len(records) > MOST_ROWS:
            raise UnreadableFileError(f"has more than {MOST_ROWS:,} rows", where=file.path, remedy="Split it.")
    of_file = {"file": file.path.stem, **file.said}
    rows = [SourceRow(place, record, {**of_file, "row": record.row, **_turn(number, block)}, file.said)
            for number, (place, record) in enumerate(records)]  # fmt: skip
    for column, pattern in block.split.items():
        rows = yield from _split(rows, column, pattern)
    yield from rows


def placed_records(
    folder: Path,
    file: Path,
    known: KnownColumns = NO_NAMES,
    rows: str | None = None,
    expand: Expand | None = None,
    *,
    quoted: bool = True,
) -> Iterator[tuple[SourceLocation, Record | BadRow]]:
    """The records of a file, or those at the path `rows` inside it, each with its place in the folder.

    `expand` makes rows of the file's records, where code has to. Raises `UnreadableFileError` where the file cannot be
    read as a whole.
    """
    name = file.relative_to(folder).as_posix()
    try:
        records = read_columns(file, known, quoted=quoted)
        if rows is not None:
            records = _inside(records, rows)
        if expand is not None:
            records = expand(records, file)
        yield from ((_row_place(name, record.row), record) for record in records)
    except UserError as fault:
        raise UnreadableFileError(fault.what, where=fault.where or file, remedy=fault.remedy) from fault
    except OSError as fault:
        raise UnreadableFileError(f"cannot be read: {fault.strerror}", where=file) from fault


def bad_row(place: SourceLocation, row: BadRow) -> LeftOut:
    """A row that cannot be read, as a line."""
    return LeftOut(place, f"{LEFT_OUT if row.lost else NOT_READ}{row.reason}", row.value)


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not kept_whole(value))


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
            yield LeftOut(row.place, f"{LEFT_OUT}{fault}")
    for row, text, parts in zip(whole, texts, split_texts(texts, pattern), strict=True):
        if parts is None:
            yield LeftOut(row.place, f"{LEFT_OUT}{column} {text!r} is not of the form {pattern}", text)
        else:
            kept.append(replace(row, more={**row.more, **parts}))
    return kept


def _inside(records: Iterable[Record | BadRow], path: str) -> Iterator[Record | BadRow]:
    """The rows that a file holds as the values of an object, or as a list at a path.

    `key1` of a row is what its path has in place of the first star; a text alone is its `value`. What the tables around
    the list say is said of each row in it, unless the row has a column of this name: the paragraph of a question. A
    file in which the path leads to none gets one that says what the file has.
    """
    path, any_rows, keys = path.replace("[]", "[*]"), False, dict[str, None]()
    for record in records:
        if isinstance(record, BadRow):
            yield record
            any_rows = True  # it says itself what is wrong
            continue
        keys |= dict.fromkeys(record.values)
        if path == "object":
            inner: Iterable[tuple[str, Mapping[str, str], Mapping[str, Any], Any]] = (
                (key, {}, {}, one) for key, one in record.values.items()
            )
        else:
            inner = (
                (
                    "/".join(map(str, (*at, number) if isinstance(many, list) else at or (number,))),
                    _keys(at),
                    around,
                    one,
                )
                for at, around, many in _with_what_is_around(record.values, path)
                for number, one in enumerate(many if isinstance(many, list) else [many], 1)
            )
        for key, stars, around, values in inner:
            any_rows = True
            if isinstance(values, dict):
                yield Record(key, _with_lacking({"key": key, **stars, **values}, around))
            elif isinstance(values, str) and path != "object":
                yield Record(key, _with_lacking({"key": key, **stars, "value": values}, around))
            else:
                yield BadRow(key, "is no object")
    if not any_rows and keys:
        said = did_you_mean(
            path.partition(".")[0], keys, otherwise="Write rows as a path to a list, such as key or key[].rows."
        )
        yield BadRow("1", f"rows = {path!r} leads to no row: the file has {', '.join(keys)}. {said}")


_AROUND = tuple[tuple[Any, ...], Mapping[str, Any], Any]


def _with_what_is_around(values: Any, path: str) -> list[_AROUND]:
    """What is at a path, with what stands for its stars and what the tables say that lead there; the nearest counts.

    Lists and tables in these say nothing of the rows. A path through a name with a point in it has no such tables.
    """
    return [*_walk(values, _STEP.split(path), (), {})] or [(at, {}, many) for at, many in find(values, path)]


def _walk(values: Any, steps: Sequence[str], at: tuple[Any, ...], around: Mapping[str, Any]) -> Iterator[_AROUND]:
    if not steps:
        yield at, around, values
        return
    if isinstance(values, dict):
        around = {**around, **{name: one for name, one in values.items() if not isinstance(one, list | dict)}}
    for more, value in find(values, steps[0]):
        yield from _walk(value, steps[1:], (*at, *more), around)


def _with_lacking(values: dict[str, Any], around: Mapping[str, Any]) -> dict[str, Any]:
    return values | {name: one for name, one in around.items() if name not in values}


def _keys(at: Sequence[Any]) -> dict[str, str]:
    return {f"key{number}": str(one) for number, one in enumerate(at, 1)}


def _row_place(name: str, row: str) -> SourceLocation:
    """Where a record stands: `row` is as `imports` has it, '7', 'Sheet1!7', or the key of an object."""
    sheet, _, number = row.rpartition("!")
    return SourceLocation(name, sheet or None, int(number)) if number.isdecimal() else SourceLocation(f"{name} {row}")
