"""The declaration of the `transformers` engine: causal and masked models in this process, on a CPU or a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from polyculture.cache.errors import EngineError
from polyculture.cache.extras import Extra
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.capabilities import (
    ATTENDING,
    PATCHING,
    REPRESENTING,
    SAMPLING,
    SCORING,
    TOKENIZING,
)
from polyculture.generate.engines.kind import EngineKind, Offer
from polyculture.generate.engines.model_files import model_files
from polyculture.generate.engines.options import PACE, Decides, Options, Use

EXTRA = Extra("transformers", ("torch", "transformers", "accelerate"))
_ENGINE = "transformers.engine:TransformersEngine"


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


def _precision(options: TransformersOptions, use: Use) -> Mapping[str, Any]:
    """The precision, where the device is named that decides it: see `TransformersOptions.dtype`.

    Scores in half precision are tenths of a nat from those in single precision.
    """
    if use == "tokenize" or options.dtype is not None or options.device is None:
        return {}
    return {"dtype": "float32" if options.device.startswith("cpu") else "the checkpoint's"}


def _check(spec: ModelSpec, options: TransformersOptions) -> None:
    if options.bare_prompts and options.system is not None:
        raise EngineError(
            "a base model that continues a text (bare_prompts) takes no system prompt",
            where=f"options of {spec.model}",
            remedy='Write system = "" for it, or name its chat version.',
        )


def _masked(spec: ModelSpec, options: TransformersOptions) -> bool:
    from polyculture.generate.engines.transformers.loading import is_masked

    return is_masked(spec, options)


KIND = EngineKind(
    name="transformers",
    options=TransformersOptions,
    paid=False,
    offers=(
        Offer(SAMPLING, _ENGINE, EXTRA),
        Offer(SCORING, _ENGINE, EXTRA),
        Offer(REPRESENTING, _ENGINE, EXTRA),
        Offer(PATCHING, _ENGINE, EXTRA),
        Offer(ATTENDING, _ENGINE, EXTRA),
        Offer(TOKENIZING, "transformers.loading:ModelTokenizer", EXTRA),
    ),
    further_setup=_precision,
    check=_check,
    files=model_files,
    masked=_masked,
)
