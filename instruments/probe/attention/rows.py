"""What the last token of a question attends to: a row per option, and tests on these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polyculture.cache.layout import Table

Measure = Literal["weight", "norm"]


@dataclass(frozen=True, slots=True)
class AttentionRow:
    """How much the last token of a question attends to one of its options."""

    attention_id: str  # hash of asked_id, model, setup, question and option
    asked_id: str  # hash of all that decides the weight but model and question: wording, method, measure
    setup_id: str | None  # hash of which model it is, exactly
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
    q: float | None  # false discovery rate over all tests of this kind, measure, model, set, method, reader and prompt
    note: str | None  # why there is no p, or what is wrong with the test


ATTENTION = Table("attention", AttentionRow, key="attention_id", unit="weights")
ATTENTION_TESTS = Table("attention_tests", AttentionTestRow)
