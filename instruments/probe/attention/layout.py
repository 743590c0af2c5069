"""The tables of attention to options, which of their rows count, and the views on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.store.layout import Layer, Layout, Measure, Requests, Table, Wanted, compose
from polyculture.cache.store.schema.asked import Requested
from polyculture.instruments.questions.layout import LAYOUT as QUESTIONS
from polyculture.instruments.questions.layout import MEASURE as ANSWERED

_OWN = Path(__file__).parent
ASKED = "attention"  # how the names begin of what is asked of attention, among all that the instrument asks


@dataclass(frozen=True, slots=True)
class WantedAttention(Requested):
    """A question under a prompt as a model's attention to its options is read under a setup."""

    question_id: str  # as in `questions`
    prompt: str  # the name of the prompt
    asked_id: str  # hash of the prompt's wording: under another one they do not count


@dataclass(frozen=True, slots=True)
class AttentionRow:
    """How much the last token of a question attends to one of its options."""

    attention_id: str  # hash of request, question, prompt and option
    request_id: str  # hash of what the model reads: model, setup, text, and where the options stand in it
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


WANTED_ATTENTION = Table(
    "wanted_attention",
    WantedAttention,
    requests=Requests("attend", "probe", f"{ASKED} ", about={"question_id": "questions"}),
    same=("request_id", "question_id", "prompt"),
)
ATTENTION = Table(
    "attention",
    AttentionRow,
    key="attention_id",
    unit="weights",
    wanted=Wanted("wanted_attention", ("question_id", "prompt"), of=WANTED_ATTENTION),
)
MEASURE = Measure("attention", (WANTED_ATTENTION, ATTENTION, *ANSWERED.tables))
LAYOUT = compose(
    QUESTIONS,
    Layout((WANTED_ATTENTION, ATTENTION), views=Layer((_OWN / "views.sql",)), measures=(MEASURE,)),
)
