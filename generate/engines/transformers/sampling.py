"""Sample texts in batches, each with its own seed, so that a text does not depend on its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import torch
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.answer import completed, read_text
from polyculture.generate.engines.base import Completion, Decoding, Message, Request
from polyculture.generate.engines.metering import Usage
from polyculture.generate.engines.reasoning import TAIL
from polyculture.generate.engines.system_prompt import SystemPrompts, Turn
from polyculture.generate.engines.transformers.loading import Loaded
from polyculture.generate.engines.transformers.passes import decoder_of, need_finite, padded, padding_of, stop_tokens

# A step on a GPU takes as long for one text as for a hundred; on a CPU, texts wait for the longest of their batch.
_BATCH, _BATCH_ELSEWHERE = {"cpu": 8}, 128
_TEMPLATE = "Download the model again, or write its template (chat_template.jinja, or tokenizer_config.json) anew."


@dataclass(frozen=True, slots=True)
class _SampledText:
    """One text to be sampled."""

    request_id: str
    seed: int
    decoding: Decoding
    prompt: tuple[int, ...]


class Sampler:
    """Samples answers, `batch_size` at a time (None: as many as suit the device). With `bare`, the model continues the
    messages without a chat template, as a base model does."""

    def __init__(self, loaded: Loaded, batch_size: int | None, bare: bool = False) -> None:
        if not bare and not loaded.tokenizer.chat_template:
            remedy = "Name a chat model, or set bare_prompts = true to let it continue the prompt's text."
            raise EngineError("has no chat template: it is no chat model", where=loaded.version, remedy=remedy)
        self._loaded, self._bare = loaded, bare
        self._batch_size = batch_size or _BATCH.get(loaded.model.device.type, _BATCH_ELSEWHERE)
        self._system = SystemPrompts(loaded.version, self._render)
        self._stops, self._padding = stop_tokens(loaded), padding_of(loaded)
        self._decode = decoder_of(loaded.tokenizer)
        # The model's own generation defaults (penalties, temperatures) would change the requested settings.
        habits: Any = GenerationConfig
        loaded.model.generation_config = habits(eos_token_id=sorted(self._stops), pad_token_id=self._padding)

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields a completion per request and seed, in order."""
        asks = (ask for request in requests for ask in self._asks(request))
        for decoding, alike in groupby(asks, key=lambda ask: ask.decoding):
            while batch := list(islice(alike, self._batch_size)):
                yield from self._batch(decoding, batch)

    def _asks(self, request: Request) -> Iterator[_SampledText]:
        prompt = self.prompt_tokens(request.messages)
        return (_SampledText(request.request_id, seed, request.decoding, prompt) for seed in request.seeds)

    def prompt_tokens(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """The tokens of a prompt, up to where the answer begins."""
        text, special = self.prompt_text(messages)
        ids = tuple(self._loaded.tokenizer(text, add_special_tokens=special)["input_ids"])
        if not ids:
            raise EngineError("its chat template makes an empty prompt", where=self._loaded.version, remedy=_TEMPLATE)
        return ids

    def prompt_text(self, messages: Sequence[Message]) -> tuple[str, bool]:
        """A prompt as the model reads it, and whether the tokenizer adds its special tokens to it."""
        if self._bare:
            return "\n".join(message.content for message in messages), True
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            self._system.check(turns)
            return self._render(turns), False
        except EngineError:
            raise
        except Exception as fault:  # whatever a stranger's template raises
            what = f"its chat template cannot be used: {' '.join(str(fault).split())[:200]}"
            raise EngineError(what, where=self._loaded.version, remedy=_TEMPLATE) from fault

    def _render(self, turns: Sequence[Turn]) -> str:
        text: str = self._loaded.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return text

    def _batch(self, decoding: Decoding, batch: Sequence[_SampledText]) -> Iterator[Completion]:
        room = self._loaded.window - decoding.max_tokens
        for ask in batch:
            if len(ask.prompt) > room:
                reason = (
                    f"the prompt's {len(ask.prompt)} tokens and the answer exceed the {self._loaded.window} it reads"
                )
                yield Completion(ask.request_id, ask.seed, None, error=reason)
        fitting = [ask for ask in batch if len(ask.prompt) <= room]
        if fitting:
            written = self._write(decoding, fitting)
            yield from (self._completion(ask, ids) for ask, ids in zip(fitting, written, strict=True))

    @torch.inference_mode()
    def _write(self, decoding: Decoding, asks: Sequence[_SampledText]) -> list[list[int]]:
        model: Any = self._loaded.model
        fed, read = padded([ask.prompt for ask in asks], model.device, self._padding, left=True)
        with self._failing():
            written = model.generate(
                input_ids=fed,
                attention_mask=read,
                max_new_tokens=decoding.max_tokens,
                do_sample=False,  # the choice is made by the last of the processors
                logits_processor=_processors(decoding, [ask.seed for ask in asks], self._loaded.version),
            )
        rows: list[list[int]] = written[:, fed.shape[1] :].tolist()
        return rows

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What torch raises for a model that does not fit its tokenizer, its settings or the memory, in one line."""
        try:
            yield
        except (MemoryError, torch.OutOfMemoryError) as fault:
            raise EngineError(
                "the memory is used up", where=self._loaded.version, remedy=f"Set batch_size below {self._batch_size}."
            ) from fault
        except (RuntimeError, IndexError, TypeError, ValueError) as fault:
            what = f"fails while it writes: {' '.join(str(fault).split())[:200]}"
            remedy = "Do config.json, weights and tokenizer belong together? Download the model again."
            raise EngineError(what, where=self._loaded.version, remedy=remedy) from fault

    def _completion(self, ask: _SampledText, written: Sequence[int]) -> Completion:
        end = next((n for n, token in enumerate(written) if token in self._stops), None)
        ids = written if end is None else written[:end]
        text, specials = self._decode(ids)
        answer = read_text(
            text,
            "length" if end is None else "stop",
            prompt_tail=self._loaded.tokenizer.decode(ask.prompt[-TAIL:]),
            specials=specials,
            usage=Usage(len(ask.prompt), len(ids)),
            version=self._loaded.version,
        )
        return completed(ask.request_id, ask.seed, answer)


def _processors(decoding: Decoding, seeds: Sequence[int], version: str) -> LogitsProcessorList:
    finite = Finite(version)
    if decoding.temperature == 0:
        return LogitsProcessorList([finite])
    steps: list[LogitsProcessor] = [finite, TemperatureLogitsWarper(decoding.temperature)]
    if decoding.top_k is not None:
        steps.append(TopKLogitsWarper(decoding.top_k))
    if decoding.top_p < 1:
        steps.append(TopPLogitsWarper(decoding.top_p))
    return LogitsProcessorList([*steps, _SeededChoice(seeds)])


class Finite(LogitsProcessor):
    """Raises `EngineError` at the first logits that are not finite: a choice among them is no answer of the model.

    Single tokens may be ruled out by minus infinity; the largest logit must be a number.
    """

    def __init__(self, version: str) -> None:
        self._version = version

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:  # noqa: ARG002
        need_finite(scores.amax(-1), self._version)
        return scores


class _SeededChoice(LogitsProcessor):
    """Draws each row's token with that row's own generator, and masks all others."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:  # noqa: ARG002
        drawn = torch.cat([torch.rand(1, generator=generator, dtype=torch.float64) for generator in self._generators])
        reached = scores.double().softmax(-1).cumsum(-1)
        chosen = torch.searchsorted(reached, (drawn.to(scores.device) * reached[:, -1])[:, None], right=True)
        chosen = chosen.clamp(max=scores.shape[-1] - 1)
        return torch.full_like(scores, -torch.inf).scatter_(-1, chosen, 0.0)
