"""Values from outside, brought into their column's type at the door: a text, or a count; else NULL with a note."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from polyculture.cache.credentials import hide_keys

MOST_TOKENS = 100_000_000  # in one answer; no model reads or writes as many
BROKEN = "broken characters replaced by U+FFFD"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGITS = 30  # of an integer that is read as one
_SHOWN = 40  # characters of a value in a note


def mended(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which neither UTF-8 nor Parquet can hold."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text)
    return text


def parse(content: bytes) -> Any:
    """A JSON text. A byte that is no UTF-8 becomes a lone surrogate, as an escaped one does: `Door` mends and notes it.

    Raises `ValueError` where it is no JSON.
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        pass
    try:
        text = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        return json.loads(text, parse_int=_integer)
    except RecursionError as fault:
        raise ValueError("it is nested too deeply") from fault


def _integer(digits: str) -> int | float:
    """An integer; one that no column holds as a float, since Python refuses to read thousands of digits."""
    return int(digits) if len(digits) <= _DIGITS else float(digits)


class Door:
    """Brings the values of one answer into their types, and notes what it had to change or drop."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    @property
    def note(self) -> str | None:
        """What was changed, on one line; None where nothing was."""
        return "; ".join(dict.fromkeys(self.notes)) or None

    def text(self, name: str, value: object, longest: int | None = None) -> str | None:
        """A text, mended and at most `longest` characters long; None where it is none."""
        if value is None:
            return None
        if not isinstance(value, str):
            self.drop(name, "no text", value)
            return None
        whole = mended(value)
        if whole != value:
            self.notes.append(f"{name}: {BROKEN}")
        if longest is not None and len(whole) > longest:
            self.notes.append(f"{name}: cut from {len(whole)} characters")
            return whole[: longest - 1] + "…"
        return whole

    def count(self, name: str, value: object, least: int = 0) -> int | None:
        """A number of tokens; None where it is none that can be."""
        if value is None:
            return None
        found = _whole_number(value)
        if found is None or not least <= found <= MOST_TOKENS:
            self.drop(name, "no number of tokens", value)
            return None
        return found

    def drop(self, name: str, reason: str, value: object) -> None:
        """Notes that a value is not kept."""
        self.notes.append(f"{name}: {reason}: {_shown(value)}")


def _whole_number(value: object) -> int | None:
    """An integer, however it is written; None where a value is none. True is no number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}", value):
        return int(value)
    return None


def _shown(value: object) -> str:
    """A value in a note: on one line, short, without a known key."""
    text = value if isinstance(value, str) else f"{value:.6g}" if isinstance(value, float) else _number(value)
    line = " ".join(hide_keys(mended(text)).split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _number(value: object) -> str:
    """An integer in digits, also one that is too long for `str`; any other value by its type."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value.bit_length() < 256 else f"an integer of {value.bit_length()} bits"
    return str(value) if isinstance(value, bool) else f"a {type(value).__name__}"
