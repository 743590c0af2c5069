"""Reads an extractor model's answer: what is good in it is kept, and what is dropped is noted.

Models write prose around the JSON, a fence, a trailing comma, a list without its table, `Dish` for `dish`, one unknown
kind among good ones; a limit may cut the last mention. Only where nothing can be read is the model asked again.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from polyculture.generate.engines.base import Ending

MOST_MENTIONS = 100  # per answer; an answer with as many counts as endless
CUT_SHORT = "the answer was cut"
_MOST_TRIES = 2_000  # brackets of an answer at which JSON is looked for
_LONGEST = 200_000  # characters of an answer that are read
_BRACKET = re.compile(r"[{\[]")
_TEXT = ("text", "entity", "mention", "name", "surface", "span", "term", "item", "word")  # names of a mention's text
_KIND = ("kind", "type", "entity_type", "category", "label", "class")
_DECODER = json.JSONDecoder()


class UnusableAnswerError(ValueError):
    """Nothing of the answer can be read."""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What an answer lists: (surface, kind) pairs in its order, and what was dropped of it, on one line."""

    pairs: tuple[tuple[str, str], ...]
    note: str | None = None


def answer_schema(kinds: Iterable[str]) -> dict[str, Any]:
    """The JSON schema of an answer: a bounded list of texts, each with one of the kinds."""
    mention = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "kind": {"type": "string", "enum": list(kinds)}},
        "required": ["text", "kind"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"mentions": {"type": "array", "items": mention, "maxItems": MOST_MENTIONS}},
        "required": ["mentions"],
        "additionalProperties": False,
    }


def write_answer(mentions: Iterable[tuple[str, str]]) -> str:
    """The answer that holds these (surface, kind) pairs, as a model would write it."""
    return orjson.dumps({"mentions": [{"text": text, "kind": kind} for text, kind in mentions]}).decode()


def read_answer(text: str, kinds: Iterable[str], ending: Ending | None) -> ReadAnswer:
    """The mentions that an answer lists.

    Raises `UnusableAnswerError`, with a message of one line, where it has no JSON, none of its mentions can be read, or
    it does not end. An answer that was cut keeps the mentions that are whole.
    """
    known = {_folded(kind): kind for kind in kinds}
    values = list(_values(text.removeprefix("\ufeff")[:_LONGEST]))
    if not values:
        raise UnusableAnswerError(CUT_SHORT if ending == "cut" else "the answer has no JSON")
    mentions = [mention for value in values for mention in _mentions(value, known)]
    if len(mentions) >= MOST_MENTIONS:
        raise UnusableAnswerError(f"the answer is endless: {len(mentions)} mentions")
    pairs = tuple((surface, known[_folded(kind)]) for surface, kind in mentions if _folded(kind) in known)
    dropped = Counter(kind[:40] for _, kind in mentions if _folded(kind) not in known)
    if not pairs and (dropped or ending == "cut"):
        unknown = f"the answer has no known kind: {', '.join(map(repr, list(dropped)[:3]))}"
        raise UnusableAnswerError(unknown if dropped else CUT_SHORT)
    if not mentions and not any(map(_is_empty_list, values)):
        raise UnusableAnswerError("the answer has no list of mentions")
    notes = [f"{count} of unknown kind {kind!r} dropped" for kind, count in sorted(dropped.items())]
    notes += [f"{CUT_SHORT}: its whole mentions were read"] if ending == "cut" else []
    return ReadAnswer(pairs, "; ".join(notes) or None)


def _values(text: str) -> Iterator[Any]:
    """The outermost JSON values in a text. Within one that is broken, those that are whole."""
    position, tries, found = 0, 0, False
    while tries < _MOST_TRIES and (bracket := _BRACKET.search(text, position)) is not None:
        tries += 1
        try:
            value, position = _DECODER.raw_decode(text, bracket.start())
        except (ValueError, RecursionError):
            position = bracket.end()
            continue
        found = True
        yield value
    if not found and (literal := _python_literal(text)) is not None:
        yield literal


def _python_literal(text: str) -> Any:
    """The list or table that a text holds as Python writes it, in single quotes; None where it holds none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        return ast.literal_eval(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _mentions(value: Any, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The (text, kind) pairs in a value: a mention, a table of mentions or of texts with kinds, a list of any."""
    if isinstance(value, list):
        for one in value:
            yield from _mentions(one, known)
    if not isinstance(value, dict):
        return
    table = {str(name).casefold(): content for name, content in value.items()}
    surface, kind = (next((table[name] for name in names if name in table), None) for names in (_TEXT, _KIND))
    if isinstance(surface, str) and isinstance(kind, str):
        yield from [(surface, kind)] if surface.strip() else []
        return
    for name, content in value.items():
        if isinstance(content, list):
            strings = [one for one in content if isinstance(one, str)]
            yield from ((one, str(name)) for one in strings if _folded(str(name)) in known)
            yield from _mentions([one for one in content if not isinstance(one, str)], known)
        elif isinstance(content, str) and _folded(content) in known:
            yield str(name), content


def _is_empty_list(value: Any) -> bool:
    """Whether a value says that a text names nothing: under the name that was asked for, for nothing else shows it."""
    return value == [] or (isinstance(value, dict) and value.get("mentions") == [])


def _folded(kind: str) -> str:
    """A kind as kinds are compared: `Dish Categories` is none of ours, `Dish-Category` and `INGREDIENTS` are."""
    return re.sub(r"[\s-]+", "_", kind.strip().casefold()).removesuffix("s")
