"""The encoding of a text file: UTF-8, UTF-16, UTF-32 or Windows-1252, decided on the whole file, or refused.

Nearly all bytes are some letter of Windows-1252. Another encoding of one byte a letter (Mac Roman, DOS, the Windows
encodings of Polish, Turkish or Russian) would enter as wrong letters without an error. So it counts only where all that
is beyond ASCII are letters and marks that the languages of Western Europe write, and where the text is not more clearly
in a language of another Windows encoding once it is read by that one: Polish "¿urek" has no letter that Spanish lacks.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from contextlib import suppress
from itertools import islice
from pathlib import Path

from polyculture.cache.errors import UserError
from polyculture.generate.detection import likeliest

UTF_8, WINDOWS = "utf-8", "cp1252"
NAMES = {f"utf-{bits}{order}": f"UTF-{bits}" for bits in (16, 32) for order in ("", "-le", "-be")}
NAMES |= {WINDOWS: "Windows-1252", "mac-roman": "Mac Roman", "cp1251": "Windows-1251"}
_CHUNK = 2**20
_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}  # before UTF-16's: one begins with the other
_MARKS |= {codecs.BOM_UTF8: UTF_8, codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_WESTERN = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüÿŒœ€£§°·ªº©®™¿¡«»‹›„“”‚‘’…–—•½¼´\xa0\xad")
_WITHIN = re.compile("[A-Za-z][„‚“”…†‡ˆ‰›‹™•€£§°©®¿¡«»¼½][a-z]")  # marks that no word has inside
_MOST_FOREIGN = 0.3  # of letters beyond ASCII: Cyrillic or Greek in another encoding has nearly all


_PAGES = {
    "cp1250": frozenset(["cs", "sk", "pl", "hu", "hr", "sl", "sr", "bs", "sh", "ro", "sq", "hsb", "dsb"]),
    "cp1251": frozenset(["ru", "uk", "be", "bg", "sr", "mk", "tg", "ky", "kk", "tt", "ba", "cv", "os"]),
    "cp1253": frozenset({"el"}),
    "cp1254": frozenset(["tr", "az", "ku"]),
    "cp1255": frozenset({"he", "yi"}),
    "cp1256": frozenset(["ar", "fa", "ur", "ps", "ug", "sd", "ckb"]),
    "cp1257": frozenset(["lt", "lv", "et"]),
    "cp1258": frozenset({"vi"}),
    "mac-roman": frozenset(["es", "fr", "pt", "it", "de", "da", "no", "sv", "nl", "fi", "ca", "is"]),
    "koi8-u": frozenset(["ru", "uk"]),
    "cp866": frozenset(["ru", "uk", "be", "bg"]),
    "cp932": frozenset({"ja"}),
    "euc_jp": frozenset({"ja"}),
    "gb18030": frozenset({"zh"}),
    "big5": frozenset({"zh"}),
    "cp949": frozenset({"ko"}),
    "cp874": frozenset({"th"}),  # last: nearly all bytes are some letter of Thai, and all that are Thai for fastText
}  # other encodings, and the languages that are written in each rather than in Windows-1252
# Japanese has kana, Korean Hangul, and no Hangul stands around a Chinese character: Chinese in their encodings has.
_CHINESE = re.compile(r"^[^\u3041-\u30fa\uac00-\ud7a3]*$|[\uac00-\ud7a3][\u4e00-\u9fff]+[\uac00-\ud7a3]")
# No text has a capital letter behind a small one in most of its lines, frames, or signs within words.
_MISREAD = re.compile(r"[a-zà-öø-ÿа-яёіїєґ][A-ZÀ-ÖØ-ÞА-ЯЁІЇЄҐ]|[\u2500-\u259f]|\w[×÷¤¦±¶¸¹‡†‰‹›„“”•]\w")
_ICELANDIC = frozenset("ÐðÞþÝý")  # what other pages have in the places of Turkish, Polish and Baltic letters
_SAMPLE = 4_000  # letters whose language is told
_CLEARER = 0.1  # in probability: Western languages in Mac Roman have the same letters elsewhere
_COMPARED = 300  # pieces of a file whose language is compared
_PIECE = re.compile(b'[^\r\n\t";]{1,400}')

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
    decoder, row = codecs.getincrementaldecoder("utf-8")(), 1
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
                return _of_one_byte(path, row)
            row += chunk.count(b"\n")
            chunk = file.read(_CHUNK)
    return UTF_8


def _of_one_byte(path: Path, row: int) -> str:
    letters = foreign = good = broken = 0
    strange: str | None = None
    seen, sample = set[str](), ""
    with path.open("rb") as file:
        for line in file:
            if line.isascii():
                letters += len(line)
                continue
            decoded = [character for character in line.decode("utf-8", "replace") if character > "\x7f"]
            broken += decoded.count("\ufffd")
            good += len(decoded) - decoded.count("\ufffd")
            text = line.decode(WINDOWS, "replace")
            seen |= set(text.casefold())
            sample += text if len(sample) < _SAMPLE else ""
            others = sorted({character for character in text if character > "\x7f"} - _WESTERN - _ICELANDIC)
            within = _WITHIN.search(text)
            strange = strange or (others[0] if others else within[0] if within else None)
            letters += sum(map(str.isalpha, text))
            foreign += sum(character > "\x7f" and character.isalpha() for character in text)
    if good > broken:
        return UTF_8
    if "õ" in seen and "ã" not in seen and seen & set("áéíóú"):
        strange = strange or "õ"  # Hungarian in Windows-1250, where it is ő: Portuguese has ã, too, and Estonian no á
    if (seen & _ICELANDIC) and likeliest(sample)[0] not in ("is", "fo"):
        strange = strange or min(seen & _ICELANDIC)
    other = _other_page(path)
    if strange is None and other is None and foreign <= _MOST_FOREIGN * letters:
        return WINDOWS
    as_windows = f"it would have {strange!r}" if strange else "most letters would have accents"
    if strange is None and other is not None:
        as_windows = f"it is less clearly in a language than as {other[0]}, {other[1]!r}"
    what = f"is in an unknown encoding: row {row} is not UTF-8, and as Windows-1252 {as_windows}"
    name = other[0] if other else "ENCODING"
    remedy = f"Save it as UTF-8 (a spreadsheet: as CSV UTF-8), or: iconv -f {name} -t UTF-8 {path.name}, and read it"
    raise UserError(what, where=path, remedy=remedy)


def _other_page(path: Path) -> tuple[str, str] | None:
    """The encoding that most of what it reads otherwise than Windows-1252 is written in, and the language."""
    votes, pieces, best = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    with path.open("rb") as file:
        beyond = (piece for line in file for piece in _PIECE.findall(line) if not piece.isascii())
        for piece in islice(beyond, _COMPARED):
            western = piece.decode(WINDOWS, "replace")
            foreign = {character for character in western if character > "\x7f"} - _WESTERN - _ICELANDIC
            clearest, likely = 0.0 if foreign else likeliest(western)[1], dict[tuple[str, str], float]()
            for page, languages in _PAGES.items():
                text = piece.decode(page, "replace")
                if text == western:  # German umlauts are the same in most: such a line tells nothing
                    continue
                pieces[page] += 1
                language, confidence = ("", 0.0) if "\ufffd" in text or _MISREAD.search(text) else likeliest(text)
                if language in ("ja", "ko") and _CHINESE.search(text):
                    continue
                if language in languages and confidence > clearest + (_CLEARER if page == "mac-roman" else 0):
                    votes[page] += 1
                    likely[page, language] = confidence
            if likely:
                best[max(likely, key=lambda one: likely[one])] += 1
    half = any(2 * votes[page] >= pieces[page] for page in votes)
    return best.most_common(1)[0][0] if half else None
