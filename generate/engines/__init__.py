"""The engines. `open_engine` opens a model; an engine's packages are imported when it is first used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, overload

from polyculture.cache.errors import EngineError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.generate.engines.base import (
    Completion,
    Decoding,
    Message,
    ModelSpec,
    Represented,
    Request,
    Scored,
    ScoreRequest,
    TokenScore,
)
from polyculture.generate.engines.capabilities import (
    ATTENDING,
    PATCHING,
    REPRESENTING,
    SAMPLING,
    SCORING,
    TOKENIZING,
    Attending,
    Capability,
    E_co,
    Engine,
    Patching,
    Representing,
    Sampling,
    Scoring,
    Tokenizing,
)
from polyculture.generate.engines.kind import EngineKind, Offer
from polyculture.generate.engines.options import read_options

__all__ = [
    "ATTENDING",
    "ENGINES",
    "PATCHING",
    "REPRESENTING",
    "SAMPLING",
    "SCORING",
    "TOKENIZING",
    "Attending",
    "Capability",
    "Completion",
    "Decoding",
    "Engine",
    "EngineKind",
    "Message",
    "ModelSpec",
    "Patching",
    "Represented",
    "Representing",
    "Request",
    "Sampling",
    "ScoreRequest",
    "Scored",
    "Scoring",
    "TokenScore",
    "Tokenizing",
    "check_can",
    "check_model",
    "engine_remedy",
    "find_kind",
    "find_offer",
    "known_layers",
    "open_engine",
    "read_options",
]

# A line per engine: the part before the colon in a model's name, and the module that declares it as `KIND`, or where.
ENGINES: Mapping[str, str] = {
    "imported": "polyculture.generate.engines.imported",
    "llamacpp": "polyculture.generate.engines.llamacpp",
    "lmstudio": "polyculture.generate.engines.openai.kind:LMSTUDIO",
    "mock": "polyculture.generate.engines.mock",
    "ollama": "polyculture.generate.engines.openai.kind:OLLAMA",
    "openai": "polyculture.generate.engines.openai.kind",
    "transformers": "polyculture.generate.engines.transformers.kind",
    "vllm": "polyculture.generate.engines.vllm.kind",
    "vllm-serve": "polyculture.generate.engines.openai.kind:VLLM_SERVE",
}


def find_kind(spec: ModelSpec) -> EngineKind[Any]:
    """The declaration of a model's engine. Raises `EngineError` where a model is not 'engine:name' or has no engine."""
    if spec.engine in ENGINES and spec.name:
        return _declared(spec.engine)
    if spec.engine in ENGINES:
        raise EngineError(f"{spec.model!r} names no model", remedy=f"Write '{spec.engine}:NAME'.")
    what = f"unknown engine {spec.engine!r} in {spec.model!r}" if spec.name else f"{spec.model!r} names no engine"
    raise EngineError(what, remedy=engine_remedy(spec))


def engine_remedy(spec: ModelSpec) -> str:
    """How a model that has no engine in front of it, or a misspelt one, is written."""
    # A guess by the whole name, of which a tag may look like an engine (llama3.1:8b): a file, OpenAI's own names, a
    # repository of the hub, a family with weights for Ollama.
    by_form = {
        "llamacpp": r".*\.gguf", "openai": r"(chat)?gpt-(?!oss).*|o\d(-.*)?", "vllm": r"[^/]+/[^/]+",
        "ollama": r"(aya|codellama|command-r|deepseek|falcon|gemma|gpt-oss|llama|mistral|mixtral|olmo|phi|qwen).*",
    }  # fmt: skip
    engine = next((name for name, form in by_form.items() if re.fullmatch(form, spec.model, re.IGNORECASE)), None)
    if engine:
        return f"Did you mean '{engine}:{spec.model}'? A model is 'engine:name', of {', '.join(ENGINES)}."
    near = did_you_mean(spec.engine, ENGINES, otherwise="") if spec.name else ""
    if near:
        return near
    # Most services speak OpenAI's language at an address of theirs.
    service = f"Of a service: 'openai:{spec.model}', with its base_url under [options.openai]."
    return f"A model is 'engine:name', of {', '.join(ENGINES)}. {service}"


def check_model(spec: ModelSpec) -> None:
    """Raises `EngineError` where a model is not 'engine:name', has no engine, or a wrong option. Opens nothing."""
    kind = find_kind(spec)
    kind.check(spec, read_options(kind.options, spec))


def check_can(spec: ModelSpec, needs: Capability[Any]) -> None:
    """Raises `EngineError`, with the remedy, where a model lacks a capability. Opens nothing."""
    find_offer(spec, needs)


def known_layers(spec: ModelSpec) -> int | None:
    """How many layers a model has; None where that is not known before it is loaded. Opens nothing."""
    kind = find_kind(spec)
    return kind.layers(spec, read_options(kind.options, spec))


@overload
def open_engine(spec: ModelSpec) -> Sampling: ...
@overload
def open_engine(spec: ModelSpec, needs: Capability[E_co]) -> E_co: ...
def open_engine(spec: ModelSpec, needs: Capability[Any] = SAMPLING) -> Any:
    """A model for what a stage needs, to be entered with `with`; by default it samples.

    Entering it loads the model or connects, leaving it frees what it holds.

    Raises `EngineError` where there is no such engine, where it cannot do that, where an option is wrong or where the
    model cannot be found, `MissingDependencyError` where the engine's package is not installed.
    """
    check_model(spec)
    offer = find_offer(spec, needs)
    if offer.extra is not None:
        offer.extra.check(f"The model {spec.model}")
    return offer.opened(spec)


def find_offer(spec: ModelSpec, needs: Capability[E_co]) -> Offer[E_co]:
    """How a model is opened for a capability. Raises `EngineError`, with the remedy, where it lacks it."""
    kind = find_kind(spec)
    offer = kind.offer(needs)
    remedy = kind.lacks(spec, read_options(kind.options, spec)).get(needs)
    if offer is None or remedy is not None:
        able = [repr(name) for name in ENGINES if name != spec.engine and _is_able(_declared(name), needs)]
        others = (
            f"Models of {' and '.join((', '.join(able[:-1]), able[-1]) if able[1:] else able)} can." if able else ""
        )
        what = f"{spec.model} {needs.lacking}"
        raise EngineError(what, remedy=" ".join(filter(None, (remedy, others))) or "Leave this measure out.")
    return offer


def _is_able(kind: EngineKind[Any], needs: Capability[Any]) -> bool:
    return kind.real and kind.offer(needs) is not None


def _declared(name: str) -> EngineKind[Any]:
    module, _, declared = ENGINES[name].partition(":")
    kind = getattr(import_module(module), declared or "KIND")
    if not isinstance(kind, EngineKind) or kind.name != name:
        raise TypeError(f"{ENGINES[name]} declares no engine {name!r}")
    return kind
