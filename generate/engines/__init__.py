"""The models that answer. `open_engine` is the one door; an engine's packages are imported when it is first used."""

from __future__ import annotations

from polyculture.cache.errors import EngineError, did_you_mean
from polyculture.generate.engines.base import (
    Capabilities,
    Completion,
    Decoding,
    Engine,
    Message,
    ModelSpec,
    Represented,
    Representing,
    Request,
    Scored,
    ScoreRequest,
    TokenScore,
)
from polyculture.generate.engines.options import OPTIONS, VllmOptions, read_options

__all__ = [
    "ENGINES",
    "Capabilities",
    "Completion",
    "Decoding",
    "Engine",
    "Message",
    "ModelSpec",
    "Represented",
    "Representing",
    "Request",
    "ScoreRequest",
    "Scored",
    "TokenScore",
    "check_model",
    "open_engine",
]

ENGINES = tuple(OPTIONS)


def open_engine(spec: ModelSpec) -> Engine:
    """The engine of a model, to be entered with `with`: entering loads the model or connects, leaving frees it.

    Raises `EngineError` where there is no such engine, where an option is wrong or where the model cannot be found,
    `MissingDependencyError` where the engine's package is not installed.
    """
    check_model(spec)
    if spec.engine == "openai":
        from polyculture.generate.engines.openai.engine import OpenAIEngine

        return OpenAIEngine(spec)
    if spec.engine == "vllm":
        from polyculture.generate.engines.vllm.engine import VllmEngine

        return VllmEngine(spec)
    if spec.engine == "transformers":
        from polyculture.generate.engines.transformers.engine import TransformersEngine

        return TransformersEngine(spec)
    from polyculture.generate.engines.llamacpp import LlamaCppEngine

    return LlamaCppEngine(spec)


def check_model(spec: ModelSpec) -> None:
    """Raises `EngineError` where a model is not 'engine:name', has no engine, or a wrong option. Opens nothing."""
    if not spec.name:
        lacking = "model" if spec.engine in ENGINES else "engine"
        remedy = "Write 'engine:name', e.g. 'openai:gpt-4o-mini'."
        raise EngineError(f"{spec.model!r} names no {lacking}", remedy=remedy)
    if spec.engine not in ENGINES:
        raise EngineError(
            f"unknown engine {spec.engine!r} in {spec.model!r}", remedy=did_you_mean(spec.engine, ENGINES)
        )
    options = read_options(OPTIONS[spec.engine], spec)
    if isinstance(options, VllmOptions):
        from polyculture.generate.engines.vllm.arguments import check_what_can_be_checked

        check_what_can_be_checked(spec, options)
