"""The declaration of the `transformers` engine: causal and masked models in this process, on a CPU or a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.capabilities import (
    ATTENDING,
    PATCHING,
    REPRESENTING,
    SAMPLING,
    SCORING,
    TOKENIZING,
    Tokenizing,
)
from polyculture.generate.engines.gguf import model_files
from polyculture.generate.engines.kind import EngineKind, Offer
from polyculture.generate.engines.options import Use
from polyculture.generate.engines.transformers.options import EXTRA, TransformersOptions

if TYPE_CHECKING:
    from polyculture.generate.engines.transformers.engine import TransformersEngine


def _open(spec: ModelSpec, _: TransformersOptions) -> TransformersEngine:
    from polyculture.generate.engines.transformers.engine import TransformersEngine

    return TransformersEngine(spec)


def _open_tokenizer(spec: ModelSpec, options: TransformersOptions) -> Tokenizing:
    from polyculture.generate.engines.transformers.vocabulary import ModelTokenizer

    return ModelTokenizer(spec, options)


def _precision(options: TransformersOptions, use: Use) -> Mapping[str, Any]:
    """The precision of texts, where the device is named that decides it: see `TransformersOptions.dtype`."""
    if use != "sample" or options.dtype is not None or options.device is None:
        return {}
    return {"dtype": "float32" if options.device.startswith("cpu") else "the checkpoint's"}


def _check(spec: ModelSpec, options: TransformersOptions) -> None:
    if options.bare_prompts and options.system is not None:
        raise EngineError(
            "a base model that continues a text (bare_prompts) takes no system prompt",
            where=f"options of {spec.model}",
            remedy='Write system = "" for it, or name its chat version.',
        )


def _files(spec: ModelSpec, _: TransformersOptions) -> Path | None:
    return model_files(spec.name)


KIND = EngineKind(
    name="transformers",
    options=TransformersOptions,
    paid=False,
    offers=(
        Offer(SAMPLING, _open, EXTRA),
        Offer(SCORING, _open, EXTRA),
        Offer(REPRESENTING, _open, EXTRA),
        Offer(PATCHING, _open, EXTRA),
        Offer(ATTENDING, _open, EXTRA),
        Offer(TOKENIZING, _open_tokenizer, EXTRA),
    ),
    further_setup=_precision,
    check=_check,
    files=_files,
)
