"""Parse the requested value from a language model's answer: from JSON if present, else from the plain text."""

from __future__ import annotations

import re
from typing import Any

import orjson

from polyculture.instruments.swaps.text import AnswerError

_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


def json_value(raw: str, key: str) -> Any:
    """The value under `key` of the JSON object in an answer, ignoring surrounding text; None without an object.

    Raises `AnswerError` if the object lacks that key.
    """
    found = _OBJECT.search(raw)
    if found is None:
        return None
    try:
        answer = orjson.loads(found.group())
    except orjson.JSONDecodeError:
        return None
    if not isinstance(answer, dict) or key not in answer:
        raise AnswerError(f"the answer has no {key!r}")
    return answer[key]


def spoken(raw: str) -> str:
    """The words of an answer, out of the JSON object that they stand in; '' of an object without words."""
    found = _OBJECT.search(raw)
    try:
        answer = orjson.loads(found.group()) if found else raw
    except orjson.JSONDecodeError:
        return raw
    return " ".join(value for value in answer.values() if isinstance(value, str)) if isinstance(answer, dict) else raw


def words(raw: str, key: str) -> str:
    """The text under `key`, '' too, or the first line of an answer that is no JSON.

    Raises `AnswerError` where there is neither.
    """
    value = json_value(raw, key)
    if value is None:
        if "{" in raw:
            raise AnswerError("the answer is no JSON")
        value = raw.strip().partition("\n")[0].strip().strip("\"'`")
        if not value:
            raise AnswerError("the answer is empty")
    if not isinstance(value, str):
        raise AnswerError(f"the answer's {key!r} is no text")
    return value.strip()
