"""Continue texts of different lengths greedily, many at a time, each up to its line's end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList

from polyculture.generate.engines.patching import Continuation
from polyculture.generate.engines.transformers.batches import padded, padding_of, stop_tokens
from polyculture.generate.engines.transformers.loading import Loaded
from polyculture.generate.engines.transformers.patched import line_breaks
from polyculture.generate.engines.transformers.sampling import Finite

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
