"""Which scores of vLLM are checked, and against what; by a model of arithmetic with a prefix cache like vLLM's."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines import ModelSpec, Scored, ScoreRequest
from polyculture.generate.engines.vllm.client import Client, ModelFacts
from polyculture.generate.engines.vllm.scoring import score
from tests.tiny_models import byte_level

BLOCK = 16
FACTS = ModelFacts("0.32.0", None, "float32", None, 4, 1024, False, BLOCK, None, None)


def log_probability(tokens: tuple[int, ...]) -> float:
    """That of the last token behind the others: a number that hangs on all of them."""
    return -int.from_bytes(hashlib.sha256(repr(tokens).encode()).digest()[:2]) / 4096


class PrefixCachingModel:
    """The client's side of a vLLM; `wrong_from` is the full pass or cached pass from which the cache gives nonsense."""

    def __init__(self, wrong_from: int | None = None) -> None:
        self.facts, self.spec, self.unk_token_id = FACTS, ModelSpec("vllm:small"), None
        self.model_version = "small"
        self.full: list[tuple[int, ...]] = []  # texts that were computed without the cache
        self._wrong_from, self._cached = wrong_from, 0
        self._tokenizer, self._numbers = byte_level(), iter(range(10**6))
        self._queue: deque[dict[str, Any]] = deque()
        self._blocks: set[tuple[int, ...]] = set()

    def __call__(self, text: list[str], **options: Any) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", self._tokenizer(text, **options))

    def number(self) -> int:
        return next(self._numbers)

    def send(self, line: dict[str, Any]) -> None:
        self._queue.append(line)

    def abort(self, numbers: list[int]) -> None:
        self._queue = deque(line for line in self._queue if line["id"] not in numbers)

    def read(self) -> dict[str, Any]:
        line = self._queue.popleft()
        tokens = tuple(line["tokens"])
        ends = range(BLOCK, len(tokens), BLOCK)
        known = max((end for end in ends if tokens[:end] in self._blocks), default=0) if line["cached"] else 0
        if not line["cached"]:
            self.full.append(tokens)
        self._cached += known > 0
        off = 1.0 if known and self._wrong_from is not None and self._cached >= self._wrong_from else 0.0
        self._blocks.update(tokens[:end] for end in ends)
        first = known + 1
        values = [
            log_probability(tokens[: place + 1]) + off if place >= first else 0.0
            for place in range(line["start"], len(tokens))
        ]
        names = self._tokenizer.convert_ids_to_tokens(list(tokens[line["start"] :]))
        return {"id": line["id"], "log_probabilities": values, "from": first, "tokens": names}


def contexts(count: int, entities: int = 5) -> list[ScoreRequest]:
    dishes = tuple(f"dish {number}" for number in range(entities))
    return [
        ScoreRequest(str(n), f"context {n}: we all ate the soup of the old house and then ", dishes)
        for n in range(count)
    ]


def scored(model: PrefixCachingModel, requests: list[ScoreRequest], *, cached: bool = True) -> Iterator[Scored]:
    return score(cast("Client", model), requests, cached=cached)


def by_place(rows: Iterator[Scored]) -> dict[tuple[str, int], Scored]:
    return {(row.request_id, row.index): row for row in rows}


def test_full_passes_are_spread_over_the_contexts_of_a_call() -> None:
    """All four that were checked stood behind the first context of the first type."""
    model, requests = PrefixCachingModel(), contexts(20)
    rows = by_place(scored(model, requests))
    assert rows == by_place(scored(PrefixCachingModel(), requests, cached=False))
    texts = [model._tokenizer.decode(list(tokens)) for tokens in model.full]
    checked = {next(request.request_id for request in requests if text.startswith(request.prefix)) for text in texts}
    assert len(model.full) == len(checked) == 5  # of 20 contexts the 1st, 2nd, 4th, 8th and 16th whose scores use it
    list(scored(model, contexts(3)))  # another call: another type, or another language
    assert len(model.full) == 7


@pytest.mark.parametrize("wrong_from", [1, 4, 30])
def test_a_cache_that_changes_scores_ends_the_run(wrong_from: int) -> None:
    rows = scored(PrefixCachingModel(wrong_from), contexts(20))
    with pytest.raises(EngineError, match=r"with its prefix cache this vLLM gives 'dish \d' another probability, by 1"):
        list(rows)


def test_nothing_that_rests_on_a_wrong_cache_is_handed_out() -> None:
    """Rows that came while the first comparison was under way went into the store as scores."""
    requests, handed = contexts(20), list[Scored]()
    right = by_place(scored(PrefixCachingModel(), requests, cached=False))
    rows = scored(PrefixCachingModel(1), requests)
    with pytest.raises(EngineError):
        handed.extend(iter(lambda: next(rows), None))
    assert all(row == right[row.request_id, row.index] for row in handed)
