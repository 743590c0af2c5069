"""One pass of a causal model over a forest of tokens: the tree attention mask, the positions, the cached trunk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import get_layer_types_and_kwargs

from polyculture.generate.engines.transformers.prefix_trie import Forest, Text

_SLAB = 64  # rows of logits that are normalised at once, in single precision
# Kinds of attention that a mask defines completely. Recurrent layers are not among them.
MASKED_LAYERS = frozenset({"full_attention", "sliding_attention"})


@dataclass(frozen=True, slots=True)
class ScoredText:
    """A text and the log-probability of each token of its continuation."""

    text: Text
    log_probabilities: tuple[float, ...]


class TreePasses:
    """Runs forests in their planned order: forests behind a trunk follow the one that keeps it."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        self._windows = layer_kinds(model)
        self._trunk: DynamicCache | None = None

    @torch.inference_mode()
    def run(self, forest: Forest) -> Iterator[ScoredText]:
        """Yields the scored texts of a forest."""
        rows, asked = _asked(forest)
        logits = self._logits(forest, torch.tensor(rows, device=self._model.device))
        picked = log_probabilities(logits, *(torch.tensor(column, device=logits.device) for column in asked))
        values = iter(picked.tolist())
        for text, nodes in forest.texts:
            yield ScoredText(text, tuple(next(values) for _ in nodes))

    def _logits(self, forest: Forest, rows: torch.Tensor) -> torch.Tensor:
        """Logits at the nodes `rows`: [rows, vocabulary]."""
        device = self._model.device
        cache = self._trunk if forest.behind else DynamicCache() if forest.kept else None
        answer = self._model(
            input_ids=torch.tensor([forest.tokens], device=device),
            position_ids=torch.tensor([forest.depths], device=device),
            attention_mask=self._masks(forest),
            past_key_values=cache,
            use_cache=cache is not None,
            logits_to_keep=rows,
        )
        self._trunk = cache
        if cache is not None:
            cache.crop(forest.kept - len(forest))
        logits: torch.Tensor = answer.logits[0]
        return logits

    def _masks(self, forest: Forest) -> Any:
        """The mask [1, 1, nodes, trunk and nodes]; one per kind of layer where layers differ in their attention."""
        seen = torch.from_numpy(_sees(forest))
        depths = torch.tensor([*range(forest.behind), *forest.depths])
        apart = depths[forest.behind :, None] - depths[None, :]
        masks = {kind: self._as_mask(seen & (apart < window)) for kind, window in self._windows.items()}
        return masks if len(masks) > 1 else next(iter(masks.values()))

    def _as_mask(self, seen: torch.Tensor) -> torch.Tensor:
        seen = seen[None, None].to(self._model.device)
        if self._model.config._attn_implementation != "eager":
            return seen
        hidden = torch.finfo(self._model.dtype).min
        return torch.zeros(seen.shape, dtype=self._model.dtype, device=seen.device).masked_fill(~seen, hidden)


def log_probabilities(logits: torch.Tensor, rows: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """The log-probability of `tokens[i]` at row `rows[i]` of `logits`, in single precision at least: [len(rows)]."""
    total = torch.cat([slab.float().logsumexp(-1) for slab in torch.split(logits, _SLAB)])
    return logits[rows, tokens].float() - total[rows]


def _asked(forest: Forest) -> tuple[list[int], tuple[list[int], list[int]]]:
    """The nodes whose logits are needed; then, for each scored token in order, the index of its node and its number."""
    rows = sorted({node for _, nodes in forest.texts for node in nodes})
    place = {node: row for row, node in enumerate(rows)}
    where = [place[node] for _, nodes in forest.texts for node in nodes]
    which = [token for text, _ in forest.texts for token in text.pair.ids[text.pair.start : text.pair.end]]
    return rows, (where, which)


def _sees(forest: Forest) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """The attention of each node: to the whole trunk, its ancestors, and itself."""
    size = len(forest)
    seen = np.zeros((size, forest.behind + size), dtype=np.bool_)
    seen[:, : forest.behind] = True
    for node, parent in enumerate(forest.parents):
        if parent >= 0:
            seen[node] |= seen[parent]
        seen[node, forest.behind + node] = True
    return seen


def layer_kinds(model: PreTrainedModel) -> Mapping[str, int]:
    """The kinds of a model's layers, and the attention window of each, in tokens."""
    kinds, details = get_layer_types_and_kwargs(model.config.get_text_config(decoder=True))
    return {kind: detail.get("sliding_window") or 2**30 for kind, detail in zip(kinds, details, strict=True)}
