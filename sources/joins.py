"""The columns of second files, for the rows with the same key."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.sources.fields import FieldWords, field_text, is_skipped
from polyculture.sources.headers import KnownColumns
from polyculture.sources.left_out import LEFT_OUT, MISSING, SKIPPED, LeftOut, SourceLocation, UnreadableFileError
from polyculture.sources.record import BadRow
from polyculture.sources.rows import bad_row, placed_records
from polyculture.sources.rules import KEY, FileRules, Join, columns_of
from polyculture.sources.values import RowError, SourceRow


class JoinedColumns:
    """The columns of second files, by the key of their rows."""

    def __init__(self, folder: Path, join: Join, left_out: list[LeftOut]) -> None:
        self._folder, self._join, self._left_out = folder, join, left_out
        self._read: dict[str, dict[str, dict[str, str]]] = {}

    @property
    def files(self) -> Collection[str]:
        """The second files that were read so far, or that are named without a field of the row."""
        return {*self._read, *self._join.files}

    def columns(self, row: SourceRow, name: str) -> Mapping[str, str]:
        """What the second file says of a row.

        Raises `UnreadableFileError` where it must be there and is not, `DataSetError` of rules that do not fit it.
        """
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
        if twice := next((one for one in self._join.take if one in row.record.values or one in row.more), None):
            remedy = f'Name it otherwise: take = {{ other_{twice} = "{self._join.take[twice]}" }}.'
            has = "this file has a column" if twice in row.record.values else "its path, a split or a join before says"
            raise DataSetError(
                f"{has} {twice!r}, and the join takes another from {path}", where=row.place, remedy=remedy
            )
        found = self._read[path].get(key.casefold())  # BBQ's table writes its categories otherwise than its rows
        if found is None and self._read[path]:
            self._left_out.append(LeftOut(row.place, f"{MISSING}no row of {path} is about it", key))
        return found or dict.fromkeys(self._join.take, "")

    def _rows(self, path: str) -> dict[str, dict[str, str]]:
        file, wanted = self._folder / path, ", ".join(self._join.take.values())
        if not file.is_file():
            if not self._join.optional:
                what = f"there is no {path}, which has {wanted}"
                raise UnreadableFileError(what, where=self._folder, remedy="Get it from the publisher.")
            self._left_out.append(LeftOut(SourceLocation(path), f"{MISSING}it would tell {wanted}"))
            return {}
        found: dict[str, dict[str, str]] = {}
        known = KnownColumns.of(columns_of((str(self._join.on), *self._join.take.values())))
        for place, record in placed_records(self._folder, file, known, self._join.rows):
            if isinstance(record, BadRow):
                self._left_out.append(bad_row(place, record))
                continue
            row = SourceRow(place, record, {})
            try:
                taken = {name: row.text(column) for name, column in self._join.take.items()}
                first = found.setdefault(row.text(self._join.on).casefold(), taken)
            except RowError as fault:
                remedy = (
                    "`on` and `take` of a join are columns of the second file: name those that it has. A column that "
                    "some of its rows lack ends with a bar, as 'Area|'."
                )
                raise DataSetError(str(fault), where=row.place, remedy=remedy) from fault
            if first != taken:
                self._left_out.append(LeftOut(row.place, f"{LEFT_OUT}the row contradicts an earlier one of its key"))
        return found


class Joins:
    """What blocks of rules say of rows that were read: the columns of second files, and which rows are skipped.

    What is missing or left out of second files is added to `left_out`.
    """

    def __init__(self, folder: Path, blocks: Iterable[FileRules], left_out: list[LeftOut]) -> None:
        self._joined = {id(join): JoinedColumns(folder, join, left_out) for block in blocks for join in block.join}

    def has(self, path: str) -> bool:
        """Is it one of the second files whose columns were joined?"""
        return any(path in joined.files for joined in self._joined.values())

    def joined(self, row: SourceRow, block: FileRules, words: FieldWords) -> SourceRow | LeftOut:
        """The row with joined columns, or why it is skipped. Raises `RowError` of a missing column."""
        name = field_text(row, block, KEY, words) if KEY in type(block).model_fields else ""
        for join in block.join:
            row = replace(row, more={**row.more, **self._joined[id(join)].columns(row, name)})
        for skip in block.skip:
            if is_skipped(row, skip):
                return LeftOut(row.place, f"{SKIPPED}{skip.reason}", name or None)
        return row
