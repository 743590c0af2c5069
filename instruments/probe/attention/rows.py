"""What the last token of a question attends to: a row per option, and tests on these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polyculture.cache.layout import Table, Wanted

Measure = Literal["weight", "norm"]


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

    attention_id: str  # hash of request, question, prompt, measure and option
    request_id: str  # hash of what the model reads: model, setup, text, and where the options stand in it
    measure: str  # 'weight' of attention | 'norm' of the weighted value, through the output projection
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


@dataclass(frozen=True, slots=True)
class AttentionTestRow:
    """A test of whether some options of a question are attended to more than others, two-sided."""

    measure: str  # 'weight' | 'norm'
    method: str
    model: str
    dataset: str
    language: str
    reader: str
    prompt: str  # the name of the prompt
    type: str  # of the questions; '' where they have none
    target: str  # the level or region of the targets, by the type of the questions; '' of all
    answers: str  # of which answers: 'right' | 'wrong'
    comparison: str  # as 'chosen against the rest'
    kind: str  # 'paper' | 'sound'
    test: str  # how: 't, independent' of options; 't, paired over units'
    first: float  # mean z of the first options
    second: float  # mean z of the second ones
    first_size: int  # options; of the paired test units
    second_size: int | None  # options; None of the paired test
    low: float | None  # 95 % interval of first - second; None of the independent test
    high: float | None
    statistic: float | None  # t; None where nothing varies
    p: float | None  # two-sided; None where nothing varies
    q: float | None  # false discovery rate by kind, measure, model, set, method, reader, prompt; single targets apart
    note: str | None  # why there is no p, or what is wrong with the test


WANTED_ATTENTION = Table("wanted_attention", WantedAttention)
ATTENTION = Table(
    "attention",
    AttentionRow,
    key="attention_id",
    unit="weights",
    wanted=Wanted("wanted_attention", ("question_id", "prompt")),
)
ATTENTION_TESTS = Table("attention_tests", AttentionTestRow)
