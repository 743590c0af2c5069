"""Score continuations with a causal model, or candidates for a gap with a masked one.

A causal model reads a forest of tokens in one pass, where its attention is defined by a mask: the tree's, and the
positions. Else it reads padded texts. A masked model has two ways:

- fill: one mask per token of the continuation, all predicted at once (CAMeL). All continuations of one length share
  one input, so a context costs a handful of passes.
- pseudo: the pseudo-log-likelihood of the continuation. Each of its tokens is masked alone, with the others visible
  (Salazar et al. 2020, https://aclanthology.org/2020.acl-main.240).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel
from transformers.cache_utils import get_layer_types_and_kwargs

from polyculture.cache.log import get_logger
from polyculture.generate.engines.token_boundary import TokenisedPair
from polyculture.generate.engines.transformers.passes import batches, padded
from polyculture.generate.engines.transformers.prefix_trie import Forest, Text, plan

_SLAB = 64  # rows of logits that are normalised at once, in single precision
# Kinds of attention that a mask defines completely. Recurrent layers are not among them.
MASKED_LAYERS = frozenset({"full_attention", "sliding_attention"})


@dataclass(frozen=True, slots=True)
class ScoredText:
    """A text and the log-probability of each token of its continuation."""

    text: Text
    log_probabilities: tuple[float, ...]


@torch.inference_mode()
def run_forest(model: PreTrainedModel, forest: Forest, windows: Mapping[str, int]) -> Iterator[ScoredText]:
    """Yields the scored texts of a forest; `windows` are those of the model's kinds of layers."""
    device = model.device
    rows, asked = _asked(forest)
    answer = model(
        input_ids=torch.tensor([forest.tokens], device=device),
        position_ids=torch.tensor([forest.depths], device=device),
        attention_mask=_masks(model, forest, windows),
        use_cache=False,
        logits_to_keep=torch.tensor(rows, device=device),
    )
    picked = log_probabilities(answer.logits[0], *(torch.tensor(column, device=device) for column in asked))
    values = iter(picked.tolist())
    for text, nodes in forest.texts:
        yield ScoredText(text, tuple(next(values) for _ in nodes))


def _masks(model: PreTrainedModel, forest: Forest, windows: Mapping[str, int]) -> Any:
    """The mask [1, 1, nodes, nodes]; one per kind of layer where layers differ in their attention."""
    # Compared where the model is: on a GPU a mask of thousands of nodes takes a CPU longer than the model itself.
    seen, depths = (table.to(model.device) for table in (torch.from_numpy(_sees(forest)), torch.tensor(forest.depths)))
    apart = depths[:, None] - depths[None, :]
    masks = {kind: _as_mask(model, seen & (apart < window)) for kind, window in windows.items()}
    return masks if len(masks) > 1 else next(iter(masks.values()))


def _as_mask(model: PreTrainedModel, seen: torch.Tensor) -> torch.Tensor:
    seen = seen[None, None]
    if model.config._attn_implementation != "eager":
        return seen
    hidden = torch.finfo(model.dtype).min
    return torch.zeros(seen.shape, dtype=model.dtype, device=seen.device).masked_fill(~seen, hidden)


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
    """The attention of each node: to its ancestors, and itself."""
    seen = np.eye(len(forest), dtype=np.bool_)
    for node, parent in enumerate(forest.parents):
        if parent >= 0:
            seen[node] |= seen[parent]
    return seen


def layer_kinds(model: PreTrainedModel) -> Mapping[str, int]:
    """The kinds of a model's layers, and the attention window of each, in tokens."""
    kinds, details = get_layer_types_and_kwargs(model.config.get_text_config(decoder=True))
    return {kind: detail.get("sliding_window") or 2**30 for kind, detail in zip(kinds, details, strict=True)}


# The most bytes for the logits of a pass, in single precision: on a GPU a share of its free memory. And the default
# number of tokens in a pass.
_LOGITS, _SHARE_OF_GPU = 2**28, 8
_MOST_TOKENS = {"cpu": 512}
_MOST_ELSEWHERE = 4096
# The first pass is smaller by this factor, so that its scores do not wait for a whole one.
_FIRST = 4
# Tolerance between packed and plain scores on the probe, in nats. In half precision, kernels alone differ so much.
_TOLERANCE, _HALF_TOLERANCE = 1e-3, 0.25

_log = get_logger(__name__)


class CausalScorer:
    """Yields the log-probabilities of texts' continuations, a group (the texts of one context) at a time."""

    def __init__(self, model: PreTrainedModel, batch_tokens: int | None = None) -> None:
        self._model = model
        self._most = batch_tokens or most_tokens(model)
        self.method = "tree" if tree_fits(model) else "plain"

    def score(self, groups: Iterable[Sequence[Text]]) -> Iterator[ScoredText]:
        if self.method == "tree":
            yield from _packed(self._model, groups, self._most)
        else:
            for batch in plain_batches(groups, self._most):
                yield from run_plain(self._model, batch)


def most_tokens(model: PreTrainedModel) -> int:
    """The tokens of a pass: limited by the device's efficient size and by the memory for the logits."""
    room, device = _LOGITS, model.device
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        room = free // _SHARE_OF_GPU
    tokens: int = room // (4 * model.config.get_text_config(decoder=True).vocab_size)
    return max(16, min(_MOST_TOKENS.get(device.type, _MOST_ELSEWHERE), tokens))


def tree_fits(model: PreTrainedModel) -> bool:
    """Does a tree mask give this model's own scores? Tested on a few texts.

    The mask fails where layers carry a state from token to token, where `position_ids` does not set positions (ALiBi),
    or where a model builds its own masks.
    """
    if not set(layer_kinds(model)) <= MASKED_LAYERS:
        return False
    texts = _probe(model.config.get_text_config(decoder=True).vocab_size)
    # One pass: on a busy CPU each of these costs seconds, and padding on the right reaches no causal score.
    plain = {scored.text: scored.log_probabilities for scored in run_plain(model, texts)}
    try:
        packed = list(_packed(model, [texts], 64))
    except (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError) as fault:
        _log.debug("no tree mask for %s: %s", type(model).__name__, fault)
        return False
    apart = max(
        abs(one - other)
        for scored in packed
        for one, other in zip(scored.log_probabilities, plain[scored.text], strict=True)
    )
    return apart <= (_TOLERANCE if model.dtype == torch.float32 else _HALF_TOLERANCE)


def _packed(model: PreTrainedModel, groups: Iterable[Sequence[Text]], most: int) -> Iterator[ScoredText]:
    windows = layer_kinds(model)
    for forest in plan(groups, most, first=-(-most // _FIRST)):
        yield from run_forest(model, forest, windows)


def _probe(vocabulary: int) -> list[Text]:
    """Texts over the whole vocabulary with common prefixes of several lengths."""
    numbers = [7919 * (n + 1) % vocabulary for n in range(24)]
    ends = [(6, 7, 8), (6, 7, 9), (6, 10, 11, 12), (13,), (14, 15), (6, 7, 16, 17)]
    rows = [tuple(numbers[n] for n in (*range(6), *end)) for end in ends]
    return [Text("probe", TokenisedPair(index, ids, 6, len(ids), "clean")) for index, ids in enumerate(rows)]


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
