"""Reads an extractor model's answer: JSON with a list of mentions, or the reason why it is none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import orjson

MOST_MENTIONS = 100  # of an answer; one that fills this is not believed to be finished
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


class AnswerError(ValueError):
    """An answer that is not what was asked for: nothing of it is used."""


def answer_schema(kinds: Iterable[str]) -> dict[str, Any]:
    """The JSON schema of an answer: a list of bounded length, of texts with one of the kinds."""
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


def read_answer(text: str, kinds: Iterable[str], finish_reason: str | None) -> list[tuple[str, str]]:
    """The (surface, kind) pairs of a whole answer, in its order. Raises `AnswerError`, one line, for any other."""
    if finish_reason not in (None, "stop"):
        raise AnswerError(f"the answer was cut ({finish_reason})")
    fenced = _FENCE.match(text)
    try:
        answer = orjson.loads(fenced.group(1) if fenced else text)
    except orjson.JSONDecodeError as fault:
        raise AnswerError(f"the answer is no JSON: {fault}") from fault
    mentions = answer.get("mentions") if isinstance(answer, dict) else None
    if not isinstance(mentions, list):
        raise AnswerError("the answer has no list of mentions")
    if len(mentions) >= MOST_MENTIONS:
        raise AnswerError(f"the answer goes on for ever: {len(mentions)} mentions")
    known = set(kinds)
    return [_pair(mention, known) for mention in mentions]


def _pair(mention: Any, known: set[str]) -> tuple[str, str]:
    match mention:
        case {"text": str(surface), "kind": str(kind)} if kind in known:
            return surface, kind
        case {"text": str(), "kind": str(kind)}:
            raise AnswerError(f"the answer has an unknown kind {kind[:40]!r}")
    raise AnswerError("the answer has a mention without text and kind")
