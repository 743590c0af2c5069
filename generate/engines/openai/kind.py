"""The declaration of the `openai` engine: any OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

from polyculture.cache.extras import Extra
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.capabilities import SAMPLING, SCORING, Capability, Sampling
from polyculture.generate.engines.kind import Batching, EngineKind, Offer, TokenCounter
from polyculture.generate.engines.openai.options import (
    OPENAI,
    LMStudioOptions,
    OllamaOptions,
    OpenAIOptions,
    VllmServeOptions,
)
from polyculture.generate.engines.openai.servers import advice
from polyculture.generate.engines.options import Use
from polyculture.generate.tokens import byte_pairs, vocabulary_name


def _open_batches(spec: ModelSpec, folder: Path, stop: Event, tell: Callable[[str], None]) -> Sampling:
    from polyculture.generate.engines.openai.batches import BatchEngine

    return BatchEngine(spec, folder, stop, tell)


def _lacks(_: ModelSpec, options: OpenAIOptions) -> Mapping[Capability[Any], str]:
    if options.tokenizer is None or options.batch:
        return {SCORING: "With the option tokenizer, and without batch, a server such as `vllm serve` can."}
    return {}


def _server(options: OpenAIOptions, use: Use) -> Mapping[str, Any]:
    """Which server it is: its name where it has one, else its address."""
    server = options.deployment or options.base_url
    if use == "sample":
        server = server.rstrip("/")
    return {"base_url": None if server == OPENAI else server}


def _counter(spec: ModelSpec) -> TokenCounter | None:
    """OpenAI's own vocabulary, where the package that holds it knows the model."""
    if find_spec("bpe_openai") is None:
        return None
    try:
        return byte_pairs(vocabulary_name(spec.name))
    except KeyError:
        return None


def _places(spec: ModelSpec, _: OpenAIOptions) -> Mapping[str, str]:
    from polyculture.generate.engines.openai.chat import ChatApi

    return ChatApi(spec).server.places


KIND = EngineKind(
    name="openai",
    options=OpenAIOptions,
    paid=True,
    offers=(
        Offer(SAMPLING, "openai.engine:OpenAIEngine"),
        Offer(SCORING, "openai.scoring:OpenAIScorer", Extra("transformers", ("transformers",))),
    ),
    lacks=_lacks,
    further_setup=_server,
    counter=_counter,
    most_tokens=lambda options, prompt, written: options.most_tokens(prompt, written),
    places=_places,
    advice=advice,
    batching=Batching(
        wanted=lambda options: options.batch, at_once=lambda options: options.batches_at_once, open=_open_batches
    ),
)

# Servers that run on one's own machine: the same engine at another address, without a key or a price.
VLLM_SERVE = replace(KIND, name="vllm-serve", options=VllmServeOptions, paid=False)
_LOCAL = replace(VLLM_SERVE, offers=KIND.offers[:1])  # which tell no log-probabilities of a prompt
OLLAMA = replace(_LOCAL, name="ollama", options=OllamaOptions)
LMSTUDIO = replace(_LOCAL, name="lmstudio", options=LMStudioOptions)
LOCAL: Mapping[str, EngineKind[OpenAIOptions]] = {kind.name: kind for kind in (OLLAMA, LMSTUDIO, VLLM_SERVE)}
