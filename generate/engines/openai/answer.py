"""A chat completion as this engine reads it: https://platform.openai.com/docs/api-reference/chat/object

Servers differ, and some lie: each field is brought into its type, or is None with a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polyculture.cache.sanitize import ResponseSanitizer
from polyculture.generate.engines.metering import Bill, read_usage
from polyculture.generate.engines.openai.attempt import LaterError

LONGEST_NAME = 200  # characters of a finish reason, of a model's name, of a fingerprint
# The reasoning field of DeepSeek and older vLLM, and of newer vLLM and OpenRouter. Elsewhere it may not be text.
_REASONING = ("reasoning_content", "reasoning")


class UselessAnswerError(LaterError):
    """An answer that came and has no chat completion in it. `bill` is what it cost all the same; where it did, it is
    not bought again at once."""

    def __init__(self, reason: str, bill: Bill) -> None:
        super().__init__(reason, again=not bill.completion_tokens)
        self.bill = bill


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """A chat completion: its first choice, and what it cost."""

    text: str | None
    refusal: str | None
    reasoning: str | None
    finish_reason: str | None
    model_version: str | None
    reasoning_tokens: int | None
    bill: Bill
    note: str | None  # what of it was mended or dropped


def read_answer(body: object) -> ChatAnswer:
    """A parsed body as an answer. Raises `UselessAnswerError` where it has no message."""
    sanitizer = ResponseSanitizer()
    answer = body if isinstance(body, Mapping) else {}
    bill, reasoning_tokens = read_usage(answer.get("usage"), sanitizer)
    choice, message = _first_choice(answer.get("choices"))
    text = _text(message, sanitizer)
    if choice is None or message is None or (text is None and message.get("content") is not None):
        # What says that it is an error costs nothing, unless it says that, too.
        free = bill.unknown and "error" in answer
        raise UselessAnswerError("the answer is not a complete chat completion", Bill.nothing() if free else bill)
    reasoned = (message.get(name) for name in _REASONING)
    reasoning = next((part for part in reasoned if isinstance(part, str) and part), None)
    said = (text, sanitizer.text("refusal", message.get("refusal")), sanitizer.text("reasoning", reasoning))
    if bill.completion_tokens == 0 and any(said):
        sanitizer.drop("completion_tokens", "no number of tokens of a text", 0)
        bill = bill.doubted("0 completion tokens for a text")
    names = (sanitizer.text(name, answer.get(name), LONGEST_NAME) for name in ("model", "system_fingerprint"))
    finish_reason = sanitizer.text("finish_reason", choice.get("finish_reason"), LONGEST_NAME)
    version = " ".join(name for name in names if name) or None
    return ChatAnswer(*said, finish_reason, version, reasoning_tokens, bill, sanitizer.note)


def _first_choice(choices: object) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    return (choice, message) if isinstance(choice, Mapping) and isinstance(message, Mapping) else (None, None)


def _text(message: Mapping[str, Any] | None, sanitizer: ResponseSanitizer) -> str | None:
    """The content, which some servers return in parts; None where it is no text."""
    content = None if message is None else message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str)) if any(parts) else None
    return sanitizer.text("text", content) if isinstance(content, str) else None
