"""Log-probabilities of continuations from vLLM: one pass over each whole text, as vLLM itself makes them.

vLLM reads no prefix cache for them. A context is a sentence or two, and is computed anew for each continuation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polyculture.generate.engines.base import Scored, ScoreRequest, TokenScore
from polyculture.generate.engines.token_boundary import TokenisedPair, split_pairs
from polyculture.generate.engines.vllm.client import AHEAD, Client
from polyculture.generate.engines.vllm.faults import in_short
from polyculture.generate.engines.vllm.process import Line


def score(client: Client, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
    """Yields a row per continuation as each is finished, `AHEAD` times as many in flight as vLLM runs at once."""
    asked: dict[int, tuple[str, TokenisedPair]] = {}
    pairs = (
        (request.request_id, pair)
        for request in requests
        for pair in split_pairs(client, request, bos=client.facts.bos_token_id)
    )
    try:
        while True:
            while len(asked) < AHEAD * client.facts.max_num_seqs and (one := next(pairs, None)) is not None:
                name, pair = one
                if pair.error is not None:
                    yield Scored(name, pair.index, error=pair.error)
                    continue
                number = client.number()
                asked[number] = one
                client.send({"id": number, "tokens": pair.ids[: pair.end], "start": pair.start})
            if not asked:
                return
            answer = client.read()
            if answer["id"] in asked:  # else of an iterator that was closed before it came
                yield _scored(*asked.pop(answer["id"]), answer, client.model_version)
    finally:
        if asked:
            client.abort(list(asked))


def _scored(name: str, pair: TokenisedPair, answer: Line, version: str) -> Scored:
    if "error" in answer:
        return Scored(name, pair.index, boundary=pair.boundary, error=in_short(answer["error"]))
    tokens = tuple(map(TokenScore, answer["tokens"], answer["log_probabilities"]))
    return Scored(name, pair.index, tokens, pair.boundary, model_version=version)
