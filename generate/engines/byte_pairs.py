"""Vocabularies of byte pairs that come inside the package `bpe-openai`, which is optional."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from polyculture.generate.engines.kind import TokenCounter


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
