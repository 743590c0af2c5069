"""Hidden states of continuations: a pass over padded texts, without the language-model head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.base import Represented
from polyculture.generate.engines.transformers.loading import Loaded
from polyculture.generate.engines.transformers.prefix_trie import Text


def represent(
    loaded: Loaded, texts: Sequence[Text], layers: Sequence[str], most: int, model: str
) -> Iterator[Represented]:
    """The hidden states of each text's continuation, averaged over its tokens; a pass has at most `most` tokens."""
    for batch in _batches(texts, most):
        states = _states(loaded, batch)
        numbers = [_layer(name, len(states) - 1, model) for name in layers]
        for row, text in enumerate(batch):
            place = slice(text.pair.start, text.pair.end)
            vectors = tuple(tuple(states[number][row, place].float().mean(dim=0).tolist()) for number in numbers)
            yield Represented(text.request_id, text.pair.index, tuple(numbers), vectors, None, loaded.version)


@torch.inference_mode()
def _states(loaded: Loaded, batch: Sequence[Text]) -> Sequence[torch.Tensor]:
    """Hidden states [texts, tokens, width] for each layer; no token of a shorter text attends to its padding."""
    longest = max(len(text.pair.ids) for text in batch)
    fed = torch.full((len(batch), longest), loaded.tokenizer.pad_token_id or 0)
    read = torch.zeros_like(fed)
    for row, text in enumerate(batch):
        fed[row, : len(text.pair.ids)] = torch.tensor(text.pair.ids)
        read[row, : len(text.pair.ids)] = 1
    body: Any = loaded.model.base_model
    device = loaded.model.device
    output = body(input_ids=fed.to(device), attention_mask=read.to(device), output_hidden_states=True)
    return list(output.hidden_states)


def _batches(texts: Sequence[Text], most: int) -> Iterator[list[Text]]:
    """Texts of similar length, as many as fit the tokens of a pass when padded."""
    batch: list[Text] = []
    for text in sorted(texts, key=lambda text: len(text.pair.ids)):
        if batch and (len(batch) + 1) * len(text.pair.ids) > most:
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def _layer(name: str, last: int, model: str) -> int:
    named = {"first": 0, "middle": last // 2, "last": last}
    number = named.get(name, int(name) if name.isdecimal() else -1)
    if not 0 <= number <= last:
        remedy = f"Name 'first', 'middle', 'last', or a number from 0 to {last}."
        raise EngineError(f"has no layer {name!r}", where=model, remedy=remedy)
    return number
