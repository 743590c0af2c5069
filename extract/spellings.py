"""How models write a list of mentions otherwise than they are asked to: `spellings.toml`, read once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from polyculture.cache.identity import content_id


def respelt(text: str) -> str:
    """A text with broken JSON in it, with the quotes, brackets and signs of JSON."""
    for pattern, plain in _replaced():
        text = pattern.sub(plain, text)
    return text


@cache
def bullet() -> re.Pattern[str]:
    """How a line of a list begins."""
    return re.compile(rf"\s*(?:{'|'.join(_rows('bullets'))})")


@cache
def between() -> str:
    """What separates a text from its kind, as an expression."""
    return "|".join(_rows("between"))


@cache
def words_for_nothing() -> frozenset[str]:
    """Words that models write instead of a text when there is no mention, in small letters."""
    return frozenset(_rows("nothing"))


@cache
def blanks() -> frozenset[str]:
    """Placeholders of a form that a model copied instead of filling them in."""
    return frozenset(_rows("blanks"))


@cache
def spellings_hash() -> str:
    """A hash of all of it."""
    return content_id({key: _rows(key) for key in ("replaced", "bullets", "between", "nothing", "blanks")})


@cache
def _replaced() -> Sequence[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), plain) for pattern, plain in _rows("replaced")]


def _rows(key: str) -> Sequence[Any]:
    """What all rows have under a key, in their order."""
    return [one for row in _table() for one in row.get(key, ())]


@cache
def _table() -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = tomllib.loads(
        Path(__file__).with_name("spellings.toml").read_text(encoding="utf-8")
    )["spellings"]
    return rows
