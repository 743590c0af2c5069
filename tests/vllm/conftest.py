"""A real vLLM with a real small model. `make test-vllm` installs both and says here where they are."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.generate.engines import ModelSpec, open_engine
from polyculture.generate.engines.openai.scoring import OpenAIScorer
from polyculture.generate.engines.vllm.engine import VllmEngine

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


@pytest.fixture(scope="session")
def served(python: str, model: Path) -> Iterator[OpenAIScorer]:
    """The same model behind `vllm serve`, asked by the `openai` engine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in ARGUMENTS.items() if value is not True]
    flags += [f"--{name.replace('_', '-')}" for name, value in ARGUMENTS.items() if value is True]
    command = [python, "-m", "vllm.entrypoints.openai.api_server", f"--model={model}", f"--port={port}"]
    command += ["--served-model-name=small", "--host=127.0.0.1", *flags]
    with subprocess.Popen(command, stdout=sys.stderr, stderr=sys.stderr) as server:
        try:
            _wait_until_it_answers(f"http://127.0.0.1:{port}/health", server)
            options = {"base_url": f"http://127.0.0.1:{port}/v1", "concurrency": 32, "tokenizer": str(model)}
            with OpenAIScorer(ModelSpec("openai:small", options)) as client:
                yield client
        finally:
            server.terminate()


def _wait_until_it_answers(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.5)
    pytest.fail(f"vllm serve does not answer; it ended with {server.poll()}")
