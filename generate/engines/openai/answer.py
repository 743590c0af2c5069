"""The fields of a chat completion that this engine reads. Servers differ in the others."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field


class Said(BaseModel):
    """The model's message, or its refusal."""

    content: str | None = None
    refusal: str | None = None
    # The reasoning field of DeepSeek and older vLLM, and of newer vLLM and OpenRouter. Elsewhere it may not be text.
    reasoning_content: Any = None
    reasoning: Any = None

    @property
    def reasoned(self) -> str | None:
        """The reasoning, where the server returns it separately from the answer."""
        return next((text for text in (self.reasoning_content, self.reasoning) if isinstance(text, str) and text), None)


class Choice(BaseModel):
    """One text."""

    message: Said
    finish_reason: str | None = None


class CompletionDetails(BaseModel):
    """The breakdown of the completion tokens."""

    reasoning_tokens: int | None = None


class Usage(BaseModel):
    """Prompt and completion tokens; reasoning tokens count as completion tokens."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    completion_tokens_details: CompletionDetails | None = None

    @property
    def reasoning_tokens(self) -> int | None:
        details = self.completion_tokens_details
        return None if details is None else details.reasoning_tokens


class ChatAnswer(BaseModel):
    """A chat completion: https://platform.openai.com/docs/api-reference/chat/object"""

    choices: Annotated[list[Choice], Field(min_length=1)]
    usage: Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None
