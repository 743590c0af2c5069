"""The declaration of the `transformers` engine: causal and masked models in this process, on a CPU or a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyculture.cache.errors import EngineError
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
from polyculture.generate.engines.options import Use
from polyculture.generate.engines.transformers.loading import is_masked, layers_of
from polyculture.generate.engines.transformers.options import EXTRA, TransformersOptions

_ENGINE = "transformers.engine:TransformersEngine"


def _precision(_: ModelSpec, options: TransformersOptions, use: Use) -> Mapping[str, Any]:
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
    return is_masked(spec, options)


def _layers(spec: ModelSpec, options: TransformersOptions) -> int | None:
    return layers_of(spec, options)


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
    layers=_layers,
)
