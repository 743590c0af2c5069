"""Read what the last token of a prompt attends to, without the attention of all other tokens.

All tokens but the last are read as ever, into a cache of keys and values; the last one alone by the model's own plain
('eager') attention, which gives its weights. What is held is a row per head and layer, not a square: soft caps,
windows, shared heads and masks are the model's own. Any model with attention and a cache can be read so, also one
whose attention cannot be replaced by a function of ours (transformers' `AttentionInterface`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import torch
from transformers import PreTrainedModel

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.patching import Attention, AttentionRequest, TokenSpan, Vector
from polyculture.generate.engines.transformers.loading import Loaded, tokens_of
from polyculture.generate.engines.transformers.passes import need_finite

_AT_ONCE = 64  # prompts among which those of equal length are read together
_REMEDY = "Name a decoder with attention, as those of Llama, Qwen, Gemma, Mistral or GPT-2 are."

RenderedText = tuple[str, bool]  # a prompt as the model reads it, and whether the tokenizer adds its special tokens
RenderAttended = Callable[[AttentionRequest], RenderedText]


@dataclass(frozen=True, slots=True)
class _PromptTokens:
    """A prompt as tokens, and the places of the tokens under each span."""

    request: AttentionRequest
    ids: tuple[int, ...]
    places: tuple[tuple[int, ...], ...]


class AttentionReader:
    """Reads attention of one loaded causal model, which errors call `name`. A pass reads at most `most` tokens."""

    def __init__(self, loaded: Loaded, name: str, most: int, *, bos: bool = False) -> None:
        self._loaded, self._name, self._most, self._bos = loaded, name, most, bos

    def read(self, requests: Iterable[AttentionRequest], render: RenderAttended) -> Iterator[Attention]:
        """The attention of each prompt. `render` makes the text that the model reads of a request's messages.

        Raises `EngineError` where the model does not give its attention.
        """
        waiting = iter(requests)
        while some := list(islice(waiting, _AT_ONCE)):
            prompts = [self._prompt(request, *render(request)) for request in some]
            yield from (one for one in prompts if isinstance(one, Attention))
            whole = sorted((one for one in prompts if isinstance(one, _PromptTokens)), key=_length)
            for length, alike in groupby(whole, key=_length):
                while batch := list(islice(alike, max(1, self._most // length))):
                    yield from self._attention(batch)

    def _prompt(self, request: AttentionRequest, text: str, special: bool) -> _PromptTokens | Attention:
        content = request.messages[-1].content
        start = text.rfind(content.strip())  # many templates take away what stands around it
        at = start - content.find(content.strip())
        if start < 0:
            return _failed(request, "the chat template does not show the message as it stands")
        if request.bare:  # continuations are scored before the token that ends a text
            ids, offsets = tokens_of(self._loaded, text, bos=self._bos)
        else:
            read = self._loaded.tokenizer(text, add_special_tokens=special, return_offsets_mapping=True)
            ids, offsets = list(read["input_ids"]), list(read["offset_mapping"])
        if why := self._loaded.too_long(len(ids)):
            return _failed(request, why)
        if len(ids) < 2:
            return _failed(request, "the prompt has no token before its last one")
        places = tuple(tuple(_under(offsets, (at + start, at + end))) for start, end in request.spans)
        if not all(places):
            return _failed(request, f"no token stands under span {places.index(()) + 1} of the message")
        return _PromptTokens(request, tuple(ids), places)

    @torch.inference_mode()
    def _attention(self, batch: Sequence[_PromptTokens]) -> Iterator[Attention]:
        length = len(batch[0].ids)
        fed = torch.tensor([prompt.ids for prompt in batch], device=self._loaded.model.device)
        layers = self._last_rows(fed)
        for row, prompt in enumerate(batch):
            flat = sorted({place for span in prompt.places for place in span})
            at = {place: number for number, place in enumerate(flat)}
            parts = [[at[place] for place in span] for span in prompt.places]
            weights = torch.stack([_at_places(layer[row].float().mean(0), flat, length) for layer in layers])
            need_finite(weights, self._loaded.version, "attention weights")
            yield Attention(prompt.request.request_id, _split(weights, parts), length, None, self._loaded.version)

    def _last_rows(self, fed: torch.Tensor) -> list[torch.Tensor]:
        """The attention of each prompt's last token, layer by layer: [prompts, heads, keys].

        A window keeps the last keys of a prompt alone.
        """
        body: Any = self._loaded.model.base_model
        kept = getattr(body(input_ids=fed[:, :-1], use_cache=True), "past_key_values", None)
        if kept is None:
            raise EngineError("keeps no keys and values of attention", where=self._name, remedy=_REMEDY)
        with _plainly(self._loaded.model):
            output = body(
                input_ids=fed[:, -1:], attention_mask=torch.ones_like(fed), past_key_values=kept, use_cache=True,
                output_attentions=True,
            )  # fmt: skip
        given = getattr(output, "attentions", None) or ()
        rows = [one[:, :, -1] for one in given if one is not None]
        if not rows:
            raise EngineError("gives no attention weights", where=self._name, remedy=_REMEDY)
        return rows


@contextmanager
def _plainly(model: PreTrainedModel) -> Iterator[None]:
    """The model with its own plain attention, which alone gives weights."""
    before = model.config._attn_implementation
    if before == "eager":
        yield
        return
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def _at_places(of_keys: torch.Tensor, places: Sequence[int], length: int) -> torch.Tensor:
    """The last dimension, keys, at places of a prompt of `length` tokens; 0 at those before the window."""
    away = length - of_keys.shape[-1]
    chosen = torch.tensor([max(0, place - away) for place in places], device=of_keys.device)
    seen = torch.tensor([place >= away for place in places], device=of_keys.device)
    return of_keys[..., chosen] * seen


def _split(rows: torch.Tensor, parts: Sequence[Sequence[int]]) -> tuple[Vector, ...]:
    """[layers, places] -> [layers, tokens] of each part."""
    whole = rows.cpu().numpy()
    return tuple(whole[:, list(part)] for part in parts)


def _under(offsets: Sequence[TokenSpan], span: TokenSpan) -> Iterator[int]:
    return (place for place, (start, end) in enumerate(offsets) if start < span[1] and span[0] < end)


def _length(prompt: _PromptTokens) -> int:
    return len(prompt.ids)


def _failed(request: AttentionRequest, why: str) -> Attention:
    return Attention(request.request_id, None, error=why)
