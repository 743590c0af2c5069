"""The gap of a context, in the spellings that publishers use."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from polyculture.instruments.datasets.model import MASK

# 'mask' in Latin letters, of full width too.
_LETTERS = "".join(
    f"[{one}{one.upper()}{chr(ord(one) + 0xFEE0)}{chr(ord(one.upper()) + 0xFEE0)}]\\s*" for one in "mask"
)
_SQUARE = re.compile(rf"[\[【［]\s*{_LETTERS}[\]】］]")
# Where nothing else is a gap: in brackets of any kind, of which one may be missing, or stand the wrong way round.
_OPENING, _CLOSING = r"\[({<（｛＜〈《⟨【［〔「『⟦〖‹«|", r"\])}>）｝＞〉》⟩】］〕」』⟧〗›»|"
_SIGNS = r"[\s_/\\*:.-]*"  # that people put between bracket and word
_OPEN, _CLOSE = f"[{_OPENING}]{_SIGNS}", f"{_SIGNS}[{_CLOSING}]"
_LOOSE = re.compile(
    rf"{_OPEN}{_LETTERS}(?:[eE][dD])?{_CLOSE}|[{_OPENING}{_CLOSING}](?!\s){_LETTERS}(?<!\s)[{_OPENING}{_CLOSING}]"
    rf"|{_OPEN}{_LETTERS}(?![A-Za-z])|(?<![A-Za-z]){_LETTERS}{_CLOSE}"
)
_PAIR = re.compile(rf"\[\s*({re.escape(MASK)})\s*\]")  # two brackets too many, or one
_STRAY = re.compile(rf"\[\s*(?={re.escape(MASK)})|(?<={re.escape(MASK)})\s*\]")
# The word in other scripts, as translators of a sheet have written it. A spelling close to one of them is one, too.
_WORDS = ("मास्क", "માસ્ક", "മാസ്ക്", "മസ്ക്", "മാസ്", "ماسک", "ماسك", "قناع", "マスク", "마스크", "মাস্ক", "மாஸ்க்", "మాస్క్",
          "ಮಾಸ್ಕ್", "ਮਾਸਕ", "หน้ากาก", "маска", "掩码", "面具", "口罩", "mặt nạ")  # fmt: skip
_BRACKETED = re.compile(r"[\[【［]\s*([^\[\]【】［］\r\n]{1,15}?)\s*[\]】］]")
# In brackets of any kind.
_ENCLOSED = re.compile(rf"[{_OPENING}]\s*([^\[\](){{}}<>【】［］〔〕「」\r\n]{{1,15}}?)\s*[{_CLOSING}]")
# What a stranger's sheet may write for the gap: a word in brackets of any kind, or a line to write on.
_TOKEN = re.compile(rf"[{_OPENING}][^{_OPENING}{_CLOSING}\r\n]{{0,20}}[{_CLOSING}]|_{{2,}}|…")
_LINE = re.compile("_{2,}")
_ROUND = "(（"  # people put a remark into these
_FEWEST, _MOST_OF = 3, 0.9  # of the texts without a gap that must have such a token once
_IN_A_ROW = re.compile(rf"{re.escape(MASK)}(?:\s*{re.escape(MASK)})+")
SIMILAR = 0.6  # of two spellings, from 0 to 1


@dataclass(frozen=True, slots=True)
class GapReading:
    """A text with its gaps as `MASK`, and what had to be changed for that."""

    text: str
    changes: tuple[str, ...]


def read_gaps(text: str, spellings: Sequence[str] = ()) -> GapReading:
    """The text with every gap as `MASK`; `changes` says what was read otherwise than it is written.

    Besides `spellings`, 'mask' in brackets is a gap however it is written, in Latin letters or in the text's
    own script. Several gaps in a row with nothing between are one: a name of several words.
    """
    changes = []
    for other in spellings:
        if other in text:
            text = text.replace(other, MASK)
            changes.append(_read_as(other))
    has_right = MASK in text
    for found in dict.fromkeys(_other_spellings(text)):
        if has_right and found[0] in _ROUND:
            changes.append(f"kept: {found} beside its gap is read as words")
        else:
            text = text.replace(found, MASK)
            changes.append(_read_as(found))
    bare = _PAIR.sub(r"\1", text)
    bare = _STRAY.sub("", bare) if bare.count("[") != bare.count("]") else bare
    if bare != text:
        text = bare
        changes.append("kept: without a bracket too many beside its gap")
    joined = _IN_A_ROW.sub(MASK, text)
    if joined != text:
        changes.append("kept: its gaps in a row are read as one")
    return GapReading(joined, tuple(changes))


def fault_of_gaps(text: str) -> str | None:
    """Why a text has not one gap; None where it has."""
    gaps = text.count(MASK)
    if gaps == 1:
        return None
    return f"{gaps} gaps {MASK} where one is needed" if gaps else f"no gap {MASK}"


def own_spelling(texts: Sequence[str]) -> tuple[str, ...]:
    """How a column writes the gap in its own way: what nearly all texts without another have, once each."""
    without = [text for text in texts if MASK not in read_gaps(text).text]
    if len(without) < _FEWEST:
        return ()
    found = Counter(token for text in without for token, times in Counter(_TOKEN.findall(text)).items() if times == 1)
    return tuple(token for token, texts_with in found.most_common(1) if texts_with >= _MOST_OF * len(without))


def _read_as(spelling: str) -> str:
    return f"kept: its gap, written {spelling}, is read as {MASK}"


def _other_spellings(text: str) -> Iterator[str]:
    """The gaps that are written otherwise. Beside a gap that is written right they are further ones, and so is a line
    to write on: a text with two gaps would else be asked with one of them as a word of it."""
    rest = text.replace(MASK, "\n")
    found = [match[0] for match in _SQUARE.finditer(rest)]
    found += [match[0] for match in _BRACKETED.finditer(rest) if _is_the_word(match[1])]
    if not found:
        found = [match[0].rstrip() for match in _LOOSE.finditer(rest)]
        found += [match[0] for match in _BRACKETED.finditer(rest) if _is_misspelt(match[1])]
        found += [match[0] for match in _ENCLOSED.finditer(rest) if _plain(match[1]) in _PLAIN]
    if MASK in text:
        found += _LINE.findall(rest)
    yield from found


def _is_misspelt(word: str) -> bool:
    """A slip of 'mask': a letter too few, or two that changed places."""
    plain = _plain(word)
    return sorted(plain) == sorted("mask") or SequenceMatcher(None, plain, "mask").ratio() >= 0.85


def _is_the_word(word: str) -> bool:
    plain = _plain(word)
    return any(SequenceMatcher(None, plain, known).ratio() >= SIMILAR and plain[:1] == known[:1] for known in _PLAIN)


def _plain(word: str) -> str:
    """Without signs that are not seen: joiners, a byte order mark."""
    kept = (sign for sign in unicodedata.normalize("NFC", word) if unicodedata.category(sign) != "Cf")
    return "".join(kept).casefold()


_PLAIN = tuple(map(_plain, _WORDS))
