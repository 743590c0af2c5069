"""What the last token of a question attends to: a row per option."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.cache.layout import Table, Wanted


@dataclass(frozen=True, slots=True)
class WantedAttention:
    """A question under a prompt as a model's attention to its options is read under a setup."""

    request_id: str  # as in `attention`
    question_id: str  # as in `questions`
    prompt: str  # the name of the prompt
    model: str
    setup_id: str  # its weights count while this is the model's setup
    asked_id: str  # hash of the prompt's wording and of the method: under another one they do not count


@dataclass(frozen=True, slots=True)
class AttentionRow:
    """How much the last token of a question attends to one of its options."""

    attention_id: str  # hash of request, question, prompt and option
    request_id: str  # hash of what the model reads: model, setup, text, and where the options stand in it
    method: str  # 'generated' | 'text': as this method asks, through the chat template or as it stands
    model: str
    language: str
    topic: str  # of the job: set and category
    question_id: str  # as in `questions`
    prompt: str  # the name of the prompt
    option: int  # the option's place as it is shown, from 0: options are shown as they stand
    weight: float | None  # mean over heads and layers, then the largest of the option's tokens; None of a failure
    tokens: int | None  # of the option
    layers: int | None  # of the model, that attend
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed, one line
    retryable: bool | None  # of a failure: never, as the model would say the same
    model_version: str | None  # what the engine says it ran


WANTED_ATTENTION = Table("wanted_attention", WantedAttention)
ATTENTION = Table(
    "attention",
    AttentionRow,
    key="attention_id",
    unit="weights",
    wanted=Wanted("wanted_attention", ("question_id", "prompt")),
)
