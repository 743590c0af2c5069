"""A real vLLM with a real small model. `make test-vllm` installs both and says here where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generate.engines import ModelSpec, open_engine
from generate.engines.vllm.engine import VllmEngine

PYTHON = "POLYCULTURE_VLLM_PYTHON"  # the interpreter of the environment in which vLLM is installed
MODEL = "POLYCULTURE_VLLM_MODEL"  # the folder that `smollm2.py` wrote
# float32: what is compared here must not hang on rounding. A small cache and few texts at once: two cores.
ARGUMENTS: dict[str, Any] = {
    "dtype": "float32",
    "enforce_eager": True,
    "max_model_len": 1024,
    "max_num_seqs": 32,
    "kv_cache_memory_bytes": 500_000_000,
    "block_size": 32,
}


@pytest.fixture(scope="session")
def python() -> str:
    found = os.environ.get(PYTHON)
    if not found:
        pytest.skip(f"{PYTHON} names no environment with vLLM: run `make test-vllm`")
    return found


@pytest.fixture(scope="session")
def model(python: str) -> Path:
    return Path(os.environ[MODEL])


@pytest.fixture(scope="session")
def spec(python: str, model: Path) -> ModelSpec:
    return ModelSpec(f"vllm:{model}", {"python": python, **ARGUMENTS})


@pytest.fixture(scope="session")
def engine(spec: ModelSpec) -> Iterator[VllmEngine]:
    opened = open_engine(spec)
    assert isinstance(opened, VllmEngine)
    with opened:
        yield opened
