"""A context with an entity in its gap, and the scoring of answers about it.

The requested value is read from JSON where an answer has it, else from its plain text. A reader makes of a stored
answer its score, or the reason why it has none.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Protocol

import orjson

from polyculture.cache.identity import content_id
from polyculture.generate.engines.answer import NO_ANSWER, text_in
from polyculture.generate.refusals import is_refusal, refusal_rules_id
from polyculture.instruments.datasets.model import MASK, CulturalEntity, MaskedContext
from polyculture.instruments.swaps.prompts import Prompts


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
    def status(self) -> str:
        """'ok' | 'failed'."""
        return "failed" if self.judged is None else "ok"

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of `SwapReading` that a reader fills."""
        judged = asdict(self.judged or Judged())
        return {"status": self.status, "error": self.error, "refused": self.refused, **judged}


class Task(Protocol):
    """The prompt to a language model about a text."""

    name: str
    max_tokens: int

    def prompt(self, filled: Filled, prompts: Prompts) -> str:
        """The question, in the language of `prompts`."""
        ...

    def schema(self, prompts: Prompts) -> dict[str, Any]:
        """The JSON schema of an answer."""
        ...

    def wording(self, prompts: Prompts) -> Any:
        """The part of `prompts` that determines answers and their scores."""
        ...

    def asked(self, prompts: Prompts) -> dict[str, str]:
        """The templates of the question, by name, as they are recorded with the answers."""
        ...

    def judge(self, raw: str, filled: Filled, prompts: Prompts, own: Prompts) -> Judged:
        """The score of an answer. `own` holds the prompts in the text's language, which set the comparison of words.

        Raises `AnswerError`, one line, where it cannot be understood.
        """
        ...


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


VERSION = 2  # of the rules in the code that decide what an answer is worth: raise it when they change
REFUSED = "refused"
AT_LIMIT = " (it was cut at the token limit)"


class Reader(Protocol):
    """Reads answers to one question."""

    @property
    def reader_id(self) -> str:
        """A hash of everything that determines an answer's score."""
        ...

    def read(self, raw: str, filled: Filled, *, cut: bool = False) -> Reading:
        """The score of an answer as it came; `cut`: at the token limit."""
        ...


@dataclass(frozen=True)
class PromptReader:
    """Reads language models' answers to a task's questions in one language."""

    task: Task
    prompts: Prompts  # in the language of the question: the words of its labels
    own: Prompts  # in the language of the text: how its words are compared

    @cached_property
    def reader_id(self) -> str:
        refusals = refusal_rules_id(self.prompts.language)
        wording = self.task.wording(self.prompts)
        return content_id("swap reader", VERSION, self.task.name, wording, self.own.compared, refusals)

    def read(self, raw: str, filled: Filled, *, cut: bool = False) -> Reading:
        """What is said behind the reasoning. An answer that declines is a refusal, whatever its words."""
        answer = text_in(raw)
        if answer is None:
            return Reading(None, NO_ANSWER)
        refused = is_refusal(spoken(answer), self.prompts.language)
        try:
            judged = self.task.judge(answer, filled, self.prompts, self.own)
        except AnswerError as fault:
            return Reading(None, f"{fault}{AT_LIMIT if cut else ''}", refused)
        return Reading(None, REFUSED, refused) if refused else Reading(judged, refused=refused)
