"""Read hidden states, of answers at every layer or of continuations: passes over padded texts, without the head."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch

from polyculture.generate.engines.base import Represented, layer_number
from polyculture.generate.engines.patching import AnswerStates, StatesRequest, TokenSpan
from polyculture.generate.engines.transformers.loading import Loaded
from polyculture.generate.engines.transformers.passes import StateChange, batches, hooked, need_finite, padded
from polyculture.generate.engines.transformers.prefix_trie import Text

_AT_ONCE = 64  # answers that are sorted by length together

EncodePrompt = Callable[[StatesRequest], Sequence[int]]


@dataclass(frozen=True, slots=True)
class _AnswerTokens:
    """A prompt and its answer as tokens, and the places of the tokens whose states are summed."""

    request: StatesRequest
    ids: tuple[int, ...]
    places: tuple[int, ...]
    last_token: bool


class StateReader:
    """Reads states of one loaded causal model, whose blocks are `layers`. A pass reads at most `most` tokens."""

    def __init__(self, loaded: Loaded, layers: Sequence[torch.nn.Module], most: int) -> None:
        self._loaded, self._layers, self._most = loaded, layers, most

    def read(self, requests: Iterable[StatesRequest], prompt: EncodePrompt) -> Iterator[AnswerStates]:
        """The states of each answer. `prompt` makes tokens of a request's messages."""
        waiting = iter(requests)
        while some := list(islice(waiting, _AT_ONCE)):
            answers = [self._answer(request, prompt(request)) for request in some]
            yield from (one for one in answers if isinstance(one, AnswerStates))
            whole = sorted((one for one in answers if isinstance(one, _AnswerTokens)), key=_length)
            for batch in batches(whole, self._most, _length):
                yield from self._states(batch)

    def _answer(self, request: StatesRequest, prompt: Sequence[int]) -> _AnswerTokens | AnswerStates:
        read = self._loaded.tokenizer(request.answer, add_special_tokens=False, return_offsets_mapping=True)
        ids = (*prompt, *read["input_ids"])
        if not read["input_ids"]:
            return AnswerStates(request.request_id, None, error="the answer has no token")
        if why := self._loaded.too_long(len(ids)):
            return AnswerStates(request.request_id, None, error=why)
        under = [place for place, token in enumerate(read["offset_mapping"]) if _covers(token, request.spans)]
        places = tuple(len(prompt) + place for place in under)
        return _AnswerTokens(request, ids, places or (len(ids) - 1,), not places)

    @torch.inference_mode()
    def _states(self, batch: Sequence[_AnswerTokens]) -> Iterator[AnswerStates]:
        fed, mask = padded([answer.ids for answer in batch], self._loaded.model.device)
        chosen = torch.zeros(fed.shape)
        for row, answer in enumerate(batch):
            chosen[row, list(answer.places)] = 1.0
        chosen = chosen.to(fed.device)[:, None]
        sums: dict[int, Any] = {}

        def summing(layer: int) -> StateChange:
            def see(state: torch.Tensor) -> None:
                summed = (chosen @ state.float())[:, 0]
                need_finite(summed, self._loaded.version, "hidden states")
                sums[layer] = summed.cpu().numpy()

            return see

        numbers = range(1, len(self._layers) + 1)
        body: Any = self._loaded.model.base_model
        with hooked(self._layers, {number: summing(number) for number in numbers}):
            body(input_ids=fed, attention_mask=mask, use_cache=False)
        for row, answer in enumerate(batch):
            states = np.stack([sums[number][row] for number in numbers])
            yield AnswerStates(
                answer.request.request_id, states, len(answer.places), answer.last_token, None, self._loaded.version
            )


def _length(answer: _AnswerTokens) -> int:
    return len(answer.ids)


def _covers(token: TokenSpan, spans: Sequence[TokenSpan]) -> bool:
    return any(token[0] < end and start < token[1] for start, end in spans)


def represent(
    loaded: Loaded, texts: Sequence[Text], layers: Sequence[str], most: int, model: str
) -> Iterator[Represented]:
    """The hidden states of each text's continuation, averaged over its tokens; a pass has at most `most` tokens."""
    for batch in batches(sorted(texts, key=_text_length), most, _text_length):
        states = _states(loaded, batch)
        numbers = [layer_number(name, len(states) - 1, model) for name in layers]
        for row, text in enumerate(batch):
            place = slice(text.pair.start, text.pair.end)
            means = torch.stack([states[number][row, place].float().mean(dim=0) for number in numbers])
            need_finite(means, loaded.version, "hidden states")
            vectors = tuple(map(tuple, means.tolist()))
            yield Represented(text.request_id, text.pair.index, tuple(numbers), vectors, None, loaded.version)


@torch.inference_mode()
def _states(loaded: Loaded, batch: Sequence[Text]) -> Sequence[torch.Tensor]:
    """Hidden states [texts, tokens, width] for each layer; no token of a shorter text attends to its padding."""
    fed, read = padded([text.pair.ids for text in batch], loaded.model.device, loaded.tokenizer.pad_token_id or 0)
    body: Any = loaded.model.base_model
    return list(body(input_ids=fed, attention_mask=read, output_hidden_states=True).hidden_states)


def _text_length(text: Text) -> int:
    return len(text.pair.ids)
