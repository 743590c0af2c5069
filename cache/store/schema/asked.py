"""What rows of several instruments have in common: of a request that is asked now, and of what a model wrote."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requested:
    """A request that a model is asked now, under a setup. Subclasses say in further columns what it asks about."""

    request_id: str  # hash of all that is sent to the model, as in the rows of its answers
    model: str
    setup_id: str | None  # its answers count while this is the model's setup; None of imported ones, which have none


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a model wrote, or why nothing came. Subclasses say in further columns what it was asked about."""

    answer_id: str  # hash of the request, of what it asks about, and of the sample
    request_id: str  # hash of what was sent: model, setup, decoding, text
    model: str
    language: str  # of the job
    topic: str  # of the job
    status: str  # 'ok' | 'failed': nothing came that could be read
    error: str | None = None  # why it failed, one line
    retryable: bool | None = None  # of a failure: worth asking again
    raw: str | None = None  # the model's answer, as it came
    finish_reason: str | None = None  # the server's own word
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model_version: str | None = None  # what the engine says it ran
    purchase: str | None = None  # 'direct' | 'batch': how the answer was bought; None where another run asked
    note: str | None = None  # what of the answer was mended or dropped on arrival, as in `responses`
    named_cost: float | None = None  # as in `responses`
    body: str | None = None  # as in `responses`
