"""How large a model is, from its configuration alone: no weights are read, and nothing is downloaded."""

from __future__ import annotations

from typing import Any

from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.shape import ModelShape
from polyculture.generate.engines.transformers.options import TransformersOptions

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


def read_shape(spec: ModelSpec, options: TransformersOptions) -> ModelShape | None:
    """The shape of a causal model; None where its files are not on this machine or hold something else."""
    import torch
    from transformers import AutoConfig

    from polyculture.generate.engines.transformers.loading import place_of

    place = place_of(spec, options)
    try:
        config = AutoConfig.from_pretrained(place.name, local_files_only=True, **place.arguments)
    except (OSError, ValueError, ImportError, KeyError):
        return None
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = options.dtype or ("float32" if device == "cpu" else str(config.dtype or "float32").removeprefix("torch."))
    return shape_of(config, _BYTES.get(dtype, 4), options)


def shape_of(config: Any, bytes_each: int, options: TransformersOptions) -> ModelShape | None:
    """The shape of a configuration, whose model is laid out without any memory; None where it is no causal model."""
    import torch
    from transformers import AutoModelForCausalLM

    kind: Any = AutoModelForCausalLM
    text = config.get_text_config(decoder=True)
    try:
        with torch.device("meta"):
            model: Any = kind.from_config(config, trust_remote_code=options.trust_remote_code)
    except (ValueError, KeyError, ImportError, NotImplementedError):
        return None
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    parameters = sum(one.numel() for one in model.parameters())
    return ModelShape(
        text.num_hidden_layers, text.hidden_size, 2 * heads * width, text.vocab_size, parameters, bytes_each,
        options.batch_size, options.batch_patches,
    )  # fmt: skip
