"""Read what the last token of a prompt attends to, without the attention of all other tokens.

All tokens but the last are read as ever, into a cache of keys and values; the last one alone by the model's own plain
('eager') attention, which gives its weights. What is held is a row per head and layer, not a square: soft caps,
windows, shared heads and masks are the model's own. Any model with attention and a cache can be read so, also one
whose attention cannot be replaced by a function of ours (transformers' `AttentionInterface`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from math import inf
from typing import Any

import torch
from transformers import PreTrainedModel

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.patching import Attention, AttentionRequest, Span, Vector
from polyculture.generate.engines.transformers.batches import need_finite
from polyculture.generate.engines.transformers.loading import Loaded

_AT_ONCE = 64  # prompts among which those of equal length are read together
_REMEDY = "Name a decoder with attention, as those of Llama, Qwen, Gemma, Mistral or GPT-2 are."
_NO_NORM = "Leave the norm out: weights alone can be read of it."
# How far the weighted values may be from what the output projection reads, relative to their length.
_TOLERANCE, _HALF_TOLERANCE = 1e-3, 0.05

Text = tuple[str, bool]  # a prompt as the model reads it, and whether the tokenizer adds its special tokens
Render = Callable[[AttentionRequest], Text]


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A prompt as tokens, and the places of the tokens under each span."""

    request: AttentionRequest
    ids: tuple[int, ...]
    places: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer that attends, for prompts of equal length. A window keeps the last keys of a prompt alone."""

    weights: torch.Tensor  # [prompts, heads, keys]
    values: torch.Tensor | None  # [prompts, heads of values, keys, width]


class AttentionReader:
    """Reads attention of one loaded causal model, which errors call `name`. A pass reads at most `most` tokens."""

    def __init__(self, loaded: Loaded, name: str, most: int, *, bos: bool = False) -> None:
        self._loaded, self._name, self._most = loaded, name, most
        self._bos = loaded.tokenizer.bos_token_id if bos else None
        self._projections = _Projections(loaded.model)

    def read(self, requests: Iterable[AttentionRequest], render: Render) -> Iterator[Attention]:
        """The attention of each prompt. `render` makes the text that the model reads of a request's messages.

        Raises `EngineError` where the model does not give its attention, or not the norms that are asked for.
        """
        waiting = iter(requests)
        while some := list(islice(waiting, _AT_ONCE)):
            prompts = [self._prompt(request, *render(request)) for request in some]
            yield from (one for one in prompts if isinstance(one, Attention))
            whole = sorted((one for one in prompts if isinstance(one, _Prompt)), key=_kind)
            for (length, _), alike in groupby(whole, key=_kind):
                while batch := list(islice(alike, max(1, self._most // length))):
                    yield from self._attention(batch)

    def _prompt(self, request: AttentionRequest, text: str, special: bool) -> _Prompt | Attention:
        content = request.messages[-1].content
        start = text.rfind(content.strip())  # many templates take away what stands around it
        at = start - content.find(content.strip())
        if start < 0:
            return _failed(request, "the chat template does not show the message as it stands")
        read = self._loaded.tokenizer(
            text, add_special_tokens=special, return_offsets_mapping=True, return_special_tokens_mask=True
        )
        ids, offsets = list(read["input_ids"]), list(read["offset_mapping"])
        added = list(read["special_tokens_mask"])
        while request.bare and added and added[-1]:  # continuations are scored before the token that ends a text
            ids, offsets, added = ids[:-1], offsets[:-1], added[:-1]
        if request.bare and self._bos is not None and not (added and added[0]):
            ids, offsets = [self._bos, *ids], [(0, 0), *offsets]
        if len(ids) > self._loaded.window:
            why = f"{len(ids)} tokens are more than the {self._loaded.window} that the model reads"
            return _failed(request, why)
        if len(ids) < 2:
            return _failed(request, "the prompt has no token before its last one")
        places = tuple(tuple(_under(offsets, (at + start, at + end))) for start, end in request.spans)
        if not all(places):
            return _failed(request, f"no token stands under span {places.index(()) + 1} of the message")
        return _Prompt(request, tuple(ids), places)

    @torch.inference_mode()
    def _attention(self, batch: Sequence[_Prompt]) -> Iterator[Attention]:
        norms, length = batch[0].request.norms, len(batch[0].ids)
        fed = torch.tensor([prompt.ids for prompt in batch], device=self._loaded.model.device)
        layers = self._last_rows(fed, norms)
        for row, prompt in enumerate(batch):
            flat = sorted({place for span in prompt.places for place in span})
            at = {place: number for number, place in enumerate(flat)}
            parts = [[at[place] for place in span] for span in prompt.places]
            weights = torch.stack([_at_places(layer.weights[row].float().mean(0), flat, length) for layer in layers])
            need_finite(weights, self._loaded.version, "attention weights")
            lengths = None
            if norms:
                rows = [self._norms(number, layer, row, flat, length) for number, layer in enumerate(layers)]
                lengths = _split(torch.stack(rows), parts)
            yield Attention(
                prompt.request.request_id, _split(weights, parts), lengths, length, None, self._loaded.version
            )

    def _last_rows(self, fed: torch.Tensor, norms: bool) -> list[_Layer]:
        """The attention of each prompt's last token, layer by layer; with `norms`, the values that it weighs, too."""
        body: Any = self._loaded.model.base_model
        kept = getattr(body(input_ids=fed[:, :-1], use_cache=True), "past_key_values", None)
        if kept is None:
            raise EngineError("keeps no keys and values of attention", where=self._name, remedy=_REMEDY)
        before = _values(kept)
        with ExitStack() as stack:
            stack.enter_context(_plainly(self._loaded.model))
            if norms:
                stack.enter_context(self._projections)
            output = body(
                input_ids=fed[:, -1:], attention_mask=torch.ones_like(fed), past_key_values=kept, use_cache=True,
                output_attentions=True,
            )  # fmt: skip
        given = getattr(output, "attentions", None) or ()
        rows = [one[:, :, -1] for one in given if one is not None]
        if not rows:
            raise EngineError("gives no attention weights", where=self._name, remedy=_REMEDY)
        if not norms:
            return [_Layer(row, None) for row in rows]
        after = _values(kept)
        if not len(before) == len(after) == len(rows):
            raise EngineError("does not keep one set of values per layer", where=self._name, remedy=_NO_NORM)
        values = [torch.cat([old, new[:, :, -1:]], dim=2) for old, new in zip(before, after, strict=True)]
        return [_Layer(row, value) for row, value in zip(rows, values, strict=True)]

    def _norms(self, number: int, layer: _Layer, row: int, places: Sequence[int], length: int) -> torch.Tensor:
        """The lengths of what the tokens at `places` add to the last one's state in a layer: [places]."""
        weights, values = layer.weights[row], layer.values
        if values is None or values.shape[2] != weights.shape[1] or len(weights) % values.shape[1]:
            raise EngineError("keeps values that do not fit its weights", where=self._name, remedy=_NO_NORM)
        own = values[row].repeat_interleave(len(weights) // values.shape[1], dim=0)  # [heads, keys, width]
        whole = torch.einsum("hk,hkw->hw", weights.to(own.dtype), own).flatten()
        project = self._projections.of(number, row, whole)
        if project is None:
            what = "has no linear output projection that reads what its heads give"
            raise EngineError(what, where=self._name, remedy=_NO_NORM)
        parts = _at_places(weights, places, length)[..., None] * _at_places(own.transpose(1, 2), places, length).mT
        added = parts.transpose(0, 1).flatten(1)  # [places, heads x width]
        lengths: torch.Tensor = (project(added) - project(torch.zeros_like(added[:1]))).float().norm(dim=-1)
        return lengths


class _Projections:
    """What each linear part of a model reads of the last token, while it is entered: so that the one is found that
    reads what the heads of a layer give, whatever it is called."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._linear = [one for one in model.base_model.modules() if getattr(_weight(one), "ndim", 0) == 2]
        self._read: dict[torch.nn.Module, torch.Tensor] = {}
        self._known: dict[int, torch.nn.Module] = {}  # layer -> the part that was found for another prompt
        self._tolerance = _TOLERANCE if model.dtype == torch.float32 else _HALF_TOLERANCE

    def __enter__(self) -> None:
        self._read.clear()
        self._hooks = [one.register_forward_pre_hook(self._see) for one in self._linear]

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()

    def of(self, layer: int, row: int, read: torch.Tensor) -> torch.nn.Module | None:
        """The part that reads `read` [heads x width] of a prompt's last token; None where none does."""
        most = self._tolerance * float(read.float().norm())
        if (known := self._known.get(layer)) is not None and self._away(known, row, read) <= most:
            return known
        nearest = min(self._read, key=lambda one: self._away(one, row, read), default=None)
        if nearest is None or self._away(nearest, row, read) > most:
            return None
        self._known[layer] = nearest
        return nearest

    def _away(self, module: torch.nn.Module, row: int, read: torch.Tensor) -> float:
        seen = self._read.get(module)
        return inf if seen is None or seen.shape[-1] != len(read) else float((seen[row] - read).float().norm())

    def _see(self, module: torch.nn.Module, given: tuple[Any, ...]) -> None:
        if given and isinstance(given[0], torch.Tensor) and given[0].ndim == 3:
            self._read[module] = given[0][:, -1]


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


def _values(kept: Any) -> list[torch.Tensor]:
    """The values that a cache holds, of the layers that attend: [prompts, heads of values, keys, width] each."""
    values = (getattr(layer, "values", None) for layer in getattr(kept, "layers", ()))
    return [one for one in values if isinstance(one, torch.Tensor) and one.ndim == 4]


def _weight(module: torch.nn.Module) -> Any:
    return None if isinstance(module, torch.nn.Embedding) else getattr(module, "weight", None)


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


def _under(offsets: Sequence[Span], span: Span) -> Iterator[int]:
    return (place for place, (start, end) in enumerate(offsets) if start < span[1] and span[0] < end)


def _kind(prompt: _Prompt) -> tuple[int, bool]:
    return len(prompt.ids), prompt.request.norms


def _failed(request: AttentionRequest, why: str) -> Attention:
    return Attention(request.request_id, None, error=why)
