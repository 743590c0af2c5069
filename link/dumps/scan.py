"""Reads the lines of a Wikidata dump at the speed of memory: compiled functions that know one form, and no other.

`scan` goes over a chunk of a dump and notes, as numbers, where what is kept of each item stands: its texts, the items
that it names, its counts. It takes a line only if it is of exactly the form in which Wikidata writes its dumps, and
msgspec would have read the same; any other one (white space, another order, damage, what is no item) it leaves to that.
`gathered` then takes texts out of the chunk, one behind the other, as Arrow wants them.

All that is compiled stands in this one file: numba keeps what it compiled until the file of the outermost function
changes. A function gives back the place after what it has read, or `NO`. A chunk ends with a newline, which nothing
reads past: no text and no name holds one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import njit

Bytes: TypeAlias = npt.NDArray[np.uint8]
Numbers: TypeAlias = npt.NDArray[np.int64]
Ends: TypeAlias = npt.NDArray[np.int32]
Mask: TypeAlias = npt.NDArray[np.bool_]
Place: TypeAlias = int  # in a chunk

NO: Final = -1
# What a row of `scan` tells, and its columns.
LABEL, ALIAS, DESCRIPTION, CLAIM, ITEM, LEFT = range(6)
WHAT, CODE, START, END, NUMBER = range(5)
SITES = 4096  # places for the sites that link to one item, in a table of twice as many as there may be

_QUOTE, _BACKSLASH, _COMMA, _COLON, _NEWLINE, _BLANK = b'"\\,:\n '
_ARRAY, _ARRAY_END, _OBJECT, _OBJECT_END = b"[]{}"
_INSIDE = np.array([byte >= _BLANK and byte not in (_QUOTE, _BACKSLASH) for byte in range(256)])  # a string, as it is
_HEXADECIMAL = np.array([int(chr(byte), 16) if chr(byte) in "0123456789abcdefABCDEF" else NO for byte in range(256)])
_PRINTED = _INSIDE & (np.arange(256) < 127)
_DEEPEST = 60  # a level is a bit


def words(texts: Sequence[str]) -> Bytes:
    """A row for each word: its length and its bytes."""
    encoded = [text.encode() for text in texts]
    rows = np.zeros((len(encoded), 1 + max(map(len, encoded), default=0)), np.uint8)
    for row, word in zip(rows, encoded, strict=True):
        row[0], row[1 : 1 + len(word)] = len(word), np.frombuffer(word, np.uint8)
    return rows


def _bytes(text: str) -> Bytes:
    return np.frombuffer(text.encode(), np.uint8)


_FIELDS = words(
    ["type", "id", "labels", "aliases", "descriptions", "claims", "sitelinks", "lastrevid", "modified", "redirects"]
)
_TYPE, _ID, _LABELS, _ALIASES, _DESCRIPTIONS, _CLAIMS, _SITELINKS, _LASTREVID, _MODIFIED, _REDIRECTS = range(10)
_IS_ITEM, _TRUE, _FALSE, _NULL = _bytes('"item"'), _bytes("true"), _bytes("false"), _bytes("null")
_LANGUAGE, _VALUE = _bytes('{"language":"'), _bytes('","value":"')
_MAINSNAK, _AFTER_PROPERTY = _bytes('{"mainsnak":{"snaktype":"value","property":"'), _bytes('",')
_HASH, _TARGET = _bytes('"hash":'), _bytes('"datavalue":{"value":{"entity-type":"item","numeric-id":')
_QID, _TARGET_END = _bytes(',"id":"Q'), _bytes('},"type":"wikibase-entityid"},"datatype":"wikibase-item"}')
_RANK, _AGAIN = _bytes('"rank"'), _bytes('"mainsnak"')
_RANKS = words(['"deprecated"', '"normal"', '"preferred"'])
_TIME = len('"2026-09-07T12:34:56Z"')

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _inner(function: _Function) -> _Function:
    """Called by compiled functions alone."""
    return cast(_Function, njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function))


def _inlined(function: _Function) -> _Function:
    return cast(_Function, njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)(function))


def _outer(function: _Function) -> _Function:
    """Compiled when it is first called, and kept for the next time if there is a place to keep it."""
    try:
        return cast(_Function, njit(nogil=True, cache=True)(function))
    except RuntimeError:
        return cast(_Function, njit(nogil=True)(function))


@_inner
def _after(b: Bytes, i: Place, word: Bytes) -> Place:
    for j in range(len(word)):
        if b[i + j] != word[j]:
            return NO
    return i + len(word)


@_inner
def _same(b: Bytes, i: Place, other: Place, size: int) -> bool:
    j = 0
    while j < size and b[i + j] == b[other + j]:
        j += 1
    return j == size


@_inner
def _hexadecimal(b: Bytes, i: Place) -> int:
    found = 0
    for j in range(i, i + 4):
        digit = _HEXADECIMAL[b[j]]
        if digit < 0:
            return NO
        found = found * 16 + digit
    return found


@_inner
def _escaped(b: Bytes, i: Place) -> tuple[int, Place]:
    """The character that the escape at `i` stands for, and the place after it. Half a surrogate pair is none."""
    c: int = np.int64(b[i + 1])  # type: ignore[assignment]
    if c == ord("u"):
        code = _hexadecimal(b, i + 2)
        if code < 0xD800:
            return code, (NO if code < 0 else i + 6)
        if code > 0xDFFF:
            return code, i + 6
        if code > 0xDBFF or b[i + 6] != _BACKSLASH or b[i + 7] != ord("u"):
            return NO, NO
        low = _hexadecimal(b, i + 8)
        return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00), (i + 12 if 0xDC00 <= low <= 0xDFFF else NO)
    for short, code in (
        (_QUOTE, _QUOTE),
        (_BACKSLASH, _BACKSLASH),
        (ord("/"), ord("/")),
        (ord("b"), 8),
        (ord("t"), 9),
        (ord("n"), 10),
        (ord("f"), 12),
        (ord("r"), 13),
    ):
        if c == short:
            return code, i + 2
    return NO, NO


@_inlined
def _string(b: Bytes, i: Place) -> Place:
    if b[i] != _QUOTE:
        return NO
    i += 1
    while True:
        while _INSIDE[b[i]]:
            i += 1
        if b[i] == _QUOTE:
            return i + 1
        if b[i] != _BACKSLASH:
            return NO
        _, i = _escaped(b, i)
        if i < 0:
            return NO


@_inner
def _plain(b: Bytes, i: Place) -> Place:
    """A string of printable ASCII, without escapes."""
    if b[i] != _QUOTE:
        return NO
    i += 1
    while _PRINTED[b[i]]:
        i += 1
    return i + 1 if b[i] == _QUOTE else NO


@_inner
def _key(b: Bytes, i: Place) -> Place:
    """The place of the colon after a key."""
    i = _plain(b, i)
    return i if i > 0 and b[i] == _COLON else NO


@_inner
def _digits(b: Bytes, i: Place) -> Place:
    start = i
    while 48 <= b[i] <= 57:
        i += 1
    return i if i > start else NO


@_inner
def _number(b: Bytes, i: Place) -> Place:
    if b[i] == ord("-"):
        i += 1
    i = i + 1 if b[i] == ord("0") else _digits(b, i)
    if i > 0 and b[i] == ord("."):
        i = _digits(b, i + 1)
    if i > 0 and (b[i] == ord("e") or b[i] == ord("E")):
        i += 1
        if b[i] == ord("+") or b[i] == ord("-"):
            i += 1
        i = _digits(b, i)
    return i


@_inlined
def _scalar(b: Bytes, i: Place) -> Place:
    if b[i] == _QUOTE:
        return _string(b, i)
    if b[i] == ord("t"):
        return _after(b, i, _TRUE)
    if b[i] == ord("f"):
        return _after(b, i, _FALSE)
    return _after(b, i, _NULL) if b[i] == ord("n") else _number(b, i)


@_inner
def _value(b: Bytes, i: Place) -> Place:
    """Whatever value stands at `i`; a bit of `objects` is a level, 1 for an object, 0 for an array."""
    depth, objects = 0, 0
    while True:
        inside = b[i] == _OBJECT or b[i] == _ARRAY
        if inside:
            depth, objects = depth + 1, objects << 1 | (1 if b[i] == _OBJECT else 0)
            i += 1
            if depth > _DEEPEST:
                return NO
            inside = b[i] != (_OBJECT_END if objects & 1 else _ARRAY_END)  # else it is empty
        else:
            i = _scalar(b, i)
            if i < 0 or depth == 0:
                return i
        while not inside:
            if b[i] == _COMMA:
                i += 1
                inside = True
            elif b[i] == (_OBJECT_END if objects & 1 else _ARRAY_END):
                i, depth, objects = i + 1, depth - 1, objects >> 1
                if depth == 0:
                    return i
            else:
                return NO
        if objects & 1:
            i = _string(b, i)
            if i < 0 or b[i] != _COLON:
                return NO
            i += 1


@_inner
def _integer(b: Bytes, i: Place, most: int) -> tuple[int, Place]:
    """A number above 0 of at most so many digits, and the place after it."""
    end = _digits(b, i)
    if end < 0 or end - i > most or b[i] == ord("0"):
        return 0, NO
    found = 0
    for j in range(i, end):
        found = found * 10 + b[j] - 48
    return found, end


@_inner
def _which(b: Bytes, start: Place, end: Place, known: Bytes) -> int:
    """Which of the words it is, or `NO`."""
    size = end - start
    for place in range(len(known)):
        if known[place, 0] == size and known[place, 1] == b[start]:
            j = 1
            while j < size and b[start + j] == known[place, j + 1]:
                j += 1
            if j == size:
                return place
    return NO


@_inner
def _empty(b: Bytes, i: Place) -> bool:
    """Is it a map without entries, as JSON or as PHP writes it?"""
    if b[i] == _ARRAY:
        return bool(b[i + 1] == _ARRAY_END)
    return bool(b[i] == _OBJECT and b[i + 1] == _OBJECT_END)


@_inner
def _noted(rows: Numbers, first: int, count: int, what: int, code: int) -> bool:
    row = first
    while row < count and (rows[row, WHAT] != what or rows[row, CODE] != code):
        row += 1
    return row < count


@_inner
def _note(rows: Numbers, count: int, what: int, code: int, start: int, end: int) -> int:
    rows[count, WHAT], rows[count, CODE], rows[count, START], rows[count, END] = what, code, start, end
    return count + 1


@_inner
def _text(b: Bytes, i: Place, start: Place, end: Place) -> tuple[Place, Place]:
    """Where the text at `i` begins, of the language that stands at start:end, and the place after it."""
    i = _after(b, i, _LANGUAGE)
    if i < 0 or not _same(b, i, start, end - start):
        return NO, NO
    begin = _after(b, i + end - start, _VALUE)
    i = _string(b, begin - 1) if begin > 0 else NO
    return begin, (i + 1 if i > 0 and b[i] == _OBJECT_END else NO)


@_inner
def _texts(b: Bytes, i: Place, rows: Numbers, first: int, count: int, languages: Bytes, what: int) -> tuple[Place, int]:
    """Labels, aliases or descriptions by language; the place after them, and the rows there are then."""
    if _empty(b, i):
        return i + 2, count
    if b[i] != _OBJECT:
        return NO, 0
    while True:
        i += 1
        colon = _key(b, i)
        if colon < 0:
            return NO, 0
        start, end = i + 1, colon - 1
        i = colon + 1
        language = _which(b, start, end, languages)
        if language < 0:
            i = _value(b, i)
            if i < 0:
                return NO, 0
        else:
            if _noted(rows, first, count, what, language) or (what == ALIAS and b[i] != _ARRAY):
                return NO, 0
            if what == ALIAS:
                i += 1
            while True:
                begin, i = _text(b, i, start, end)
                if i < 0:
                    return NO, 0
                count = _note(rows, count, what, language, begin, i - 2)
                if what != ALIAS or b[i] != _COMMA:
                    break
                i += 1
            if what == ALIAS:
                if b[i] != _ARRAY_END:
                    return NO, 0
                i += 1
        if b[i] != _COMMA:
            return (i + 1 if b[i] == _OBJECT_END else NO), count


@_inner
def _statement(b: Bytes, i: Place, start: Place, end: Place) -> tuple[int, int, Place]:
    """The item that a statement names, by the property that stands at start:end; its rank; the place after it."""
    i = _after(b, i, _MAINSNAK)
    if i < 0 or not _same(b, i, start, end - start):
        return 0, 0, NO
    i = _after(b, i + end - start, _AFTER_PROPERTY)
    if i > 0 and b[i + 1] == ord("h"):
        i = _after(b, i, _HASH)
        i = _plain(b, i) if i > 0 else NO
        i = i + 1 if i > 0 and b[i] == _COMMA else NO
    i = _after(b, i, _TARGET) if i > 0 else NO
    if i < 0:
        return 0, 0, NO
    target, i = _integer(b, i, 9)
    if i > 0 and b[i] == _COMMA:
        i = _after(b, i, _QID)
        i = _digits(b, i) if i > 0 else NO
        i = i + 1 if i > 0 and b[i] == _QUOTE else NO
    i = _after(b, i, _TARGET_END) if i > 0 else NO
    if i < 0:
        return 0, 0, NO
    rank = NO
    while b[i] == _COMMA:
        key = i + 1
        colon = _key(b, key)
        i = _value(b, colon + 1) if colon > 0 else NO
        if i < 0 or _after(b, key, _AGAIN) > 0:
            return 0, 0, NO
        if _after(b, key, _RANK) > 0:
            if rank >= 0:
                return 0, 0, NO
            rank = _which(b, colon + 1, i, _RANKS)
    return target, rank, (i + 1 if b[i] == _OBJECT_END and rank >= 0 else NO)


@_inner
def _claims(b: Bytes, i: Place, rows: Numbers, first: int, count: int, properties: Bytes) -> tuple[Place, int]:
    """What the statements of best rank name, never those that are deprecated (0), each item once."""
    if _empty(b, i):
        return i + 2, count
    if b[i] != _OBJECT:
        return NO, 0
    while True:
        i += 1
        colon = _key(b, i)
        if colon < 0:
            return NO, 0
        start, end = i + 1, colon - 1
        i = colon + 1
        which = _which(b, start, end, properties)
        if which < 0:
            i = _value(b, i)
            if i < 0:
                return NO, 0
        else:
            if b[i] != _ARRAY or _noted(rows, first, count, CLAIM, which):
                return NO, 0
            before, best = count, 1
            while True:
                target, rank, i = _statement(b, i + 1, start, end)
                if i < 0:
                    return NO, 0
                if rank > best:
                    count, best = before, rank
                if rank == best:
                    new = True
                    for row in range(before, count):
                        new = new and rows[row, START] != target
                    if new:
                        count = _note(rows, count, CLAIM, which, target, 0)
                if b[i] != _COMMA:
                    break
            if b[i] != _ARRAY_END:
                return NO, 0
            i += 1
        if b[i] != _COMMA:
            return (i + 1 if b[i] == _OBJECT_END else NO), count


@_inner
def _sitelinks(b: Bytes, i: Place, sites: Numbers) -> tuple[int, Place]:
    """How many there are. `sites` is a hash table of where each site stands, to see that none does twice."""
    if _empty(b, i):
        return 0, i + 2
    if b[i] != _OBJECT:
        return 0, NO
    first, count, last = i, 0, len(sites) - 1
    while True:
        i += 1
        colon = _key(b, i)
        if colon < 0 or b[colon + 1] != _OBJECT or 2 * count > last:
            return 0, NO
        slot = 0
        for j in range(i, colon):
            slot = slot * 31 + b[j] & 0xFFFFFFFF
        slot &= last
        while sites[slot] > first:  # else it is an earlier item's
            if _same(b, sites[slot], i, colon - i):
                return 0, NO
            slot = slot + 1 & last
        sites[slot] = i
        count += 1
        i = _value(b, colon + 1)
        if i < 0 or b[i] != _COMMA:
            return count, (i + 1 if i > 0 and b[i] == _OBJECT_END else NO)


@_inner
def _item(
    b: Bytes, i: Place, rows: Numbers, first: int, languages: Bytes, properties: Bytes, sites: Numbers
) -> tuple[Place, int, Place]:
    """The place after the item at `i`, the rows there are then, and where it says when it was changed (0: nowhere)."""
    if b[i] != _OBJECT:
        return NO, 0, 0
    found = modified = number = sitelinks = 0
    count, revision = first, NO
    while True:
        i += 1
        colon = _key(b, i)
        if colon < 0:
            return NO, 0, 0
        field = _which(b, i + 1, colon - 1, _FIELDS)
        i = colon + 1
        if field >= 0 and found >> field & 1:
            return NO, 0, 0
        if field >= 0:
            found |= 1 << field
        if field == _TYPE:
            i = _after(b, i, _IS_ITEM)
        elif field == _ID:
            number, i = _integer(b, i + 2, 9) if b[i] == _QUOTE and b[i + 1] == ord("Q") else (0, NO)
            i = i + 1 if i > 0 and b[i] == _QUOTE else NO
        elif field in (_LABELS, _ALIASES, _DESCRIPTIONS):
            what = LABEL if field == _LABELS else ALIAS if field == _ALIASES else DESCRIPTION
            # Of the same name as label and as alias the first is kept, which must be the label.
            early = field == _LABELS and found >> _ALIASES & 1
            i, count = (NO, 0) if early else _texts(b, i, rows, first, count, languages, what)
        elif field == _CLAIMS:
            i, count = _claims(b, i, rows, first, count, properties)
        elif field == _SITELINKS:
            sitelinks, i = _sitelinks(b, i, sites)
        elif field == _LASTREVID:
            revision, i = _integer(b, i, 18)
        elif field == _MODIFIED:
            modified = i
            i = _plain(b, i)
            i = i if i - modified == _TIME else NO
        else:
            i = NO if field == _REDIRECTS else _value(b, i)
        if i < 0:
            return NO, 0, 0
        if b[i] != _COMMA:
            break
    if b[i] != _OBJECT_END or not found >> _TYPE & found >> _ID & 1:
        return NO, 0, 0
    for row in range(first, count + 1):
        rows[row, NUMBER] = number
    return i + 1, _note(rows, count, ITEM, 0, sitelinks, revision), modified


@_inner
def _later(b: Bytes, one: Place, other: Place) -> Place:
    """The later one of two times."""
    if one and other:
        for j in range(_TIME):
            if b[one + j] != b[other + j]:
                return one if b[one + j] > b[other + j] else other
    return max(one, other)


@_outer
def scan(b: Bytes, rows: Numbers, languages: Bytes, properties: Bytes, sites: Numbers) -> tuple[int, Place]:
    """Fills `rows` with what stands in a chunk; how many there are, and where the latest time of change stands (or 0).

    A row tells of a text (its language, where it begins and ends), of an item that is named (its property,
    the item) or of a whole item (its sitelinks, its revision or -1), each with the item's number; or of a line that is
    left (how many lines before it, where it begins and ends). An item's rows stand together.
    """
    i, line, count, latest = 0, 0, 0, 0
    sites[:] = 0
    while i < len(b):
        end, whole, modified = _item(b, i, rows, count, languages, properties, sites)
        if end > 0:
            while b[end] == _COMMA or b[end] == _BLANK or b[end] == ord("\r") or b[end] == ord("\t"):
                end += 1
        if end > 0 and b[end] == _NEWLINE:
            count, latest = whole, _later(b, latest, modified)
        else:
            end = i
            while b[end] != _NEWLINE:
                end += 1
            if end > i:
                count = _note(rows, count, LEFT, line, i, end)
        i, line = end + 1, line + 1
    return count, latest


@_inner
def _put(data: Bytes, at: int, code: int) -> int:
    """Writes a character in UTF-8; the place after it."""
    if code < 0x80:
        data[at] = code
        return at + 1
    if code < 0x800:
        data[at] = 0xC0 | code >> 6
    elif code < 0x10000:
        data[at] = 0xE0 | code >> 12
    else:
        data[at] = 0xF0 | code >> 18
        at += 1
        data[at] = 0x80 | code >> 12 & 63
    if code >= 0x800:
        at += 1
        data[at] = 0x80 | code >> 6 & 63
    data[at + 1] = 0x80 | code & 63
    return at + 2


@_outer
def gathered(b: Bytes, rows: Numbers, data: Bytes, ends: Ends, kept: Numbers) -> int:
    """Copies the texts of `rows` to `data`, each once an item and language; how many, where they end, and which."""
    count, at = 0, 0
    for row in range(len(rows)):
        i, end = rows[row, START], rows[row, END]
        while i < end:
            if b[i] == _BACKSLASH:
                code, i = _escaped(b, i)
                at = _put(data, at, code)
            else:
                data[at] = b[i]
                at, i = at + 1, i + 1
        start, repeated, other = ends[count], False, count - 1
        while rows[row, WHAT] == ALIAS and other >= 0 and rows[kept[other], NUMBER] == rows[row, NUMBER]:
            size = ends[other + 1] - ends[other]
            if rows[kept[other], CODE] == rows[row, CODE] and size == at - start:
                repeated = repeated or _same(data, ends[other], start, size)
            other -= 1
        if repeated:
            at = start
        else:
            kept[count], ends[count + 1] = row, at
            count += 1
    return count


@_inner
def _character(data: Bytes, i: int) -> tuple[int, int]:
    """The character that begins at `i`, in UTF-8, and the place after it."""
    c: int = np.int64(data[i])  # type: ignore[assignment]
    if c < 0x80:
        return c, i + 1
    if c < 0xE0:
        return (c & 31) << 6 | data[i + 1] & 63, i + 2
    if c < 0xF0:
        return (c & 15) << 12 | (data[i + 1] & 63) << 6 | data[i + 2] & 63, i + 3
    return (c & 7) << 18 | (data[i + 1] & 63) << 12 | (data[i + 2] & 63) << 6 | data[i + 3] & 63, i + 4


@_outer
def folded(data: Bytes, ends: Ends, letters: Ends, out: Bytes, out_ends: Ends, unsure: Mask) -> None:
    """Each character by what `letters` has for it (0: nothing), without outer and double blanks.

    `unsure` are those that hold a character of which that is not known (-1), and those of which nothing is left.
    """
    at = 0
    for row in range(len(ends) - 1):
        start, i = at, ends[row]
        while i < ends[row + 1]:
            code, i = _character(data, i)
            letter = letters[code] if code < len(letters) else NO
            if letter < 0:
                unsure[row] = True
            elif letter and (letter != _BLANK or (at > start and out[at - 1] != _BLANK)):
                at = _put(out, at, letter)
        if at > start and out[at - 1] == _BLANK:
            at -= 1
        unsure[row] |= at == start
        out_ends[row + 1] = at
