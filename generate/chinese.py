"""Distinguishes simplified and traditional Chinese by characters."""

from __future__ import annotations

from functools import cache
from typing import Literal

_IDEOGRAPHS = range(0x4E00, 0xA000)


def chinese_variant(text: str) -> Literal["simplified", "traditional"] | None:
    """The script that most distinctive characters belong to; None for a tie, or without such characters."""
    simplified, traditional = _telling_characters()
    surplus = sum((character in traditional) - (character in simplified) for character in text)
    if surplus == 0:
        return None
    return "traditional" if surplus > 0 else "simplified"


@cache
def _telling_characters() -> tuple[frozenset[str], frozenset[str]]:
    """The characters that only simplified, and only traditional writing has.

    The mainland's national character set (GB 2312) and Taiwan's (Big5) say which are in use where. Unlike a
    converter's tables they leave out what both write with different meanings: 后, 里, 台, 干.
    """
    mainland = {chr(code) for code in _IDEOGRAPHS if _encodable(code, "gb2312")}
    taiwan = {chr(code) for code in _IDEOGRAPHS if _encodable(code, "big5")}
    return frozenset(mainland - taiwan), frozenset(taiwan - mainland)


def _encodable(code: int, encoding: str) -> bool:
    try:
        chr(code).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
