"""The identity of a request: what is in it, and what is not; and the seeds of its samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyculture.generate.request import PromptRequests, imported_request_id, request_id, response_id
from polyculture.generate.sampling import SamplingSettings

STUDY = SamplingSettings()
SETUP = {"revision": "a", "weights": "sha256:0", "system": "Be polite."}


def identity(text: str = "x", sampling: SamplingSettings = STUDY, **changed: Any) -> str:
    told = {"model": "openai:a", "setup": SETUP, "sentence": None, **changed}
    return PromptRequests(**told).request_id(text, sampling)


@pytest.mark.parametrize(
    "other",
    [
        {"text": "y"},
        {"model": "openai:b"},
        {"model": "openai:a@polite"},
        {"setup": {**SETUP, "revision": "b"}},
        {"setup": {**SETUP, "weights": "sha256:1"}},
        {"setup": {**SETUP, "system": "Be short."}},
        {"setup": {"revision": "a", "weights": "sha256:0"}},
        {"sentence": "Please answer in English."},
        {"sampling": replace(STUDY, temperature=1.0)},
        {"sampling": replace(STUDY, top_p=1.0)},
        {"sampling": replace(STUDY, top_k=None)},
        {"sampling": replace(STUDY, max_tokens=64)},
        {"sampling": replace(STUDY, seed=2)},
    ],
    ids=str,
)
def test_whatever_decides_an_answer_makes_another_request(other: dict[str, Any]) -> None:
    assert identity(**other) != identity()


def test_more_samples_and_the_order_of_options_are_the_same_request() -> None:
    assert identity(sampling=replace(STUDY, n=1000)) == identity()
    assert identity(setup=dict(reversed(SETUP.items()))) == identity()


def test_a_sentence_of_the_model_and_one_in_the_prompt_are_the_same_request() -> None:
    assert identity("x?", sentence="In English.") == identity("x? In English.")


def test_what_is_not_sent_decides_nothing() -> None:
    silent = {**SETUP, "omit": ["seed", "top_k"]}
    assert identity(setup=silent, sampling=replace(STUDY, seed=2, top_k=5)) == identity(setup=silent)
    assert identity(setup=silent, sampling=replace(STUDY, top_p=0.5)) != identity(setup=silent)


def test_uses_are_apart_and_a_row_has_its_sample() -> None:
    assert request_id("sample", "m", {}, "x") != request_id("score", "m", {}, "x")
    assert imported_request_id("imported:a", "p") != imported_request_id("imported:b", "p")
    assert response_id("abc", 7) == "abc-7"


def test_the_defaults_are_those_of_the_study() -> None:
    assert (STUDY.n, STUDY.temperature, STUDY.top_p, STUDY.top_k) == (500, 0.7, 0.9, 10)


@given(st.text(), st.integers(0, 2**31 - 1), st.integers(0, 10**9))
def test_every_seed_fits_31_bits_and_counts_on_from_the_first(text: str, seed: int, sample: int) -> None:
    base = replace(STUDY, seed=seed).base_seed(text)
    assert base >= 0
    assert base + sample < 2**31


def test_prompts_and_experiments_have_seeds_of_their_own() -> None:
    texts = [f"prompt {number}" for number in range(1000)]
    assert len({STUDY.base_seed(text) for text in texts}) == 1000
    assert STUDY.base_seed("a") != replace(STUDY, seed=2).base_seed("a")
    assert STUDY.base_seed("a") == SamplingSettings().base_seed("a")
