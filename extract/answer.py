"""Parses an extractor model's answer: JSON with a list of mentions, else an error with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import orjson

MOST_MENTIONS = 100  # per answer; an answer with as many counts as endless
CUT_SHORT = "the answer was cut"
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


class UnusableAnswerError(ValueError):
    """The answer does not have the requested form: none of it is used."""


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


def read_answer(text: str, kinds: Iterable[str], finish_reason: str | None) -> list[tuple[str, str]]:
    """The (surface, kind) pairs of a complete answer, in its order.

    Raises `UnusableAnswerError`, with a message of one line, for any other answer.
    """
    if finish_reason not in (None, "stop"):
        raise UnusableAnswerError(f"{CUT_SHORT} ({finish_reason})")
    fenced = _FENCE.match(text)
    try:
        answer = orjson.loads(fenced.group(1) if fenced else text)
    except orjson.JSONDecodeError as fault:
        raise UnusableAnswerError(f"the answer is no JSON: {fault}") from fault
    mentions = answer.get("mentions") if isinstance(answer, dict) else None
    if not isinstance(mentions, list):
        raise UnusableAnswerError("the answer has no list of mentions")
    if len(mentions) >= MOST_MENTIONS:
        raise UnusableAnswerError(f"the answer is endless: {len(mentions)} mentions")
    known = set(kinds)
    return [_pair(mention, known) for mention in mentions]


def _pair(mention: Any, known: set[str]) -> tuple[str, str]:
    match mention:
        case {"text": str(surface), "kind": str(kind)} if kind in known:
            return surface, kind
        case {"text": str(), "kind": str(kind)}:
            raise UnusableAnswerError(f"the answer has an unknown kind {kind[:40]!r}")
    raise UnusableAnswerError("the answer has a mention without text and kind")
