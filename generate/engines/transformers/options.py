"""The options of the `transformers` engine, and the packages that it needs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from polyculture.cache.extras import Extra
from polyculture.generate.engines.options import PACE, Decides, Options

EXTRA = Extra("transformers", ("torch", "transformers", "accelerate"))


class TransformersOptions(Options):
    """Options of the `transformers` engine."""

    revision: str | None = None  # a commit, tag or branch of the hub
    dtype: Literal["float32", "bfloat16", "float16"] | None = None  # float32 on a CPU, else the checkpoint's own
    device: Annotated[str | None, PACE] = None  # "cpu", "cuda", "cuda:1"; the first GPU unless told
    # A seed: the same model with weights drawn anew, as before its training. A control of what is read out of it.
    random_weights: int | None = Field(default=None, ge=0)
    trust_remote_code: bool = False  # run code that comes with the model
    attention: Annotated[str | None, PACE] = None  # "sdpa", "eager"; the model's own unless told
    # Texts that are written at the same time: 8 on a CPU, else 128, unless told.
    batch_size: Annotated[int | None, PACE] = Field(default=None, ge=1)
    # Continue the prompt's text without a chat template, as base models do.
    bare_prompts: Annotated[bool, Decides("answer", "patch", "attend")] = False
    batch_tokens: Annotated[int | None, PACE] = Field(default=None, ge=1)  # tokens that are scored in one pass
    batch_patches: Annotated[int, PACE] = Field(default=128, ge=1)  # patched states that are continued at one time
    # Prepend the BOS token where the tokenizer itself does not.
    bos: Annotated[bool, Decides("score", "represent", "patch", "attend")] = False
    masked: Annotated[Literal["fill", "pseudo"], Decides("score")] = "fill"  # of scoring with a masked model
