"""What `extra_body` may make a server write, and bill."""

from __future__ import annotations

from typing import Any

import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines import ModelSpec, read_options
from polyculture.generate.engines.openai.kind import UNBOUNDED, OpenAIOptions, most_written


@pytest.mark.parametrize(
    ("body", "most"),
    [
        ({}, 16),
        ({"max_tokens": 2000}, 2000),
        ({"max_completion_tokens": 2000}, 2000),
        ({"max_new_tokens": 2000, "max_tokens": 100}, 2000),
        ({"n_predict": 2000}, 2000),
        ({"options": {"num_predict": 2000}}, 2000),
        ({"n_predict": -1}, UNBOUNDED),
        ({"max_tokens": None}, UNBOUNDED),
        ({"max_tokens": 10**30}, UNBOUNDED),
        ({"n": 5}, 80),
        ({"n": 2, "max_tokens": 100, "best_of": 3}, 300),
        ({"thinking": {"type": "enabled", "budget_tokens": 1000}}, 1016),
        ({"thinking_budget": 1000}, 1016),
        ({"max_tokens": 8}, 16),
        ({"min_p": 0.1, "stop": ["a"], "top_k": 3, "repetition_penalty": 1.1}, 16),
    ],
)
def test_the_bound_of_an_answer_rises_with_what_is_asked_for(body: dict[str, Any], most: int) -> None:
    assert most_written(body, 16) == most


def test_a_longer_prompt_counts() -> None:
    spec = ModelSpec("openai:m", {"extra_body": {"documents": ["x" * 1000]}})
    prompt, written = read_options(OpenAIOptions, spec).most_tokens(100, 16)
    assert prompt >= 1100
    assert written == 16


def test_an_answer_in_pieces_is_refused() -> None:
    with pytest.raises(EngineError, match=r"stream.*possible"):
        read_options(OpenAIOptions, ModelSpec("openai:m", {"extra_body": {"stream": True}}))
