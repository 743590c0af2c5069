"""The options of the `mock` engine."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from polyculture.generate.engines.options import PACE, Options

Failure = Literal["transient", "permanent", "refusal", "content_filter", "length"]


class MockOptions(Options):
    """Options of the `mock` engine."""

    answers: Annotated[str | None, PACE] = None  # a TOML or JSON file; its content is part of the setup, not its path
    fail_share: float = Field(default=0.0, ge=0, le=1)  # of the samples and continuations
    fail_as: Failure = "transient"
    dies_after: Annotated[int | None, PACE] = Field(default=None, ge=0)  # answers, then the engine itself fails
    reasoning: str | None = None  # written before each answer, in tags
    latency: Annotated[float, PACE] = Field(default=0.0, ge=0)  # seconds for one answer
