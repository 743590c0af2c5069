"""The answer of a chat completion, as far as it is used. Servers differ in all the rest."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field


class Said(BaseModel):
    """What the model said, or why it refused."""

    content: str | None = None
    refusal: str | None = None


class Choice(BaseModel):
    """One text."""

    message: Said
    finish_reason: str | None = None


class Usage(BaseModel):
    """Tokens that were read and written."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ChatAnswer(BaseModel):
    """A chat completion: https://platform.openai.com/docs/api-reference/chat/object"""

    choices: Annotated[list[Choice], Field(min_length=1)]
    usage: Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None
