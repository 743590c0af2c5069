"""Scores held against those of another implementation of the same model, before the first is handed out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cache.errors import EngineError
from generate.engines.base import Engine, ModelSpec, Scored, ScoreRequest
from generate.engines.options import VllmOptions
from generate.engines.vllm.client import Client
from generate.engines.vllm.scoring import TOLERANCE, TOLERANCE_HALF, score


def verified(client: Client, requests: Iterable[ScoreRequest], options: VllmOptions) -> Iterator[ScoreRequest]:
    """The requests as they come; before the first goes on, `verify_scores` of its continuations are scored by the
    `transformers` engine, too.

    Raises `EngineError` where the two see other tokens or give other probabilities.
    """
    count = options.verify_scores
    for number, request in enumerate(requests):
        if count and number == 0:
            _verify(client, replace(request, continuations=request.continuations[:count]), options)
        yield request


def _verify(client: Client, request: ScoreRequest, options: VllmOptions) -> None:
    from generate.engines import open_engine

    settings = {"dtype": client.facts.dtype, "revision": client.facts.revision, "bos": options.bos}
    spec = ModelSpec(f"transformers:{client.spec.name}", settings)
    with open_engine(spec) as other:
        _compare(client, request, other)


def _compare(client: Client, request: ScoreRequest, other: Engine) -> None:
    theirs = {row.index: row for row in other.score([request])}
    for row in score(client, [request]):
        apart = _apart(row, theirs[row.index])
        if apart is None or apart > TOLERANCE.get(client.facts.dtype, TOLERANCE_HALF):
            how = "sees other tokens" if apart is None else f"gives another probability, by {apart:.3g}"
            raise EngineError(
                f"of {request.continuations[row.index]!r} the transformers engine {how}",
                where=client.spec.model,
                remedy="A quantised model may be that far from the whole one: set verify_scores = 0 if it is meant.",
            )


def _apart(one: Scored, other: Scored) -> float | None:
    """The greatest difference between two scores' log-probabilities, or none where their tokens are not the same."""
    if [token.token for token in one.tokens] != [token.token for token in other.tokens]:
        return None
    pairs = zip(one.tokens, other.tokens, strict=True)
    return max((abs(left.log_probability - right.log_probability) for left, right in pairs), default=0.0)
