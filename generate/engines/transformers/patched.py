"""Continue a text whose placeholder's state is replaced, for many patches at a time.

The inspection's prompt is the same for all patches: its prefix is computed once, and its key-value cache repeated for
each batch of patches, whose rows may differ in their layers. A model whose cache holds more than keys and values reads
the whole prompt for each patch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, GenerationConfig, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.patching import Continuation, Inspection, Patch
from polyculture.generate.engines.transformers.batches import need_finite, padded, padding_of, stop_tokens
from polyculture.generate.engines.transformers.layers import Change, hooked
from polyculture.generate.engines.transformers.loading import Loaded
from polyculture.generate.engines.transformers.sampling import Finite
from polyculture.generate.engines.transformers.tree import MASKED_LAYERS, layer_kinds


class PatchedWriter:
    """Continues one inspection's prompt by one loaded causal model, whose blocks are `layers`.

    `name` is what errors call it. Raises `EngineError` where the placeholder is not one token at the end of the prompt.
    """

    def __init__(
        self, loaded: Loaded, layers: Sequence[torch.nn.Module], inspection: Inspection, name: str, *, bos: bool = False
    ) -> None:
        self._loaded, self._layers, self._inspection, self._name = loaded, layers, inspection, name
        model = loaded.model
        self._stops, self._breaks = stop_tokens(loaded), line_breaks(loaded)
        self._ids = self._prompt(bos)
        # Only a cache of keys and values can be repeated; others carry what the placeholder would change.
        shares = len(self._ids) > 1 and set(layer_kinds(model)) <= MASKED_LAYERS
        self._prefix = self._read(self._ids[:-1]) if shares else None

    def write(self, patches: Iterable[Patch], rows: int) -> Iterator[Continuation]:
        """A continuation per patch, in order, `rows` at a time."""
        waiting = iter(patches)
        while batch := list(islice(waiting, rows)):
            yield from self._continue(batch)

    def first_logits(self, patches: Sequence[Patch]) -> torch.Tensor:
        """The logits of the first token behind the placeholder: [patches, vocabulary]."""
        return self._begin(patches).step()

    def _begin(self, patches: Sequence[Patch]) -> _Writing:
        depth = len(self._layers)
        wrong = [layer for patch in patches for layer in patch.states if not 1 <= layer <= depth]
        if wrong:
            remedy = f"Its layers are 1 to {depth}."
            raise EngineError(f"has no layer {wrong[0]} to patch", where=self._name, remedy=remedy)
        return _Writing(self._loaded, self._layers, self._ids, self._prefix, patches)

    def _continue(self, batch: Sequence[Patch]) -> list[Continuation]:
        writing, ends = self._begin(batch), ["length"] * len(batch)
        for _ in range(self._inspection.max_tokens):
            going = []
            for place, (row, token) in enumerate(
                zip(list(writing.rows), writing.step().argmax(-1).tolist(), strict=True)
            ):
                if token in self._stops:
                    ends[row] = "stop"
                    continue
                writing.written[row].append(token)
                if self._breaks(token):
                    ends[row] = "line"
                else:
                    going.append(place)
            if not going:
                break
            writing.keep(going)
        return [self._told(patch, writing.written[row], ends[row]) for row, patch in enumerate(batch)]

    def _told(self, patch: Patch, written: Sequence[int], end: str) -> Continuation:
        text = self._loaded.tokenizer.decode(written, skip_special_tokens=True).partition("\n")[0]
        return Continuation(patch.patch_id, text, len(written), end, self._loaded.version)

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


class _Writing:
    """A batch that is being written: rows that have ended are fed no more."""

    def __init__(
        self,
        loaded: Loaded,
        layers: Sequence[torch.nn.Module],
        prompt: Sequence[int],
        prefix: DynamicCache | None,
        patches: Sequence[Patch],
    ) -> None:
        self._model, self._version = loaded.model, loaded.version
        self._layers, self._prompt, self._patches = layers, prompt, patches
        self.written: list[list[int]] = [[] for _ in patches]
        self.rows = list(range(len(patches)))  # that are being written
        self._cache: Any = None
        if prefix is not None:
            self._cache = copy.deepcopy(prefix)
            self._cache.batch_repeat_interleave(len(patches))

    def keep(self, places: Sequence[int]) -> None:
        """Goes on with the rows at these places of `rows` alone."""
        if len(places) == len(self.rows):
            return
        self.rows = [self.rows[place] for place in places]
        if self._cache is not None:
            self._cache.batch_select_indices(torch.tensor(places, device=self._model.device))

    @torch.inference_mode()
    def step(self) -> torch.Tensor:
        """The logits of each row's next token: [rows, vocabulary]."""
        first = not any(self.written)
        if self._cache is None:  # the whole text, and the patch, anew for each token
            fed, place, kept = [[*self._prompt, *self.written[row]] for row in self.rows], len(self._prompt) - 1, {}
        else:
            fed = [list(self._prompt[-1:]) if first else self.written[row][-1:] for row in self.rows]
            place, kept = 0, {"past_key_values": self._cache}
        changes = self._changes(place) if first or self._cache is None else {}
        with hooked(self._layers, changes):
            output = self._model(
                input_ids=torch.tensor(fed, device=self._model.device), use_cache=bool(kept), logits_to_keep=1, **kept
            )
        logits: torch.Tensor = output.logits[:, -1]
        need_finite(logits.amax(-1), self._version)
        return logits

    def _changes(self, place: int) -> Mapping[int, Change]:
        """For each layer, the change that puts the states of the rows that are patched there at `place`."""
        by_layer: dict[int, tuple[list[int], list[Any]]] = {}
        for at, row in enumerate(self.rows):
            for layer, state in self._patches[row].states.items():
                places, states = by_layer.setdefault(layer, ([], []))
                places.append(at)
                states.append(state)
        return {layer: _replacing(places, np.stack(states), place) for layer, (places, states) in by_layer.items()}


def line_breaks(loaded: Loaded) -> Callable[[int], bool]:
    """Whether a token holds a line break."""
    return cache(lambda token: "\n" in loaded.tokenizer.decode([token]))


def tokens_of(loaded: Loaded, text: str, *, bos: bool) -> tuple[list[int], list[tuple[int, int]]]:
    """The tokens of a text to be continued, and where they stand in it; the BOS token, if any, stands nowhere."""
    tokenizer = loaded.tokenizer
    read = tokenizer(text, return_offsets_mapping=True)
    ids, offsets = list(read["input_ids"]), list(read["offset_mapping"])
    while offsets and offsets[-1][0] == offsets[-1][1]:  # a token that the tokenizer puts at the end of a text
        ids, offsets = ids[:-1], offsets[:-1]
    if ids and bos and tokenizer.bos_token_id is not None and ids[0] != tokenizer.bos_token_id:
        ids, offsets = [tokenizer.bos_token_id, *ids], [(0, 0), *offsets]
    return ids, offsets


def _replacing(rows: Sequence[int], states: Any, place: int) -> Change:
    def change(state: torch.Tensor) -> torch.Tensor:
        changed = state.clone()
        changed[list(rows), place] = torch.as_tensor(states, dtype=state.dtype, device=state.device)
        return changed

    return change


Tokens = Sequence[int]


class TextWriter:
    """Continues texts, given as tokens, by one loaded causal model."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded, self._stops, self._breaks = loaded, stop_tokens(loaded), line_breaks(loaded)

    def write(self, texts: Iterable[tuple[str, Tokens]], most: int, rows: int) -> Iterator[Continuation]:
        """A continuation of at most `most` tokens per text, in order, `rows` at a time.

        A text that has no room in the model's window has the finish reason 'window', and no continuation.
        """
        waiting = iter(texts)
        while batch := list(islice(waiting, rows)):
            fit = [len(ids) + most <= self._loaded.window for _, ids in batch]
            written = iter(self._batch([ids for (_, ids), fits in zip(batch, fit, strict=True) if fits], most))
            for (name, _), fits in zip(batch, fit, strict=True):
                yield self._told(name, next(written)) if fits else self._continuation(name, [], "window")

    @torch.inference_mode()
    def _batch(self, texts: Sequence[Tokens], most: int) -> list[list[int]]:
        if not texts:
            return []
        model: Any = self._loaded.model
        habits: Any = GenerationConfig  # the model's own (penalties, temperatures) would change what is greedy
        padding = padding_of(self._loaded)
        fed, read = padded(texts, model.device, padding, left=True)
        written = model.generate(
            input_ids=fed,
            attention_mask=read,
            generation_config=habits(
                eos_token_id=sorted(self._stops),
                pad_token_id=padding,
                max_new_tokens=most,
                do_sample=False,
            ),
            logits_processor=LogitsProcessorList([Finite(self._loaded.version)]),
            stopping_criteria=StoppingCriteriaList([_LineEnd(self._breaks)]),
        )
        rows: list[list[int]] = written[:, fed.shape[1] :].tolist()
        return rows

    def _told(self, name: str, written: Tokens) -> Continuation:
        for place, token in enumerate(written):
            if token in self._stops:
                return self._continuation(name, written[:place], "stop")
            if self._breaks(token):
                return self._continuation(name, written[: place + 1], "line")
        return self._continuation(name, written, "length")

    def _continuation(self, name: str, written: Tokens, end: str) -> Continuation:
        text = self._loaded.tokenizer.decode(written, skip_special_tokens=True).partition("\n")[0]
        return Continuation(name, text, len(written), end, self._loaded.version)


class _LineEnd(StoppingCriteria):
    """Ends the rows whose last token holds a line break."""

    def __init__(self, breaks: Callable[[int], bool]) -> None:
        self._breaks = breaks

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> Any:  # noqa: ARG002
        return torch.tensor([self._breaks(token) for token in input_ids[:, -1].tolist()], device=input_ids.device)
