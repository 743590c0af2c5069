"""A name of the hub where the hub does not answer."""

from __future__ import annotations

import time

import huggingface_hub.constants
import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.model_files import hub_arguments
from polyculture.generate.engines.openai.scoring import _load_tokenizer


def test_a_tokenizer_that_nobody_has_fails_at_once_where_the_hub_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its library retried each file for half a minute."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:1")
    hub_arguments.cache_clear()
    import transformers  # noqa: F401, loaded before the clock runs

    begun = time.monotonic()
    with pytest.raises(EngineError, match=r"nothing cannot be opened: the hub does not answer.*Give a name"):
        _load_tokenizer(ModelSpec("openai:m"), "nobody/nothing")
    hub_arguments.cache_clear()
    assert time.monotonic() - begun < 20
