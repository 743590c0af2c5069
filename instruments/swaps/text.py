"""A context with an entity in its gap, and the scoring of answers about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

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

    answer: str
    matched: int
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
        judged = self.judged
        return {
            "status": self.status,
            "error": self.error,
            "answer": judged.answer if judged else None,
            "matched": judged.matched if judged else None,
            "predicted": judged.predicted if judged else None,
            "elsewhere": judged.elsewhere if judged else None,
            "strict": judged.strict if judged else None,
            "strict_predicted": judged.strict_predicted if judged else None,
            "refused": self.refused,
        }


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
