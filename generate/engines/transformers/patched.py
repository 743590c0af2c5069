"""Continue a text whose placeholder's state is replaced, for many patches at a time.

The inspection's prompt is the same for all patches: its prefix is computed once, and its key-value cache repeated for
each batch of patches, whose rows may differ in their layers. A model whose cache holds more than keys and values reads
the whole prompt for each patch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, GenerationConfig, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.answer import read_text
from polyculture.generate.engines.patching import Continuation, Inspection, Patch
from polyculture.generate.engines.transformers.loading import Loaded, tokens_of
from polyculture.generate.engines.transformers.passes import (
    StateChange,
    decoder_of,
    hooked,
    padded,
    padding_of,
    stop_tokens,
)
from polyculture.generate.engines.transformers.sampling import Finite
from polyculture.generate.engines.transformers.scoring import MASKED_LAYERS, layer_kinds

TokenIds = Sequence[int]


class TextWriter:
    """Continues texts, given as tokens, by one loaded causal model: greedily, each up to its line's end."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded, self._stops, self._breaks = loaded, stop_tokens(loaded), line_breaks(loaded)
        self._decode = decoder_of(loaded.tokenizer)

    def write(self, texts: Iterable[tuple[str, TokenIds]], most: int, rows: int) -> Iterator[Continuation]:
        """A continuation of at most `most` tokens per text, in order, `rows` at a time.

        A text that has no room in the model's window has the finish reason 'window', and no continuation.
        """
        waiting = iter(texts)
        while batch := list(islice(waiting, rows)):
            fit = [len(ids) + most <= self._loaded.window for _, ids in batch]
            fitting = [ids for (_, ids), fits in zip(batch, fit, strict=True) if fits]
            written = iter(self._continued(fitting, most) if fitting else [])
            for (name, _), fits in zip(batch, fit, strict=True):
                yield self._told(name, next(written)) if fits else self._continuation(name, [], "window")

    def _continued(self, texts: Sequence[TokenIds], most: int, **more: Any) -> list[list[int]]:
        """The tokens behind each text."""
        output = self._generated(texts, most, **more)
        rows: list[list[int]] = output.sequences[:, max(map(len, texts)) :].tolist()
        return rows

    @torch.inference_mode()
    def _generated(self, texts: Sequence[TokenIds], most: int, **more: Any) -> Any:
        model: Any = self._loaded.model
        habits: Any = GenerationConfig  # the model's own (penalties, temperatures) would change what is greedy
        padding = padding_of(self._loaded)
        fed, read = padded(texts, model.device, padding, left=True)
        return model.generate(
            input_ids=fed,
            attention_mask=read,
            generation_config=habits(
                eos_token_id=sorted(self._stops),
                pad_token_id=padding,
                max_new_tokens=most,
                do_sample=False,
                return_dict_in_generate=True,
            ),
            logits_processor=LogitsProcessorList([Finite(self._loaded.version)]),
            stopping_criteria=StoppingCriteriaList([_LineEnd(self._breaks)]),
            **more,
        )

    def _told(self, name: str, written: TokenIds) -> Continuation:
        for place, token in enumerate(written):
            if token in self._stops:
                return self._continuation(name, written[:place], "stop")
            if self._breaks(token):
                return self._continuation(name, written[: place + 1], "line")
        return self._continuation(name, written, "length")

    def _continuation(self, name: str, written: TokenIds, end: str) -> Continuation:
        text, specials = self._decode(written)
        answer = read_text(text.partition("\n")[0], "length" if end == "length" else "stop", specials=specials)
        end = "stop" if end == "length" and answer.ending == "whole" else end  # a mark ended it that stops no text
        return Continuation(name, answer.text or "", len(written), end, self._loaded.version)


class PatchedWriter(TextWriter):
    """Continues one inspection's prompt by one loaded causal model, whose blocks are `layers`.

    `name` is what errors call it. Raises `EngineError` where the placeholder is not one token at the end of the prompt.
    """

    def __init__(
        self, loaded: Loaded, layers: Sequence[torch.nn.Module], inspection: Inspection, name: str, *, bos: bool = False
    ) -> None:
        super().__init__(loaded)
        self._layers, self._inspection, self._name = layers, inspection, name
        self._ids = self._prompt(bos)
        # Only a cache of keys and values can be repeated; others carry what the placeholder would change.
        shares = len(self._ids) > 1 and set(layer_kinds(loaded.model)) <= MASKED_LAYERS
        self._prefix = self._read(self._ids[:-1]) if shares else None

    def continue_all(self, patches: Iterable[Patch], rows: int) -> Iterator[Continuation]:
        """A continuation per patch, in order, `rows` at a time."""
        waiting = iter(patches)
        while batch := list(islice(waiting, rows)):
            with self._patched(batch) as kept:
                written = self._continued([self._ids] * len(batch), self._inspection.max_tokens, **kept)
            yield from (self._told(patch.patch_id, tokens) for patch, tokens in zip(batch, written, strict=True))

    @contextmanager
    def _patched(self, patches: Sequence[Patch]) -> Iterator[dict[str, Any]]:
        """The model with each row's states in place of the placeholder's, in its first pass; and the prefix's cache."""
        depth, by_layer = len(self._layers), dict[int, tuple[list[int], list[Any]]]()
        for row, patch in enumerate(patches):
            for layer, state in patch.states.items():
                if not 1 <= layer <= depth:
                    remedy = f"Its layers are 1 to {depth}."
                    raise EngineError(f"has no layer {layer} to patch", where=self._name, remedy=remedy)
                rows, states = by_layer.setdefault(layer, ([], []))
                rows.append(row)
                states.append(state)
        changes = {layer: _replacing(rows, np.stack(states)) for layer, (rows, states) in by_layer.items()}
        kept = {}
        if self._prefix is not None:
            kept["past_key_values"] = copy.deepcopy(self._prefix)
            kept["past_key_values"].batch_repeat_interleave(len(patches))
        with hooked(self._layers, changes):
            yield kept

    def _prompt(self, bos: bool) -> list[int]:
        inspection = self._inspection
        ids, offsets = tokens_of(self._loaded, inspection.prompt, bos=bos)
        starts = len(inspection.prompt) - len(inspection.placeholder)
        if not inspection.prompt.endswith(inspection.placeholder) or not offsets or offsets[-1][0] > starts:
            what = f"the placeholder {inspection.placeholder!r} is not one token at the end of the inspection prompt"
            raise EngineError(what, where=self._name, remedy="Take another placeholder: one short word, such as 'x'.")
        if len(ids) + inspection.max_tokens > self._loaded.window:
            what = f"the inspection prompt's {len(ids)} tokens and {inspection.max_tokens} more exceed its window"
            raise EngineError(what, where=self._name, remedy="Take a shorter inspection prompt.")
        return ids

    @torch.inference_mode()
    def _read(self, ids: Sequence[int]) -> DynamicCache:
        body: Any = self._loaded.model.base_model
        kept = DynamicCache(config=self._loaded.model.config.get_text_config(decoder=True))
        body(input_ids=torch.tensor([list(ids)], device=self._loaded.model.device), past_key_values=kept)
        return kept


def line_breaks(loaded: Loaded) -> Callable[[int], bool]:
    """Whether a token holds a line break."""
    return cache(lambda token: "\n" in loaded.tokenizer.decode([token]))


def _replacing(rows: Sequence[int], states: Any) -> StateChange:
    """Puts states in place of the last token's, once: the tokens that are written behind it stay the model's own."""
    waiting = [True]

    def change(state: torch.Tensor) -> torch.Tensor | None:
        if not waiting:
            return None
        waiting.clear()
        changed = state.clone()
        changed[list(rows), -1] = torch.as_tensor(states, dtype=state.dtype, device=state.device)
        return changed

    return change


class _LineEnd(StoppingCriteria):
    """Ends the rows whose last token holds a line break."""

    def __init__(self, breaks: Callable[[int], bool]) -> None:
        self._breaks = breaks

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> Any:  # noqa: ARG002
        return torch.tensor([self._breaks(token) for token in input_ids[:, -1].tolist()], device=input_ids.device)
