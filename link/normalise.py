"""The form in which names are compared: one for what people and models write in several ways.

Unicode NFKC, case folding (with the Turkish dotted and dotless i where the language has them), traditional to
simplified Chinese through OpenCC, the letters and marks of `letters.toml`, digits of every script, and white space.
The index is built and asked with this one function; whoever changes what it does raises `NORMALISATION`.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import opencc

NORMALISATION = 1  # raise when a name may come out differently: indexes built before are then refused

Fold = Literal["plain", "turkish", "chinese"]

_TURKISH = frozenset({"tr", "az", "crh", "gag"})
_CHINESE = frozenset({"zh", "yue", "wuu", "gan", "hak", "nan", "lzh", "cdo", "hsn"})
_SPACES = re.compile(r"[^\S\n]+")
_ARABIC_JOINT = re.compile("(?<=[\u0620-\u06ff])\u200c")  # within a Persian compound, often written as a space


def fold_of(language: str) -> Fold:
    """Which rules the names of a Wikidata label language follow: 'zh-hk' is Chinese, 'tr' Turkish."""
    base = language.partition("-")[0]
    if base in _TURKISH:
        return "turkish"
    return "chinese" if base in _CHINESE else "plain"


def normalise(names: Sequence[str], fold: Fold) -> list[str]:
    """Each name in the form in which it is compared, in the same order.

    All names are folded as one text, a name a line, so that the work is done by a handful of calls whatever their
    number. A name of which nothing would be left (one quotation mark) keeps its case-folded form.
    """
    if not names:
        return []
    plain = [name.replace("\n", " ") if "\n" in name else name for name in names]
    cased = _case("\n".join(plain), fold)
    bare = _SPACES.sub(" ", unicodedata.normalize("NFKC", cased.translate(_letters())))
    lines = [line.strip() for line in bare.split("\n")]
    if all(lines):
        return lines
    return [line or kept.strip() for line, kept in zip(lines, cased.split("\n"), strict=True)]


def chinese_forms(text: str) -> list[str]:
    """A Chinese text as it is written, in simplified and in traditional characters, each form once."""
    return list(
        dict.fromkeys([text.strip(), _converter("t2s").convert(text).strip(), _converter("s2t").convert(text).strip()])
    )


def _case(text: str, fold: Fold) -> str:
    if fold == "chinese":
        text = _converter("t2s").convert(text)
    # NFKC would take the acute accent that stands for an apostrophe apart, into a space and a mark.
    text = unicodedata.normalize("NFKC", _ARABIC_JOINT.sub(" ", text.replace("´", "'")))
    if fold == "turkish":
        text = text.replace("İ", "i").replace("I", "ı")
    # The case folding of a dotted capital I is an i with a combining dot, which nobody types.
    return text.casefold().replace("i\u0307", "i")


@cache
def _converter(way: str) -> opencc.OpenCC:
    return opencc.OpenCC(way)


@cache
def _letters() -> dict[int, str | None]:
    rules = tomllib.loads(Path(__file__).with_name("letters.toml").read_text(encoding="utf-8"))
    table: dict[int, str | None] = {}
    for script in rules.values():
        table.update({ord(letter): None for letter in script.get("remove", {}).get("characters", "")})
        table.update({ord(letter): " " for letter in script.get("space", {}).get("characters", "")})
        table.update({ord(letter): other for letter, other in script.get("replace", {}).items()})
    table.update(_digits())
    return table


def _digits() -> dict[int, str | None]:
    """Every decimal digit of Unicode's basic plane as 0 to 9."""
    numbers = (code for code in range(0x80, 0x10000) if unicodedata.category(chr(code)) == "Nd")
    return {code: str(unicodedata.digit(chr(code))) for code in numbers}
