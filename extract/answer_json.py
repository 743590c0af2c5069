"""The values in an answer that holds JSON, or what a model takes for it: with words around it, more than one list,
quotes of its language, a comma too many, remarks, keys without quotes, JSON within a string. `json-repair` mends the
syntax.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from json_repair import repair_json

from polyculture.extract.spellings import respelt

_MOST_TRIES = 2_000  # brackets of an answer at which JSON is looked for
_LONGEST = 40_000  # characters of a piece that is mended
_MOST_OBJECTS = 400  # innermost objects that are mended one by one
_BRACKET = re.compile(r"[{\[(]")
_OBJECT = re.compile(r"\{[^{}]*\}")
_DECODER = json.JSONDecoder(strict=False)  # a line break within a string is no reason to lose it


def strict_values(text: str) -> tuple[list[tuple[int, Any]], bool]:
    """The outermost JSON values in a text, or those within a broken one, with where each begins; and whether any is
    broken."""
    values, position, broken = list[tuple[int, Any]](), 0, False
    for _ in range(_MOST_TRIES):
        bracket = re.compile(r"[{\[]").search(text, position)
        if bracket is None:
            break
        try:
            value, position = _DECODER.raw_decode(text, bracket.start())
        except (ValueError, RecursionError):
            broken, position = True, bracket.end()
            continue
        values.append((bracket.start(), value))
    return values, broken


def whole_value(text: str) -> Any:
    """The value of a text that is JSON from its first character to its last; None of any other."""
    with suppress(ValueError, RecursionError):
        value = _DECODER.decode(text.strip())
        if isinstance(value, str):  # JSON within a string
            return whole_value(value) if value != text else None
        return value if isinstance(value, dict | list) else None
    return None


def mended_values(text: str, is_mention: Callable[[Any], bool]) -> tuple[list[list[Any]], int]:
    """The readings of a text whose JSON is broken: of all of it together, and of its innermost objects, each by itself.

    With the number of innermost objects that hold no mention. What stands behind the last closing bracket is not whole,
    and is left out.
    """
    plain = respelt(text)[:_LONGEST]
    start, end = _BRACKET.search(plain), max(plain.rfind(mark) for mark in "}])")
    if start is None or end <= start.start():
        return [], 0
    together = _mended(plain[start.start() : end + 1])
    objects = [found[0] for found in _OBJECT.finditer(plain)][:_MOST_OBJECTS]
    pieces = [_mended(one) for one in objects]
    good = [piece for piece in pieces if is_mention(piece)]
    return [[together], good], len(pieces) - len(good)


def _mended(piece: str) -> Any:
    try:
        return repair_json(piece, return_objects=True, skip_json_loads=False)
    except (ValueError, RecursionError, TypeError, IndexError):
        return None
