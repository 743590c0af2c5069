"""The declaration of the `vllm` engine, the main engine on GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict

from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.capabilities import SAMPLING, SCORING, TOKENIZING
from polyculture.generate.engines.kind import EngineKind, Offer
from polyculture.generate.engines.model_files import model_files
from polyculture.generate.engines.options import PACE, Decides, Options, Use
from polyculture.generate.engines.transformers.options import EXTRA

_ENGINE = "vllm.engine:VllmEngine"


# Engine arguments of vLLM that affect only placement and speed. All others may change a model's answers. A text ends
# where the context does, and `load_format` may choose other files or none: these two decide texts.
PACE_ARGUMENTS = frozenset(
    (
        *("gpu_memory_utilization", "max_num_seqs", "max_num_batched_tokens", "max_model_len", "block_size"),
        *("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "distributed_executor_backend"),
        *("enforce_eager", "enable_prefix_caching", "enable_chunked_prefill", "swap_space", "cpu_offload_gb"),
        *("download_dir", "load_format", "disable_log_stats"),
    )
)


OF_TEXTS = frozenset(("max_model_len", "load_format"))


class VllmOptions(Options):
    """Options of the `vllm` engine. All other names are engine arguments of vLLM."""

    model_config = ConfigDict(extra="allow")

    # The interpreter of the environment where vLLM is installed; by default the current one.
    python: Annotated[str | None, PACE] = None
    chat_template: Annotated[str | None, Decides("answer")] = None  # a Jinja file; the model's own unless told
    # Variables of the chat template: enable_thinking, ...
    chat_template_kwargs: Annotated[Mapping[str, Any], Decides("answer")] = {}
    # For scoring: prepend the BOS token where the tokenizer itself does not.
    bos: Annotated[bool, Decides("score")] = False

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments passed to vLLM."""
        return self.model_extra or {}


def _deciding_arguments(spec: ModelSpec, options: VllmOptions, use: Use) -> Mapping[str, Any]:
    pace = PACE_ARGUMENTS - OF_TEXTS if use == "sample" else PACE_ARGUMENTS
    decide = {name: value for name, value in options.arguments.items() if name not in pace}
    if options.chat_template is None or use not in ("answer", "sample"):
        return decide
    return {**decide, "chat_template": spec.place(options.chat_template)}


# No extra: vLLM may be in a separate environment (the option `python`), so the engine looks for it.
KIND = EngineKind(
    name="vllm",
    options=VllmOptions,
    paid=False,
    offers=(
        Offer(SAMPLING, _ENGINE),
        Offer(SCORING, _ENGINE),
        Offer(TOKENIZING, "transformers.loading:ModelTokenizer", EXTRA),
    ),
    further_setup=_deciding_arguments,
    files=model_files,
    gpus=lambda options: float(options.arguments.get("tensor_parallel_size", 1)),
)
