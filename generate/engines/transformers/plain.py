"""Plain passes of a causal model over whole texts: for models that a tree mask does not fit, and to verify it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch
from transformers import PreTrainedModel

from polyculture.generate.engines.transformers.batches import batches, padded
from polyculture.generate.engines.transformers.prefix_trie import Text
from polyculture.generate.engines.transformers.tree import ScoredText, log_probabilities


def plain_batches(groups: Iterable[Sequence[Text]], most: int) -> Iterator[list[Text]]:
    """Texts of similar length, longest first, as many as fit `most` tokens when padded."""
    for group in groups:
        yield from batches(sorted(group, key=_length, reverse=True), most, _length)


@torch.inference_mode()
def run_plain(model: PreTrainedModel, texts: Sequence[Text]) -> Iterator[ScoredText]:
    """Yields the scored texts of a batch; shorter texts are right-padded."""
    first = min(text.pair.start for text in texts) - 1
    fed, mask = padded([text.fed for text in texts], model.device)
    keep = torch.arange(first, fed.shape[1], device=model.device)
    answer = model(input_ids=fed, attention_mask=mask, use_cache=False, logits_to_keep=keep)
    for row, text in enumerate(texts):
        asked = torch.tensor(text.pair.ids[text.pair.start : text.pair.end], device=model.device)
        rows = torch.arange(text.pair.start - 1 - first, text.pair.end - 1 - first, device=model.device)
        yield ScoredText(text, tuple(log_probabilities(answer.logits[row], rows, asked).tolist()))


def _length(text: Text) -> int:
    return len(text.fed)
