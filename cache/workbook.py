"""Opens spreadsheets within bounds: what a workbook unpacks to, and how far its cells lie apart, is known beforehand.

A reader of spreadsheets lays a sheet out from its first to its last cell. One cell in XFD1048576, a file of 1.5 KB,
asks for 17 thousand million of them, and takes the process down.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from polyculture.cache.errors import DataSetError
from polyculture.cache.extras import SHEETS

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

LARGEST = 512 * 2**20  # bytes of a workbook, unpacked
MOST_CELLS = 20_000_000  # of a sheet, the empty ones between its cells counted
_CHUNK = 2**20
_PLACE = re.compile(r"([A-Za-z]{1,9})([0-9]{1,18})")  # also one beyond all sheets, which a reader would believe


def open_workbook(path: Path) -> CalamineWorkbook:
    """A workbook, .xlsx held against the bounds. Raises `DataSetError` where it cannot be read or is too large."""
    SHEETS.check(path.name)
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        return (
            CalamineWorkbook.from_filelike(_bounded(path))
            if zipfile.is_zipfile(path)
            else CalamineWorkbook.from_path(path)
        )
    except (CalamineError, OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as fault:
        raise DataSetError(
            f"cannot be read as a workbook: {fault}", where=path, remedy="Save or fetch it again."
        ) from fault


def _bounded(path: Path) -> io.BytesIO:
    """The workbook as an archive that is not compressed: no member of it is longer than was counted here."""
    plain, unpacked = io.BytesIO(), 0
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(plain, "w", zipfile.ZIP_STORED) as stored:
        for info in archive.infolist():
            sheet = _Extent() if "worksheets/" in info.filename else None
            with archive.open(info) as member, stored.open(info.filename, "w") as copy:
                while chunk := member.read(_CHUNK):
                    unpacked += len(chunk)
                    if unpacked > LARGEST:
                        what = f"is a workbook of more than {LARGEST // 2**20} MiB unpacked"
                        raise DataSetError(what, where=path, remedy="Save its sheets as CSV UTF-8.")
                    copy.write(chunk)
                    if sheet is not None:
                        sheet.feed(chunk)
            if sheet is not None and sheet.cells > MOST_CELLS:
                what = f"has a sheet that reaches to row {sheet.bottom} and column {sheet.right}, {sheet.cells} cells"
                remedy = f"At most {MOST_CELLS} are read: remove the cell that lies far out, or save it as CSV UTF-8."
                raise DataSetError(what, where=path, remedy=remedy)
    plain.seek(0)
    return plain


class _Extent:
    """How far the cells of a sheet reach, as its XML is fed in pieces."""

    def __init__(self) -> None:
        self.bottom = self.right = self._row = self._column = 0
        self._parser: expat.XMLParserType | None = expat.ParserCreate()
        self._parser.StartElementHandler = self._start

    @property
    def cells(self) -> int:
        return self.bottom * self.right

    def feed(self, piece: bytes) -> None:
        if self._parser is None:
            return
        try:
            self._parser.Parse(piece)
        except expat.ExpatError:  # the workbook's own reader says what is wrong
            self._parser = None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if local == "row":
            self._row = int(attributes["r"]) if attributes.get("r", "").isdecimal() else self._row + 1
            self._column = 0
        elif local == "c":
            place = _PLACE.fullmatch(attributes.get("r", ""))
            self._column = _number(place[1].upper()) if place else self._column + 1
            self.bottom = max(self.bottom, int(place[2]) if place else self._row)
            self.right = max(self.right, self._column)


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number
