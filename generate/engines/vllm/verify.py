"""Verify scores against another implementation of the same model, before the first is returned.

The reference is the `transformers` engine on the CPU, since vLLM occupies the GPU. By default a model is verified if
that engine is installed, can open it and has the memory for it. Otherwise one line in the log reports the omission.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from polyculture.cache.errors import EngineError, UserError
from polyculture.generate.engines.base import ModelSpec, Scored, ScoreRequest
from polyculture.generate.engines.capabilities import SCORING, Scoring
from polyculture.generate.engines.options import read_options
from polyculture.generate.engines.transformers.options import TransformersOptions
from polyculture.generate.engines.vllm.client import Client
from polyculture.generate.engines.vllm.options import VllmOptions
from polyculture.generate.engines.vllm.scoring import TOLERANCE, score

UNTOLD = 4  # continuations that are compared where the experiment does not say how many
# For 16 bits and fewer, in nats: two implementations round each layer differently; a fault is off by whole numbers.
TOLERANCE_HALF = 0.5
_GIB = 2**30
_ROOM = 1.25  # memory that a model takes when it is used, as a multiple of its weights

_log = logging.getLogger(__name__)


class Verification:
    """Verifies a model once: the first continuations of the first context that it scores."""

    def __init__(self, options: VllmOptions) -> None:
        self._options = options
        self._told = options.verify_scores is not None
        self._left = UNTOLD if options.verify_scores is None else options.verify_scores

    def before(self, client: Client, requests: Iterable[ScoreRequest]) -> Iterator[ScoreRequest]:
        """Pass the requests through; the first is passed on after its scores are verified.

        Raises `EngineError` where the two engines have different tokens or probabilities. Passes on the errors of the
        transformers engine where it cannot open a model that the experiment requires to be verified.
        """
        for request in requests:
            if self._left:
                count, self._left = self._left, 0
                self._verify(client, replace(request, continuations=request.continuations[:count]))
            yield request

    def _verify(self, client: Client, request: ScoreRequest) -> None:
        with ExitStack() as stack:
            try:
                other = stack.enter_context(self._other(client))
            except UserError as fault:
                if self._told:
                    raise
                _log.warning("the scores of %s are not verified: %s", client.spec.model, fault)
                return
            _compare(client, request, other)

    def _other(self, client: Client) -> Scoring:
        from polyculture.generate.engines import open_engine

        settings = {
            "dtype": client.facts.dtype,
            "revision": client.facts.revision,
            "bos": self._options.bos,
            "trust_remote_code": bool(self._options.arguments.get("trust_remote_code")),
            "device": "cpu",
        }
        spec = ModelSpec(f"transformers:{client.spec.name}", settings)
        engine = open_engine(spec, SCORING)
        if not self._told:
            _check_it_is_fit(spec, client)
        return engine


def _check_it_is_fit(spec: ModelSpec, client: Client) -> None:
    """Raises `EngineError` for a quantised model, which may differ, or one that exceeds the memory here."""
    from polyculture.generate.engines.transformers.loading import weight_bytes

    if client.facts.quantization:
        raise EngineError(f"quantised by {client.facts.quantization}, it is another model than the whole one")
    needed, free = _ROOM * weight_bytes(spec, read_options(TransformersOptions, spec)), _memory_free()
    if needed > free:
        raise EngineError(
            f"the transformers engine needs {needed / _GIB:.1f} GiB of memory, {free / _GIB:.1f} are free"
        )


def _memory_free() -> int:
    """The memory available to a process, in bytes. Only Linux reports it, and vLLM runs only there."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    (kibibytes,) = (int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return kibibytes * 1024


def _compare(client: Client, request: ScoreRequest, other: Scoring) -> None:
    theirs = {row.index: row for row in other.score([request])}
    for row in score(client, [request]):
        apart = _apart(row, theirs[row.index])
        if apart is None or apart > TOLERANCE.get(client.facts.dtype, TOLERANCE_HALF):
            how = "sees other tokens" if apart is None else f"gives another probability, by {apart:.3g}"
            raise EngineError(
                f"of {request.continuations[row.index]!r} the transformers engine {how}",
                where=client.spec.model,
                remedy="If that is meant, as of a quantised model, set verify_scores = 0 in [options.vllm].",
            )


def _apart(one: Scored, other: Scored) -> float | None:
    """The greatest difference between two scores' log-probabilities, or none where their tokens differ."""
    if [token.token for token in one.tokens] != [token.token for token in other.tokens]:
        return None
    pairs = zip(one.tokens, other.tokens, strict=True)
    return max((abs(left.log_probability - right.log_probability) for left, right in pairs), default=0.0)
