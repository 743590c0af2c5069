"""Requests and answers of reading attention: what the last token of a prompt attends to, before anything is written."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.generate.engines.base import Message
from polyculture.generate.engines.patching import Span, Vector


@dataclass(frozen=True, slots=True)
class AttentionRequest:
    """A prompt, and the parts of its last message of which the attention is read: `spans`, in characters.

    `bare`: the last message is read as it stands, as continuations are scored behind it; otherwise as an answer to it
    is written. `norms`: the norms of weighted values are read, too.
    """

    request_id: str
    messages: tuple[Message, ...]
    spans: tuple[Span, ...]
    bare: bool = False
    norms: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Attention:
    """The attention of a prompt's last token to the tokens under each span, or the reason why there is none.

    An array per span, of shape [layers, tokens]; layers without attention are no part of it. `weights` are means over
    heads, and over all tokens of a layer add up to 1. `norms` are lengths of what a token adds to the state of the last
    one: of the sum over heads of weight times value, through the output projection, without its bias (Kobayashi et al.
    2020, section 4.2).
    """

    request_id: str
    weights: tuple[Vector, ...] | None
    norms: tuple[Vector, ...] | None = None
    tokens: int = 0  # of the prompt
    error: str | None = None  # one line; None where there are weights
    model_version: str | None = None
