"""Score continuations with a causal model: packed with tree masks where the model allows that, else by plain passes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence

import torch
from transformers import PreTrainedModel

from polyculture.generate.engines.token_boundary import TokenisedPair
from polyculture.generate.engines.transformers.batches import batches, padded
from polyculture.generate.engines.transformers.prefix_trie import Text, plan
from polyculture.generate.engines.transformers.tree import (
    MASKED_LAYERS,
    ScoredText,
    TreePasses,
    layer_kinds,
    log_probabilities,
)

# The most bytes for the logits of a pass, in single precision; and the default number of tokens in a pass.
_LOGITS = 2**28
_MOST_TOKENS = {"cpu": 512}
_MOST_ELSEWHERE = 4096
# The first pass is smaller by this factor, so that its scores do not wait for a whole one.
_FIRST = 4
# Tolerance between packed and plain scores on the probe, in nats. In half precision, kernels alone differ so much.
_TOLERANCE, _HALF_TOLERANCE = 1e-3, 0.25

_log = logging.getLogger(__name__)


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
    room: int = _LOGITS // (4 * model.config.get_text_config(decoder=True).vocab_size)
    return max(16, min(_MOST_TOKENS.get(model.device.type, _MOST_ELSEWHERE), room))


def tree_fits(model: PreTrainedModel) -> bool:
    """Does a tree mask give this model's own scores? Tested on a few texts, in one pass and after a cached trunk.

    The mask fails where layers carry a state from token to token, where `position_ids` does not set positions (ALiBi),
    or where a model builds its own masks.
    """
    if not set(layer_kinds(model)) <= MASKED_LAYERS:
        return False
    texts = _probe(model.config.get_text_config(decoder=True).vocab_size)
    # One pass: on a busy CPU each of these costs seconds, and padding on the right reaches no causal score.
    plain = {scored.text: scored.log_probabilities for scored in run_plain(model, texts)}
    try:
        packed = [scored for most in (64, 4) for scored in _packed(model, [texts], most)]
    except (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError) as fault:
        _log.info("no tree mask for %s: %s", type(model).__name__, fault)
        return False
    apart = max(
        abs(one - other)
        for scored in packed
        for one, other in zip(scored.log_probabilities, plain[scored.text], strict=True)
    )
    return apart <= (_TOLERANCE if model.dtype == torch.float32 else _HALF_TOLERANCE)


def _packed(model: PreTrainedModel, groups: Iterable[Sequence[Text]], most: int) -> Iterator[ScoredText]:
    passes = TreePasses(model)
    for forest in plan(groups, most, first=-(-most // _FIRST)):
        yield from passes.run(forest)


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
