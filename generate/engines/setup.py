"""What a model is known by before it is asked: which one it is, exactly, and the options that decide what it says.

Rows made under one setup are never counted together with rows made under another. Options that only say how fast or by
which way something is computed, and those that stand at their defaults, are in no setup.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from polyculture.cache.errors import EngineError
from polyculture.cache.identity import model_sha256
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.llamacpp import find_gguf, is_gguf
from polyculture.generate.engines.options import OPTIONS, VllmOptions, read_options

Use = Literal["score", "represent", "answer"]  # log-probabilities, hidden states, texts
WEIGHTS = "weights"  # in a setup: the hash of the model's files, where they lie here

_ALWAYS: Mapping[str, Collection[str]] = {
    "openai": ("base_url",),
    "llamacpp": (),
    "transformers": ("revision", "dtype", "trust_remote_code"),
    "vllm": (),
}
_FOR_USE: Mapping[tuple[str, Use], Collection[str]] = {
    ("openai", "score"): ("tokenizer", "bos"),
    ("openai", "answer"): ("extra_body",),
    ("transformers", "score"): ("bos", "masked"),
    ("transformers", "represent"): ("bos",),
    ("transformers", "answer"): ("bare_prompts",),
    ("vllm", "score"): ("bos",),
    ("vllm", "answer"): ("chat_template", "chat_template_kwargs"),
}
# Engine arguments of vLLM's that say where and how fast. All others may decide.
_PACE = frozenset(
    (
        *("gpu_memory_utilization", "max_num_seqs", "max_num_batched_tokens", "max_model_len", "block_size"),
        *("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "distributed_executor_backend"),
        *("enforce_eager", "enable_prefix_caching", "enable_chunked_prefill", "swap_space", "cpu_offload_gb"),
        *("download_dir", "load_format", "disable_log_stats"),
    )
)


def model_setup(spec: ModelSpec, use: Use) -> dict[str, Any]:
    """The setup of a model. Reads its weights where it is a file or a folder; opens and downloads nothing.

    Raises `EngineError` where an option is wrong.
    """
    options = read_options(OPTIONS[spec.engine], spec)
    wanted = {*_ALWAYS[spec.engine], *_FOR_USE.get((spec.engine, use), ())}
    setup = options.model_dump(include=wanted, exclude_defaults=True)
    if isinstance(options, VllmOptions):
        setup |= {name: value for name, value in options.arguments.items() if name not in _PACE}
    weights = _weights(spec)
    return setup if weights is None else {**setup, WEIGHTS: weights}


def _weights(spec: ModelSpec) -> str | None:
    """The hash of a model's files; None of a name of the hub, a server's model, or files that are not here."""
    if spec.engine == "openai":
        return None
    if is_gguf(spec.name):
        try:
            place = find_gguf(spec.name)
        except EngineError:
            return None
    else:
        place = Path(spec.name).expanduser()
    return f"sha256:{model_sha256(place)[:16]}" if place.exists() else None
