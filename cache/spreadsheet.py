"""Reads spreadsheets: sheets that people filled in, CSV as any program writes it, and workbooks within bounds.

What a workbook unpacks to, and how far its cells lie apart, is known before it is read: a reader of spreadsheets lays a
sheet out from its first to its last cell. One cell in XFD1048576, a file of 1.5 KB, asks for 17 thousand million of
them, and takes the process down.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from polyculture.cache.errors import DataSetError, StoreError
from polyculture.cache.workbook import read_sheets

if TYPE_CHECKING:
    from polyculture.cache.workbook import WorkSheet

LONGEST_CELL = 131_072  # letters: more is no cell that a spreadsheet holds
_DELIMITERS = ",;\t"
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")
LARGEST = 512 * 2**20  # bytes of a workbook, unpacked
MOST_CELLS = 20_000_000  # of a sheet, the empty ones between its cells counted
_CHUNK = 2**20
# The words of a cell whose formula failed, in any language: #NAME?, #¿NOMBRE?, #ZAHL!, #DIV/0!, #N/A, #NV.
_ERROR = re.compile(r"#(?:¿?[^\s#]{2,24}[!?]|N/?[A-Z]{1,2})")
_ERROR_CELL = re.compile(rb"""(<(?:\w+:)?c\b[^<>]*\st=)(["'])e\2""")
NO_VALUE = "#FORMULA?"  # in place of a formula that nobody has computed: `is_error` knows it
_UNCOMPUTED = re.compile(
    rb"<((?:\w+:)?)c\b([^<>]*)>\s*<\1f\b[^<>]*(?:/>|>[^<]*</\1f>)\s*(?:(<\1v\b[^<>]*(?:/>|>\s*</\1v>))\s*)?</\1c>"
)
_TYPE = re.compile(rb"""\st=(["'])(\w*)\1""")
_UP_TO_LAST_CELL = re.compile(rb".*(?=<(?:\w+:)?c[\s>])", re.DOTALL)
_PLACE = re.compile(r"([A-Za-z]{1,9})([0-9]{1,18})")  # also one beyond all sheets, which a reader would believe


def read_sheet_rows(path: Path, columns: Sequence[str], remedy: str) -> list[dict[str, str]]:
    """The rows of a CSV file that must have these columns. The first is a row's id; rows without one are left out.

    Raises `StoreError`, naming the file, where it cannot be read, is in another encoding, lacks a column or has one
    twice, and naming the row, where that is no CSV. `remedy` says what to give instead.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as fault:
        raise StoreError("is not UTF-8", where=path, remedy="Save it from the spreadsheet as: CSV UTF-8.") from fault
    except OSError as fault:
        raise StoreError(f"cannot be read: {fault.strerror}", where=path, remedy="Check the path.") from fault
    header = text.partition("\n")[0]
    csv.field_size_limit(LONGEST_CELL)  # of the whole process: readers of longer texts set another
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=header.count), restval="")
    rows = list(_rows(reader, path))
    names = reader.fieldnames or ()
    missing = [name for name in columns if name not in names]
    if missing:
        raise StoreError(f"has no column {missing[0]!r}", where=path, remedy=remedy)
    twice = [name for name, times in Counter(name.strip().casefold() for name in names).items() if name and times > 1]
    if twice:
        raise StoreError(f"has the column {twice[0]!r} twice", where=path, remedy="Remove one of the two.")
    return [{name: _plain(value) for name, value in row.items() if name} for row in rows if row[columns[0]]]


def require_csv(path: Path) -> None:
    """Raises `StoreError` where a sheet that is to be written has another ending: a spreadsheet would not open it."""
    if path.suffix.casefold() != ".csv":
        what = f"a sheet is CSV, and its name ends in {path.suffix!r}" if path.suffix else "a sheet's name ends in .csv"
        raise StoreError(what, where=path, remedy=f"Name it {path.with_suffix('.csv').name}.")


def _rows(reader: csv.DictReader[str], path: Path) -> Iterator[dict[str, str]]:
    """The rows below the header, which is row 1."""
    number = 1
    try:
        for number, row in enumerate(reader, start=2):  # noqa: B007 (the number of the last row that was read)
            yield row
    except csv.Error as fault:
        broken = number + 1 if reader.line_num > 1 else 1
        what = f"cannot be read as CSV: {fault}"
        raise StoreError(what, where=f"{path}, row {broken}", remedy="Mend the row in the spreadsheet.") from fault


def _plain(value: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from taking it for a formula."""
    return value[1:] if value.startswith("'") and value[1:].startswith(_FORMULA) else value


def is_error(value: str) -> bool:
    """Whether a cell says that its formula failed: a text that begins with "=" or "-" is a formula to a spreadsheet."""
    return value == value.upper() and _ERROR.fullmatch(value.strip()) is not None


def open_workbook(path: Path) -> list[WorkSheet]:
    """The sheets of a workbook, .xlsx held against the bounds and with the words of its errors (`is_error`), `NO_VALUE`
    among them.

    Raises `DataSetError` where it cannot be read or is too large.
    """
    try:
        content = _bounded(path) if zipfile.is_zipfile(path) else path.read_bytes()
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as fault:
        raise DataSetError(
            f"cannot be read as a workbook: {fault}", where=path, remedy="Save or fetch it again."
        ) from fault
    return read_sheets(path, content)


def _bounded(path: Path) -> bytes:
    """The workbook as an archive that is not compressed: no member of it is longer than was counted here.

    Its errors, and formulas without a value, are texts: the reader would give empty cells.
    """
    plain, unpacked = io.BytesIO(), 0
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(plain, "w", zipfile.ZIP_STORED) as stored:
        for info in archive.infolist():
            sheet = _Extent() if "worksheets/" in info.filename else None
            rest = b""  # the beginning of a cell
            with archive.open(info) as member, stored.open(info.filename, "w") as copy:
                while chunk := member.read(_CHUNK):
                    unpacked += len(chunk)
                    if unpacked > LARGEST:
                        what = f"is a workbook of more than {LARGEST // 2**20} MiB unpacked"
                        raise DataSetError(what, where=path, remedy="Save its sheets as CSV UTF-8.")
                    if sheet is None:
                        copy.write(chunk)
                        continue
                    sheet.feed(chunk)
                    whole, rest = _before_last_cell(rest + chunk)
                    copy.write(_with_words(whole))
                copy.write(_with_words(rest))
            if sheet is not None and sheet.cells > MOST_CELLS:
                what = f"has a sheet that reaches to row {sheet.bottom} and column {sheet.right}, {sheet.cells} cells"
                remedy = f"At most {MOST_CELLS} are read: remove the cell that lies far out, or save it as CSV UTF-8."
                raise DataSetError(what, where=path, remedy=remedy)
    return plain.getvalue()


def _before_last_cell(xml: bytes) -> tuple[bytes, bytes]:
    """What is whole of a sheet, and the beginning of a cell; of a tag where no cell can be so long."""
    found = _UP_TO_LAST_CELL.match(xml)
    cut = found.end() if found else 0
    if not cut and len(xml) > 2 * _CHUNK:  # within a cell of megabytes: what is kept is looked through again each time
        tag = xml.rfind(b"<")
        cut = tag if tag > 0 and xml.find(b">", tag) < 0 else len(xml)
    return xml[:cut], xml[cut:]


def _with_words(xml: bytes) -> bytes:
    """The cells of a sheet, with a text in each whose formula failed or has no value."""
    return _UNCOMPUTED.sub(_uncomputed, _ERROR_CELL.sub(rb"\1\2str\2", xml))


def _uncomputed(cell: re.Match[bytes]) -> bytes:
    prefix, attributes, value = cell.groups()
    told = _TYPE.search(attributes)
    if value is not None and told is not None and told[2] == b"str":
        return cell[0]  # computed: its value is an empty text
    attributes = _TYPE.sub(b"", attributes) + b' t="str"'
    return b"<%bc%b><%bv>%b</%bv></%bc>" % (prefix, attributes, prefix, NO_VALUE.encode(), prefix, prefix)


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
