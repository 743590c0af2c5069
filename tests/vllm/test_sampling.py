"""Sampling with a real vLLM: seeds, company, schemas, failures, and the same model behind `vllm serve`."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines import (
    Completion,
    Decoding,
    Message,
    ModelSpec,
    Request,
    Sampling,
    ScoreRequest,
    open_engine,
)
from polyculture.generate.engines.vllm.engine import VllmEngine
from tests.vllm.conftest import ARGUMENTS

pytestmark = [pytest.mark.vllm, pytest.mark.xdist_group("one model")]
QUESTION = "Write a short paragraph about a person and the food this person likes to eat."
BREAK = """
import sys
from safetensors.torch import load_file, save_file
weights = load_file(sys.argv[1])
weights["model.norm.weight"][0] = float("nan")
save_file(weights, sys.argv[1], metadata={"format": "pt"})
"""
SCHEMA = {
    "type": "object",
    "properties": {"drink": {"type": "string", "enum": ["tea", "coffee"]}, "cups": {"type": "boolean"}},
    "required": ["drink", "cups"],
    "additionalProperties": False,
}


def request(text: str = QUESTION, seeds: Iterable[int] = range(5, 13), **decoding: Any) -> Request:
    return Request(text, (Message("user", text),), Decoding(**{"max_tokens": 24, **decoding}), tuple(seeds))


def texts(completions: Iterable[Completion]) -> dict[tuple[str, int], str | None]:
    return {(completion.request_id, completion.seed): completion.text for completion in completions}


def test_the_same_seed_gives_the_same_text_in_any_company(engine: VllmEngine) -> None:
    first = texts(engine.sample([request()]))
    assert len(set(first.values())) == 8
    assert all(first.values())
    company = [request("Name a drink.", range(40)), request(seeds=(12, 6, 7, 9)), request("Name a car.", range(9))]
    second = texts(engine.sample(company))
    assert len(second) == 40 + 4 + 9
    assert {seed: second[QUESTION, seed] for seed in (6, 7, 9, 12)} == {s: first[QUESTION, s] for s in (6, 7, 9, 12)}


def test_texts_come_one_by_one_and_requests_are_taken_when_there_is_room(engine: VllmEngine) -> None:
    taken = []

    def many() -> Iterator[Request]:
        for number in range(200):
            taken.append(number)
            yield request(f"Count to {number}.", range(4), max_tokens=4)

    answers = engine.sample(many())
    next(answers)
    assert len(taken) <= 2 * ARGUMENTS["max_num_seqs"] / 4 + 1
    answers.close()
    # Samples of one request that end at different times do not wait for each other.
    ends = [answer.seed for answer in engine.sample([request(seeds=range(6), max_tokens=200, schema=SCHEMA)])]
    assert sorted(ends) == list(range(6))
    assert len(texts(engine.sample([request()]))) == 8  # what was closed before left nothing behind


def test_reason_tokens_and_version_are_kept(engine: VllmEngine, model: Path) -> None:
    (cut,) = engine.sample([request(seeds=(1,), max_tokens=12)])
    assert (cut.finish_reason, cut.completion_tokens, cut.error) == ("length", 12, None)
    assert cut.prompt_tokens > 10
    assert cut.model_version.startswith(f"{model} float32 vllm 0.")


def test_a_schema_constrains_the_answer(engine: VllmEngine) -> None:
    for completion in engine.sample([request("Which drink?", (1, 2, 3), max_tokens=60, schema=SCHEMA)]):
        answer = json.loads(completion.text or "")
        assert answer["drink"] in ("tea", "coffee")
        assert isinstance(answer["cups"], bool)


def test_where_nothing_is_left_to_chance_all_seeds_have_one_text(engine: VllmEngine) -> None:
    greedy = texts(engine.sample([request(seeds=(3, 9), temperature=0.0)]))
    narrow = texts(engine.sample([request(seeds=(3, 9), top_k=1)]))
    assert len(set(greedy.values())) == 1
    assert greedy == narrow


def test_a_request_that_cannot_be_is_a_failure_of_its_own(engine: VllmEngine) -> None:
    long = "many words " * 600
    found = {
        (answer.request_id, answer.seed): answer
        for answer in engine.sample(
            [request(long, (1, 2)), request(seeds=(1,)), request("x", (1,), schema={"type": 7})]
        )
    }
    assert len(found) == 4
    assert found[QUESTION, 1].error is None
    for failed in (found[long, 1], found[long, 2], found["x", 1]):
        assert (failed.text, failed.retryable) == (None, False)
        assert failed.error
        assert "\n" not in failed.error
    assert "maximum context length is 1024 tokens" in (found[long, 1].error or "")


def test_a_model_without_a_chat_template_says_so(engine: VllmEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine._client, "facts", replace(engine._client.facts, chat_template=False))
    with pytest.raises(EngineError, match=r"has no chat template\. It is a base model: take its chat version"):
        next(engine.sample([request()]))


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"tensor_paralel_size": 2}, r"unknown option 'tensor_paralel_size'.*Did you mean 'tensor_parallel_size'\?"),
        ({"chat_templat": "x"}, r"Did you mean 'chat_template'\?"),
        ({"model": "other"}, "unknown option 'model'"),
        (
            {"max_model_len": "long"},
            r"max_model_len: .* a valid integer.*, not 'long'\. Correct it in \[options\.vllm\]",
        ),
    ],
    ids=str,
)
def test_an_option_that_vllm_does_not_take_is_one_line(spec: ModelSpec, option: dict[str, Any], said: str) -> None:
    with pytest.raises(EngineError, match=said) as told:
        open_engine(ModelSpec(spec.model, {**spec.options, **option})).__enter__()
    assert "\n" not in str(told.value)


def test_a_model_that_computes_no_numbers_is_named_and_not_sampled(
    spec: ModelSpec, model: Path, python: str, tmp_path: Path
) -> None:
    shutil.copytree(model, tmp_path, dirs_exist_ok=True)
    subprocess.run([python, "-c", BREAK, str(tmp_path / "model.safetensors")], check=True)
    with open_engine(ModelSpec(f"vllm:{tmp_path}", spec.options)) as broken:
        with pytest.raises(EngineError, match=f"vllm:{tmp_path}: computes logits that are no finite numbers"):
            list(broken.sample([request()]))
        assert isinstance(broken, VllmEngine)
        (row,) = broken.score([ScoreRequest("a", "She eats", (" ramen",))])
        assert row.error == "a log-probability is not a finite number"


@pytest.mark.slow
def test_a_model_that_does_not_fit_says_how_much_is_missing(spec: ModelSpec) -> None:
    narrow = ModelSpec(spec.model, {**spec.options, "max_model_len": 8192, "kv_cache_memory_bytes": 50_000_000})
    said = r"max_model_len = 8192 tokens needs [\d.]+ GiB of cache, [\d.]+ GiB are free.*max_model_len = \d+ fits"
    with pytest.raises(EngineError, match=said) as told:
        open_engine(narrow).__enter__()
    assert "\n" not in str(told.value)


@pytest.mark.slow
def test_the_model_served_over_http_gives_the_same_texts(engine: VllmEngine, served: Sampling) -> None:
    asked = [
        request(),
        request("Nombra una bebida.", range(100, 104), temperature=1.0, top_p=0.8, top_k=None),
        request("Name a car.", (1,), temperature=0.0),
        request("Which drink?", (1, 2), max_tokens=60, schema=SCHEMA),
    ]
    here, there = texts(engine.sample(asked)), texts(served.sample(asked))
    assert len(here) == 8 + 4 + 1 + 2
    assert here == there
