"""How the engine scores over vLLM's process: by a client that answers in any order, with a model of arithmetic."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, cast

from polyculture.generate.engines import ModelSpec, Scored, ScoreRequest
from polyculture.generate.engines.vllm.client import Client, LoadedModelFacts
from polyculture.generate.engines.vllm.engine import score
from tests.tiny_models import byte_level

FACTS = LoadedModelFacts("0.32.0", None, "float32", None, 4, 1024, False, None, None)


def log_probability(tokens: tuple[int, ...]) -> float:
    """That of the last token behind the others: a number that hangs on all of them."""
    return -int.from_bytes(hashlib.sha256(repr(tokens).encode()).digest()[:2]) / 4096


class BackwardModel:
    """The client's side of a vLLM that answers the last request first, and fails one."""

    def __init__(self) -> None:
        self.facts, self.spec, self.unk_token_id = FACTS, ModelSpec("vllm:small"), None
        self.model_version, self.most, self.aborted = "small", 0, list[int]()
        self._tokenizer, self._numbers = byte_level(), iter(range(10**6))
        self._queue: list[dict[str, Any]] = []

    def __call__(self, text: list[str], **options: Any) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", self._tokenizer(text, **options))

    def number(self) -> int:
        return next(self._numbers)

    def send(self, line: dict[str, Any]) -> None:
        self._queue.append(line)
        self.most = max(self.most, len(self._queue))

    def abort(self, numbers: list[int]) -> None:
        self.aborted += numbers

    def read(self) -> dict[str, Any]:
        line = self._queue.pop()
        if line["id"] == 3:
            return {"id": 3, "error": "a fault\nof vLLM"}
        tokens, places = tuple(line["tokens"]), range(line["start"], len(line["tokens"]))
        values = [log_probability(tokens[: place + 1]) for place in places]
        names = self._tokenizer.convert_ids_to_tokens(list(tokens[line["start"] :]))
        return {"id": line["id"], "log_probabilities": values, "tokens": names}


REQUESTS = [ScoreRequest(str(n), f"context {n}: we ate ", ("", *(f"dish {k}" for k in range(5)))) for n in range(20)]


def test_each_answer_goes_to_its_continuation() -> None:
    model = BackwardModel()
    rows = {(row.request_id, row.index): row for row in score(cast("Client", model), REQUESTS)}
    assert len(rows) == 120
    assert model.most == 2 * FACTS.max_num_seqs
    assert {place for place, row in rows.items() if row.error} == {*((str(n), 0) for n in range(20)), ("0", 4)}
    assert rows["0", 4].error == "a fault of vLLM"
    whole = model._tokenizer("context 7: we ate dish 2")["input_ids"]
    assert [token.log_probability for token in rows["7", 3].tokens][-1] == log_probability(tuple(whole))


def test_what_nobody_waits_for_is_aborted() -> None:
    model, rows = BackwardModel(), list[Scored]()
    iterator = score(cast("Client", model), REQUESTS)
    rows += [next(iterator), next(iterator)]
    iterator.close()  # type: ignore[attr-defined]
    assert len(model.aborted) == 7
