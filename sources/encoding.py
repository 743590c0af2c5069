"""The encoding of a text file: UTF-8, UTF-16 or UTF-32, decided on the whole file; any other is refused whole.

Nearly all bytes are some letter of each encoding of one byte a letter. Which of them a file is in nobody can be sure
of, and rows with other letters than were meant would enter without an error. Who wrote the file knows it.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from pathlib import Path

from polyculture.cache.errors import UserError
from polyculture.sources.compressed import plain

UTF_8, WINDOWS = "utf-8", "cp1252"
NAMES = {f"utf-{bits}{order}": f"UTF-{bits}" for bits in (16, 32) for order in ("", "-le", "-be")}
NAMES |= {WINDOWS: "Windows-1252", "mac-roman": "Mac Roman", "cp1251": "Windows-1251"}
_CHUNK = 2**20
_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}  # before UTF-16's: one begins with the other
_MARKS |= {codecs.BOM_UTF8: UTF_8, codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_MISREAD_AS = (WINDOWS, "mac-roman", "cp1251")  # what UTF-8 is taken for by tools that do not ask
_USUAL = re.compile("[\xa0-\u017f\u2010-\u203a\u20ac]")  # letters and marks that may be the only ones of a text


def misread(text: str) -> tuple[str, str] | None:
    """The encoding for which a text's UTF-8 was taken ("JosÃ©"), and what it says ("José"); None where nothing shows.

    It shows where the text is UTF-8 once it is bytes again, which no language writes: a lead byte is a capital or an
    accented letter there, and the next one a mark. One rare letter alone may be chance ("CAFÉ»").
    """
    for encoding in () if text.isascii() else _MISREAD_AS:
        with suppress(UnicodeError):
            said = text.encode(encoding, "as_byte").decode()
            beyond = [character for character in said if character > "\x7f"]
            if len(beyond) > 1 or any(map(_USUAL.match, beyond)):
                return encoding, said
    return None


def _as_byte(fault: UnicodeError) -> tuple[bytes, int]:
    """What the bytes that Windows-1252 leaves open became: control characters."""
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    return fault.object[fault.start : fault.end].encode("latin-1"), fault.end


codecs.register_error("as_byte", _as_byte)


def encoding_of(path: Path) -> str:
    """The encoding of a file. Broken UTF-8 is UTF-8: its rows are refused one by one.

    Raises `UserError` where it is none of these.
    """
    path, decoder, row = plain(path), codecs.getincrementaldecoder("utf-8")(), 1
    with path.open("rb") as file:
        first = file.read(_CHUNK)
        marked = next((name for mark, name in _MARKS.items() if first.startswith(mark)), None)
        if marked is not None:
            return marked
        if first.count(0) > len(first) // 10:
            bytes_each = 4 if first.count(0) > len(first) // 2 else 2
            little = first[bytes_each - 1 : 400 : bytes_each].count(0) >= first[0:400:bytes_each].count(0)
            return f"utf-{8 * bytes_each}-{'le' if little else 'be'}"
        chunk = first
        while chunk:
            try:
                decoder.decode(chunk, final=False)
            except UnicodeDecodeError as fault:
                row += fault.object.count(b"\n", 0, fault.start)
                return _of_bytes(path, row)
            row += chunk.count(b"\n")
            chunk = file.read(_CHUNK)
    return UTF_8


def _of_bytes(path: Path, row: int) -> str:
    """UTF-8 where most of what is beyond ASCII is. Raises `UserError` where most is not, from a row on."""
    good = broken = 0
    with path.open("rb") as file:
        for line in file:
            beyond = [character for character in line.decode("utf-8", "replace") if character > "\x7f"]
            broken += beyond.count("\ufffd")
            good += len(beyond) - beyond.count("\ufffd")
    if good > broken:
        return UTF_8
    remedy = (
        f"Save it as UTF-8 (a spreadsheet: as CSV UTF-8), or: iconv -f ENCODING -t UTF-8 {path.name}, with "
        "the encoding that it was written in (on Windows in Western Europe: cp1252)."
    )
    raise UserError(f"is in an unknown encoding: row {row} is not UTF-8", where=path, remedy=remedy)
