"""Requests and answers of looking inside a model: states that are read or put in their place, and attention.

A model has `depth` layers, the blocks of its stack, numbered from 1. The state of a layer is what its block gives,
before any norm that follows the last one: layer `depth` is not the library's `hidden_states[-1]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from polyculture.generate.engines.base import Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
else:
    Vector = Any

TokenSpan = tuple[int, int]  # from a character up to another, which is no part of it


@dataclass(frozen=True, slots=True)
class StatesRequest:
    """A prompt with its answer; the states of the tokens under `spans` of the answer are summed.

    Without any span, those of the answer's last token are taken.
    """

    request_id: str
    messages: tuple[Message, ...]
    answer: str
    spans: tuple[TokenSpan, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class AnswerStates:
    """The states of an answer at every layer, or the reason why there are none."""

    request_id: str
    states: Vector | None  # [depth, width]: the sum over `tokens` tokens, not divided by their number
    tokens: int = 0
    last_token: bool = False  # no span covered a token: the states are the last token's
    error: str | None = None  # one line; None where there are states
    model_version: str | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """A text that the model continues, greedily. It ends in `placeholder`, whose last token's state is replaced.

    A continuation ends before the first line break, at the model's own end of a text, or after `max_tokens`.
    """

    prompt: str
    placeholder: str
    max_tokens: int = 24


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """The states that replace the placeholder's, by layer. Without any, the model continues the text as it stands."""

    patch_id: str
    states: Mapping[int, Vector] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Continuation:
    """What the model wrote behind a patched placeholder."""

    patch_id: str
    text: str
    tokens: int
    finish_reason: str  # 'line' | 'stop' | 'length' | 'window': the text has no room in it
    model_version: str


@dataclass(frozen=True, slots=True)
class AttentionRequest:
    """A prompt, and the parts of its last message of which the attention is read: `spans`, in characters.

    `bare`: the last message is read as it stands, as continuations are scored behind it; otherwise as an answer to it
    is written.
    """

    request_id: str
    messages: tuple[Message, ...]
    spans: tuple[TokenSpan, ...]
    bare: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Attention:
    """The attention of a prompt's last token to the tokens under each span, or the reason why there is none.

    An array per span, of shape [layers, tokens]; layers without attention are no part of it. `weights` are means over
    heads, and over all tokens of a layer add up to 1.
    """

    request_id: str
    weights: tuple[Vector, ...] | None
    tokens: int = 0  # of the prompt
    error: str | None = None  # one line; None where there are weights
    model_version: str | None = None
