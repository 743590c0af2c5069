"""What a probe takes, on paper: answers, continuations, memory, and the time that arithmetic leaves at least.

A step writes one token of a batch. It takes what is longer, computing (two operations per parameter and row) or reading
(all weights, and the cache of all rows), and a fixed time per layer, which a program in Python spends on calls. The
figures are for a GPU of 80 GB (an A100: half of its peak, three quarters of its bandwidth), and are no measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from polyculture.generate.engines.shape import ModelShape

OPERATIONS = 1.5e14  # a second: half of 312 TFLOP/s
BANDWIDTH = 1.5e12  # bytes a second: three quarters of 2 TB/s
CALLS = 0.3e-3  # seconds per layer and step
WITHOUT_LAYERS = frozenset({"text", "unpatched"})  # arms with one continuation per question
_STATE = 4  # bytes of a number of a state, which is kept in single precision
_LOGIT = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of a model."""

    questions: int
    arms: Sequence[str]
    question_tokens: int  # of all questions together
    answer_tokens: int  # of an answer, at most
    prompt_tokens: int  # of the inspection text
    item_tokens: int  # of a continuation, at most
    part: int  # questions whose states are held at the same time


@dataclass(frozen=True, slots=True)
class Forecast:
    """The work and the memory of a plan, in bytes and seconds; tokens and seconds at most, as answers may end early."""

    answers: int
    continuations: int
    written: int  # tokens of answers and continuations
    read: int  # tokens of questions, and of questions with answers once more for their states
    weights: int
    cache: int  # of a batch of continuations
    logits: int
    states: int
    seconds: float
    singly: float  # seconds if each continuation ran alone, with the prompt read anew

    @property
    def gpu(self) -> int:
        """Bytes on the GPU."""
        return self.weights + self.cache + self.logits


def forecast(shape: ModelShape, plan: Plan) -> Forecast:
    """The work of all questions under all arms."""
    layered = sum(arm not in WITHOUT_LAYERS for arm in plan.arms)
    continuations = plan.questions * (layered * shape.layers + len(plan.arms) - layered)
    length = plan.prompt_tokens + plan.item_tokens
    answering = ceil(plan.questions / shape.texts_at_once) * plan.answer_tokens
    writing = ceil(continuations / shape.patches_at_once) * plan.item_tokens
    read = 2 * plan.question_tokens + plan.questions * plan.answer_tokens
    reading = 2 * shape.parameters * read / OPERATIONS
    asked = plan.question_tokens / max(plan.questions, 1) + plan.answer_tokens
    seconds = (
        reading
        + answering * _step(shape, shape.texts_at_once, asked)
        + writing * _step(shape, shape.patches_at_once, length)
    )
    alone = continuations * (plan.item_tokens * _step(shape, 1, length) + _step(shape, plan.prompt_tokens, 1))
    return Forecast(
        answers=plan.questions,
        continuations=continuations,
        written=plan.questions * plan.answer_tokens + continuations * plan.item_tokens,
        read=read,
        weights=shape.weights,
        cache=shape.patches_at_once * length * shape.cache_of_token,
        logits=shape.patches_at_once * shape.vocabulary * _LOGIT,
        states=plan.part * shape.layers * shape.width * _STATE,
        seconds=seconds,
        singly=reading + answering * _step(shape, shape.texts_at_once, asked) + alone,
    )


def _step(shape: ModelShape, rows: int, length: float) -> float:
    """Seconds of a pass over one token of each row, behind `length` tokens that are cached."""
    computing = 2 * shape.parameters * rows / OPERATIONS
    moving = (shape.weights + rows * length * shape.cache_of_token) / BANDWIDTH
    return max(computing, moving) + shape.layers * CALLS
