"""Plain passes of a causal model over whole texts: for models that a tree mask does not fit, and to verify it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch
from transformers import PreTrainedModel

from polyculture.generate.engines.transformers.prefix_trie import Text
from polyculture.generate.engines.transformers.tree import ScoredText, log_probabilities


def plain_batches(groups: Iterable[Sequence[Text]], most: int) -> Iterator[list[Text]]:
    """Texts of similar length, longest first, as many as fit `most` tokens when padded."""
    for group in groups:
        batch: list[Text] = []
        for text in sorted(group, key=lambda text: -len(text.fed)):
            if batch and (len(batch) + 1) * len(batch[0].fed) > most:
                yield batch
                batch = []
            batch.append(text)
        if batch:
            yield batch


@torch.inference_mode()
def run_plain(model: PreTrainedModel, texts: Sequence[Text]) -> Iterator[ScoredText]:
    """Yields the scored texts of a batch; shorter texts are right-padded."""
    width = max(len(text.fed) for text in texts)
    first = min(text.pair.start for text in texts) - 1
    fed = torch.zeros((len(texts), width), dtype=torch.long)
    mask = torch.zeros_like(fed)
    for row, text in enumerate(texts):
        fed[row, : len(text.fed)] = torch.tensor(text.fed)
        mask[row, : len(text.fed)] = 1
    keep = torch.arange(first, width, device=model.device)
    answer = model(
        input_ids=fed.to(model.device), attention_mask=mask.to(model.device), use_cache=False, logits_to_keep=keep
    )
    for row, text in enumerate(texts):
        asked = torch.tensor(text.pair.ids[text.pair.start : text.pair.end], device=model.device)
        rows = torch.arange(text.pair.start - 1 - first, text.pair.end - 1 - first, device=model.device)
        yield ScoredText(text, tuple(log_probabilities(answer.logits[row], rows, asked).tolist()))
