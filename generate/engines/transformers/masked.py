"""Score candidates for a gap with a masked model.

- fill: one mask per token of the continuation, all predicted at once (CAMeL). All continuations of one length share
  one input, so a context costs a handful of passes.
- pseudo: the pseudo-log-likelihood of the continuation. Each of its tokens is masked alone, with the others visible
  (Salazar et al. 2020, https://aclanthology.org/2020.acl-main.240).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import torch
from transformers import PreTrainedModel

from polyculture.generate.engines.transformers.batches import batches, padded
from polyculture.generate.engines.transformers.causal import most_tokens
from polyculture.generate.engines.transformers.prefix_trie import Text
from polyculture.generate.engines.transformers.tree import ScoredText, log_probabilities

Masked = tuple[int, ...]  # an input: a text's tokens, with masks in it


class MaskedScorer:
    """Yields the log-probabilities of continuations in gaps, a group (the texts of one context) at a time."""

    def __init__(
        self, model: PreTrainedModel, mask: int, padding: int, method: str = "fill", batch_tokens: int | None = None
    ) -> None:
        self._model, self._mask, self._padding = model, mask, padding
        self._most = batch_tokens or most_tokens(model)
        self.method = method

    def score(self, groups: Iterable[Sequence[Text]]) -> Iterator[ScoredText]:
        for texts in groups:
            inputs = [self._inputs(text) for text in texts]
            # The (place, token) pairs to read from an input, over all texts that share it.
            asked: dict[Masked, set[tuple[int, int]]] = {}
            for masked, place, token in chain.from_iterable(inputs):
                asked.setdefault(masked, set()).add((place, token))
            longest_first = sorted(asked, key=len, reverse=True)
            runs = (self._run(batch, asked) for batch in batches(longest_first, self._most, len))
            known = dict(chain.from_iterable(runs))
            for text, wanted in zip(texts, inputs, strict=True):
                yield ScoredText(text, tuple(known[each] for each in wanted))

    def _inputs(self, text: Text) -> list[tuple[Masked, int, int]]:
        """For each token of the continuation: its input, its place in the input, and its token number."""
        ids, start, end = text.pair.ids, text.pair.start, text.pair.end
        places = range(start, end)
        if self.method == "fill" and not text.one_by_one:
            filled = (*ids[:start], *[self._mask] * (end - start), *ids[end:])
            return [(filled, place, ids[place]) for place in places]
        return [((*ids[:place], self._mask, *ids[place + 1 :]), place, ids[place]) for place in places]

    @torch.inference_mode()
    def _run(
        self, batch: Sequence[Masked], asked: dict[Masked, set[tuple[int, int]]]
    ) -> Iterator[tuple[tuple[Masked, int, int], float]]:
        fed, read = padded(batch, self._model.device, self._padding)
        logits = self._model(input_ids=fed, attention_mask=read).logits
        for row, masked in enumerate(batch):
            wanted = sorted(asked[masked])
            places = sorted({place for place, _ in wanted})
            rows = torch.tensor([places.index(place) for place, _ in wanted], device=logits.device)
            tokens = torch.tensor([token for _, token in wanted], device=logits.device)
            values = log_probabilities(logits[row, places], rows, tokens).tolist()
            yield from zip(((masked, place, token) for place, token in wanted), values, strict=True)
