"""Hidden states of continuations: a pass over padded texts, without the language-model head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.base import Represented
from polyculture.generate.engines.transformers.batches import batches, need_finite, padded
from polyculture.generate.engines.transformers.loading import Loaded
from polyculture.generate.engines.transformers.prefix_trie import Text


def represent(
    loaded: Loaded, texts: Sequence[Text], layers: Sequence[str], most: int, model: str
) -> Iterator[Represented]:
    """The hidden states of each text's continuation, averaged over its tokens; a pass has at most `most` tokens."""
    for batch in batches(sorted(texts, key=_length), most, _length):
        states = _states(loaded, batch)
        numbers = [_layer(name, len(states) - 1, model) for name in layers]
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


def _layer(name: str, last: int, model: str) -> int:
    named = {"first": 0, "middle": last // 2, "last": last}
    number = named.get(name, int(name) if name.isdecimal() else -1)
    if not 0 <= number <= last:
        remedy = f"Name 'first', 'middle', 'last', or a number from 0 to {last}."
        raise EngineError(f"has no layer {name!r}", where=model, remedy=remedy)
    return number


def _length(text: Text) -> int:
    return len(text.pair.ids)
