"""vLLM, the main engine on GPUs: many prompts in flight, n samples of each, in a separate process.

    models = ["vllm:Qwen/Qwen2.5-7B-Instruct"]

    [options.vllm]
    tensor_parallel_size = 2       # and any other engine argument of the installed vLLM

vLLM: https://docs.vllm.ai
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from polyculture.cache.errors import EngineError, MissingDependencyError
from polyculture.generate.engines.base import Completion, ModelSpec, Request, Scored, ScoreRequest
from polyculture.generate.engines.options import read_options
from polyculture.generate.engines.vllm.client import Client
from polyculture.generate.engines.vllm.faults import wrong_folder
from polyculture.generate.engines.vllm.options import VllmOptions
from polyculture.generate.engines.vllm.sampling import sample
from polyculture.generate.engines.vllm.scoring import score


class VllmEngine:
    """A model in vLLM. Entering loads it; leaving ends vLLM's processes and frees the GPU."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.options = read_options(VllmOptions, spec)
        self._python = self._find_python()
        self._template = self._read_template()
        wrong = wrong_folder(spec)
        if wrong:
            raise wrong

    def __enter__(self) -> Self:
        settings = {
            "model": str(Path(self.spec.name).expanduser()),
            "arguments": self.options.arguments,
            "chat_template": self._template,
            "chat_template_kwargs": self.options.chat_template_kwargs,
            "bos": self.options.bos,
        }
        self._client = Client(self.spec, self._python, settings)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields a completion per request and seed as each is finished.

        Each text is a request of vLLM with its own seed, and the same independently of the others. Their common prompt
        is computed once. Raises `EngineError` where the model has no chat template or computes no finite numbers, and
        where vLLM ends.
        """
        return sample(self._client, requests)

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields a row per continuation, in the order in which they finish."""
        return score(self._client, requests)

    def _find_python(self) -> str:
        """The interpreter that has vLLM: this one, or that of the option."""
        if self.options.python is None:
            if find_spec("vllm") is None:
                raise MissingDependencyError("vllm", "vllm", f"The model {self.spec.model}")
            return sys.executable
        python = shutil.which(Path(self.options.python).expanduser())
        if python is None:
            what = f"python: there is no program {self.options.python}"
            remedy = "Name the python of the environment in which vLLM is installed."
            raise EngineError(what, where=f"options of {self.spec.model}", remedy=remedy)
        return python

    def _read_template(self) -> str | None:
        """The experiment's own chat template, where its file names one."""
        if self.options.chat_template is None:
            return None
        file = Path(self.options.chat_template).expanduser()
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            what = f"chat_template: {file} cannot be read"
            raise EngineError(what, where=f"options of {self.spec.model}", remedy="Name a Jinja file.") from fault
