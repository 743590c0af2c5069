"""The engine itself: passes requests to the sampler and the scorers, and turns their results into rows.

models = ["transformers:Qwen/Qwen2.5-1.5B", "transformers:google-bert/bert-base-multilingual-cased"]

[options.transformers]
revision = "8faed761d45a263340a0528343f099c05c9a4323"
dtype = "bfloat16"
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Self

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.base import (
    Completion,
    ModelSpec,
    Represented,
    Request,
    Scored,
    ScoreRequest,
    TokenScore,
)
from polyculture.generate.engines.models import Closing
from polyculture.generate.engines.options import read_options
from polyculture.generate.engines.patching import (
    AnswerStates,
    Attention,
    AttentionRequest,
    Continuation,
    Inspection,
    Patch,
    StatesRequest,
)
from polyculture.generate.engines.token_boundary import first_token, split_pairs
from polyculture.generate.engines.transformers.loading import check_installed, load, tokens_of
from polyculture.generate.engines.transformers.options import TransformersOptions
from polyculture.generate.engines.transformers.prefix_trie import Text

if TYPE_CHECKING:
    from torch.nn import Module

    from polyculture.generate.engines.transformers.sampling import Sampler
    from polyculture.generate.engines.transformers.scoring import CausalScorer, MaskedScorer, ScoredText

_AT_ONCE = 4096  # continuations of one context that are held as tokens at the same time
_PADDED = 4096  # tokens of a pass over padded texts, unless the options say otherwise


class TransformersEngine(Closing):
    """A model in this process. Entering loads it, leaving frees it."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.options = read_options(TransformersOptions, spec)
        check_installed(spec)

    def __enter__(self) -> Self:
        self._loaded = load(self.spec, self.options)
        self.model_version = self._loaded.version
        self._scorer: CausalScorer | MaskedScorer | None = None
        self._layers: Sequence[Module] | None = None
        return self

    def close(self) -> None:
        del self._loaded, self._scorer, self._layers

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields an answer or a failure with its reason per request and seed, batch by batch.

        Raises `EngineError` for a masked model, and for one without a chat template unless `bare_prompts` is set.
        """
        return self._sampler().sample(requests)

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields a row per request and continuation; docs/cbs.md defines the scored tokens."""
        failed: deque[Scored] = deque()
        with self._within_memory("batch_tokens"):
            for scored in self.scorer.score(self._groups(requests, failed)):
                while failed:
                    yield failed.popleft()
                yield self._row(scored)
        yield from failed

    def represent(self, requests: Iterable[ScoreRequest], layers: Sequence[str]) -> Iterator[Represented]:
        """Yields a row per request and continuation; a text that the model cannot read is a row with its reason."""
        from polyculture.generate.engines.transformers.states import represent

        failed: deque[Scored] = deque()
        with self._within_memory("batch_tokens"):
            for texts in self._groups(requests, failed):
                yield from represent(self._loaded, texts, layers, self.options.batch_tokens or _PADDED, self.spec.model)
        yield from (Represented(row.request_id, row.index, error=row.error) for row in failed)

    def depth(self) -> int:
        """How many layers it has. Raises `EngineError` where they cannot be reached."""
        return len(self._blocks())

    def answer_states(self, requests: Iterable[StatesRequest]) -> Iterator[AnswerStates]:
        """Yields the states of each answer, some at a time; what the model cannot read is a row with its reason."""
        from polyculture.generate.engines.transformers.states import StateReader

        sampler = self._sampler()
        reader = StateReader(self._loaded, self._blocks(), self.options.batch_tokens or _PADDED)
        with self._within_memory("batch_tokens"):
            yield from reader.read(requests, lambda request: sampler.prompt_tokens(request.messages))

    def continue_patched(self, inspection: Inspection, patches: Iterable[Patch]) -> Iterator[Continuation]:
        """Yields what the model writes behind the placeholder for each patch, in order."""
        from polyculture.generate.engines.transformers.patched import PatchedWriter

        writer = PatchedWriter(self._loaded, self._blocks(), inspection, self.spec.model, bos=self.options.bos)
        with self._within_memory("batch_patches"):
            yield from writer.continue_all(patches, self.options.batch_patches)

    def continue_texts(self, texts: Iterable[tuple[str, str]], max_tokens: int) -> Iterator[Continuation]:
        """Yields what the model writes behind each text, given with an id, up to its line's end."""
        from polyculture.generate.engines.transformers.patched import TextWriter

        self._check_causal()
        writer = TextWriter(self._loaded)
        read = ((name, tokens_of(self._loaded, text, bos=self.options.bos)[0]) for name, text in texts)
        with self._within_memory("batch_patches"):
            yield from writer.write(read, max_tokens, self.options.batch_patches)

    def attend(self, requests: Iterable[AttentionRequest]) -> Iterator[Attention]:
        """Yields the attention of each prompt's last token; what the model cannot read is a row with its reason."""
        from polyculture.generate.engines.transformers.attention import AttentionReader

        self._check_causal()
        reader = AttentionReader(
            self._loaded, self.spec.model, self.options.batch_tokens or _PADDED, bos=self.options.bos
        )
        sampler = cache(self._sampler)  # which a model without a chat template has none of

        def render(request: AttentionRequest) -> tuple[str, bool]:
            bare = request.messages[-1].content, True
            return bare if request.bare else sampler().prompt_text(request.messages)

        with self._within_memory("batch_tokens"):
            yield from reader.read(requests, render)

    def _sampler(self) -> Sampler:
        from polyculture.generate.engines.transformers.sampling import Sampler

        self._check_causal()
        return Sampler(self._loaded, self.options.batch_size, self.options.bare_prompts)

    def _blocks(self) -> Sequence[Module]:
        """The model's layers, looked for once."""
        from polyculture.generate.engines.transformers.passes import find_layers

        if self._layers is None:
            self._check_causal()
            self._layers = find_layers(self._loaded.model, self.spec.model)
        return self._layers

    def _check_causal(self) -> None:
        if self._loaded.masked:
            what = "is a masked model: it fills gaps, and writes no texts"
            raise EngineError(what, where=self.spec.model, remedy="Name a causal model; this one can score.")

    @contextmanager
    def _within_memory(self, option: str) -> Iterator[None]:
        import torch

        try:
            yield
        except (MemoryError, torch.OutOfMemoryError) as fault:
            raise EngineError("the memory is used up", where=self.spec.model, remedy=f"Lower {option}.") from fault

    @property
    def scorer(self) -> CausalScorer | MaskedScorer:
        """The scorer, created on first use."""
        if self._scorer is None and self._loaded.masked:
            from polyculture.generate.engines.transformers.scoring import MaskedScorer

            mask, padding = self._loaded.tokenizer.mask_token_id, self._loaded.tokenizer.pad_token_id
            if mask is None:
                raise EngineError("its tokenizer knows no mask token", where=self.spec.model)
            how = self.options.masked, self.options.batch_tokens
            self._scorer = MaskedScorer(self._loaded.model, mask, padding or 0, *how)
        elif self._scorer is None:
            from polyculture.generate.engines.transformers.scoring import CausalScorer

            self._scorer = CausalScorer(self._loaded.model, self.options.batch_tokens)
        return self._scorer

    def _groups(self, requests: Iterable[ScoreRequest], failed: deque[Scored]) -> Iterator[list[Text]]:
        """The texts of each request, some thousands at a time; texts that cannot be scored go to `failed`."""
        tokenizer = self._loaded.tokenizer
        first = first_token(tokenizer.bos_token_id, tokenizer.eos_token_id)
        for request in requests:
            pairs = split_pairs(tokenizer, request, suffix=self._loaded.masked, bos=self._bos(), first=first)
            while some := list(islice(pairs, _AT_ONCE)):
                texts = []
                for pair in some:
                    error = pair.error or self._loaded.too_long(len(pair.ids))
                    if error is None:
                        texts.append(Text(request.request_id, pair, request.one_by_one))
                    else:
                        failed.append(Scored(request.request_id, pair.index, error=error))
                if texts:
                    yield texts

    def _bos(self) -> int | None:
        token: int | None = self._loaded.tokenizer.bos_token_id
        return token if self.options.bos else None

    def _row(self, scored: ScoredText) -> Scored:
        pair, request_id = scored.text.pair, scored.text.request_id
        if not all(map(math.isfinite, scored.log_probabilities)):
            return Scored(
                request_id, pair.index, boundary=pair.boundary, error="a log-probability is not a finite number"
            )
        names = self._loaded.tokenizer.convert_ids_to_tokens(list(pair.ids[pair.start : pair.end]))
        tokens = tuple(map(TokenScore, names, scored.log_probabilities))
        version, masked = self.model_version, self._loaded.masked
        return Scored(request_id, pair.index, tokens, pair.boundary, model_version=version, masked=masked)
