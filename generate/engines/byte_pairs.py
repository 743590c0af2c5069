"""Vocabularies of byte pairs that come inside the package `bpe-openai`, which is optional."""

from __future__ import annotations

import warnings

from polyculture.generate.engines.kind import TokenCounter


def byte_pairs(name: str) -> TokenCounter:
    """The vocabulary of this name, e.g. 'o200k_base'. The package must be installed."""
    # The package opens its data by a deprecated function.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        from bpe_openai import get_encoding

        encoding = get_encoding(name)
    return TokenCounter(lambda text: len(encoding.encode_ordinary(text)), name)
