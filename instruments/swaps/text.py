"""A context with an entity in its gap, and what is read of an answer about it.

The requested value is read from JSON where an answer has it, else from its plain text.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from polyculture.instruments.datasets.model import MASK, CulturalEntity, MaskedContext


class AnswerError(ValueError):
    """An answer not in the requested form; no part of it is used."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A context with an entity in its gap."""

    context: MaskedContext
    entity: CulturalEntity

    @property
    def text(self) -> str:
        return self.context.text.replace(MASK, self.entity.surface)

    @property
    def span(self) -> tuple[int, int]:
        """The position of the entity in the text, in characters."""
        start = len(self.context.prefix)
        return start, start + len(self.entity.surface)


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer as it was understood, and what of it is right; the columns of `SwapReading` of these names."""

    answer: str | None = None
    matched: int | None = None
    predicted: int | None = None
    elsewhere: int | None = None
    strict: int | None = None  # qa, ner: as `matched`, but character by character
    strict_predicted: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A reader's result for an answer: its score, or the reason for its failure."""

    judged: Judged | None
    error: str | None = None
    refused: bool | None = None  # the model declined in words; None where nobody looked

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of `SwapReading` that a reader fills."""
        status = "failed" if self.judged is None else "ok"
        return {"status": status, "error": self.error, "refused": self.refused, **asdict(self.judged or Judged())}


def answer_schema(key: str, value: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with one key."""
    return {"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": False}


_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


def json_object(raw: str) -> dict[str, Any] | None:
    """The JSON object in an answer, ignoring surrounding text; None without one."""
    found = _OBJECT.search(raw)
    with suppress(orjson.JSONDecodeError):
        return dict(orjson.loads(found.group())) if found else None
    return None


def json_value(raw: str, key: str) -> Any:
    """The value under `key` of the JSON object in an answer; None without an object.

    Raises `AnswerError` if the object lacks that key.
    """
    answer = json_object(raw)
    if answer is not None and key not in answer:
        raise AnswerError(f"the answer has no {key!r}")
    return None if answer is None else answer[key]


def spoken(raw: str) -> str:
    """The words of an answer, out of the JSON object that they stand in; '' of an object without words."""
    answer = json_object(raw)
    return raw if answer is None else " ".join(value for value in answer.values() if isinstance(value, str))


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
