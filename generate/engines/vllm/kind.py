"""The declaration of the `vllm` engine, the main engine on GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyculture.generate.engines.capabilities import SAMPLING, SCORING, TOKENIZING
from polyculture.generate.engines.gguf import model_files
from polyculture.generate.engines.kind import EngineKind, Offer
from polyculture.generate.engines.options import Use
from polyculture.generate.engines.transformers.options import EXTRA
from polyculture.generate.engines.vllm.options import OF_TEXTS, PACE_ARGUMENTS, VllmOptions

_ENGINE = "vllm.engine:VllmEngine"


def _deciding_arguments(options: VllmOptions, use: Use) -> Mapping[str, Any]:
    pace = PACE_ARGUMENTS - OF_TEXTS if use == "sample" else PACE_ARGUMENTS
    decide = {name: value for name, value in options.arguments.items() if name not in pace}
    if options.chat_template is None or use not in ("answer", "sample"):
        return decide
    return {**decide, "chat_template": Path(options.chat_template).expanduser()}


# No extra: vLLM may be in a separate environment (the option `python`), so the engine looks for it.
KIND = EngineKind(
    name="vllm",
    options=VllmOptions,
    paid=False,
    offers=(
        Offer(SAMPLING, _ENGINE),
        Offer(SCORING, _ENGINE),
        Offer(TOKENIZING, "transformers.vocabulary:ModelTokenizer", EXTRA),
    ),
    further_setup=_deciding_arguments,
    files=model_files,
    gpus=lambda options: float(options.arguments.get("tensor_parallel_size", 1)),
)
