"""How many tokens a prompt has, by the model's own tokenizer where it is at hand."""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polyculture.generate.engines import ModelSpec, find_kind
from polyculture.generate.engines.kind import TokenCounter

STAND_IN = "o200k_base"  # counts for a model whose tokenizer is not at hand; a multilingual one like most of today
_BYTES = 3  # of UTF-8 a token, where there is no tokenizer at all: between English (4.5) and Thai (2 to 3)
PER_TEXT = 1  # the token that begins a text, of models that have one
PER_CHAT = 7  # what OpenAI's chat format adds to one turn of a user's (OpenAI Cookbook, How to count tokens)


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens of texts, each as a chat of one turn, and what counted them."""

    tokens: list[int]
    counted_by: str


def count_tokens(spec: ModelSpec, texts: Sequence[str]) -> TokenCount:
    """The tokens of each text. Where the model's tokenizer is not on this machine they are estimated by another's, or
    from the text's length, and `counted_by` says so. Nothing is downloaded."""
    counter = token_counter(spec)
    return TokenCount([counter.encode(text) + PER_CHAT for text in texts], counter.name)


def token_counter(spec: ModelSpec) -> TokenCounter:
    """What `count_tokens` counts a model's tokens with; the tokenizer that its options name comes first."""
    named = spec.options.get("tokenizer")
    own = _tokenizer_file(spec.place_or_name(str(named))) if named else None
    return own or find_kind(spec).counter(spec) or _tokenizer_file(spec.place_or_name(spec.name)) or _stand_in()


def _tokenizer_file(name: str) -> TokenCounter | None:
    """The `tokenizer.json` of a model in a folder or in the hub's cache, with the package `tokenizers`."""
    file = _find_tokenizer_file(name)
    if file is None or importlib.util.find_spec("tokenizers") is None:
        return None
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    return TokenCounter(lambda text: len(tokenizer.encode(text).ids), "its own tokenizer")


def _find_tokenizer_file(name: str) -> Path | None:
    file = Path(name) / "tokenizer.json"
    if file.is_file():
        return file
    if name.count("/") != 1 or importlib.util.find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(name, "tokenizer.json")
    except HFValidationError:
        return None
    return Path(cached) if isinstance(cached, str) else None


def _stand_in() -> TokenCounter:
    if importlib.util.find_spec("bpe_openai") is not None:
        return TokenCounter(byte_pairs(STAND_IN).encode, f"estimate by {STAND_IN}")
    return TokenCounter(lambda text: math.ceil(len(text.encode()) / _BYTES), f"estimate: a token every {_BYTES} bytes")


@cache  # the package makes its tables anew, a sixth of a second, for each model that is counted
def byte_pairs(name: str) -> TokenCounter:
    """The vocabulary of this name, e.g. 'o200k_base'. The package must be installed."""
    with _its_own_warnings():
        from bpe_openai import get_encoding

        encoding = get_encoding(name)
    return TokenCounter(lambda text: len(encoding.encode_ordinary(text)), name)


def vocabulary_name(model: str) -> str:
    """The name of an OpenAI model's vocabulary. Raises `KeyError` of another model. The package must be installed."""
    with _its_own_warnings():
        from bpe_openai import encoding_name_for_model

        name: str = encoding_name_for_model(model)
    return name


@contextmanager
def _its_own_warnings() -> Iterator[None]:
    """The package opens its data by a deprecated function."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        yield
