"""The declaration of the `vllm` engine, the main engine on GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.capabilities import SAMPLING, SCORING, TOKENIZING, Tokenizing
from polyculture.generate.engines.gguf import model_files
from polyculture.generate.engines.kind import EngineKind, Offer
from polyculture.generate.engines.options import Use
from polyculture.generate.engines.transformers.options import EXTRA
from polyculture.generate.engines.vllm.options import OF_TEXTS, PACE_ARGUMENTS, VllmOptions

if TYPE_CHECKING:
    from polyculture.generate.engines.vllm.engine import VllmEngine


def _open(spec: ModelSpec, _: VllmOptions) -> VllmEngine:
    from polyculture.generate.engines.vllm.engine import VllmEngine

    return VllmEngine(spec)


def _open_tokenizer(spec: ModelSpec, _: VllmOptions) -> Tokenizing:
    """Open the tokenizer as the transformers engine does: a model's files are the same for both."""
    from polyculture.generate.engines.transformers.options import TransformersOptions
    from polyculture.generate.engines.transformers.vocabulary import ModelTokenizer

    return ModelTokenizer(spec, TransformersOptions())


def _deciding_arguments(options: VllmOptions, use: Use) -> Mapping[str, Any]:
    pace = PACE_ARGUMENTS - OF_TEXTS if use == "sample" else PACE_ARGUMENTS
    decide = {name: value for name, value in options.arguments.items() if name not in pace}
    if options.chat_template is None or use not in ("answer", "sample"):
        return decide
    return {**decide, "chat_template": Path(options.chat_template).expanduser()}


def _files(spec: ModelSpec, _: VllmOptions) -> Path | None:
    return model_files(spec.name)


def _gpus(options: VllmOptions) -> float:
    return float(options.arguments.get("tensor_parallel_size", 1))


# No extra: vLLM may be in a separate environment (the option `python`), so the engine looks for it.
KIND = EngineKind(
    name="vllm",
    options=VllmOptions,
    paid=False,
    offers=(Offer(SAMPLING, _open), Offer(SCORING, _open), Offer(TOKENIZING, _open_tokenizer, EXTRA)),
    further_setup=_deciding_arguments,
    files=_files,
    gpus=_gpus,
)
