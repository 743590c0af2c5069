"""The declaration of the `openai` engine, any OpenAI-compatible server: options, and servers on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import orjson

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

_OPENROUTER = "openrouter.ai"


def _open_batches(spec: ModelSpec, folder: Path, stop: Event) -> Sampling:
    from polyculture.generate.engines.openai.batches import BatchEngine

    return BatchEngine(spec, folder, stop)


def _lacks(_: ModelSpec, options: OpenAIOptions) -> Mapping[Capability[Any], str]:
    if options.tokenizer is None or options.batch:
        return {SCORING: "With the option tokenizer, and without batch, a server such as `vllm serve` can."}
    return {}


def _server(_: ModelSpec, options: OpenAIOptions, use: Use) -> Mapping[str, Any]:
    """Which server it is: its name where it has one, else its address."""
    server = options.deployment or options.base_url
    if use == "sample":
        server = server.rstrip("/")
    return {"base_url": None if server == OPENAI else server}


def _routing(spec: ModelSpec, options: OpenAIOptions) -> str | None:
    """A warning where OpenRouter may send each request to another provider (UKGovernmentBEIS/inspect_ai#4707).

    https://openrouter.ai/docs/features/provider-routing
    """
    host = urlsplit(options.base_url).hostname or ""
    if host != _OPENROUTER and not host.endswith(f".{_OPENROUTER}"):
        return None
    routing = options.extra_body.get("provider")
    routing = routing if isinstance(routing, Mapping) else {}
    names = routing.get("only") or (routing.get("order") if routing.get("allow_fallbacks") is False else None)
    if isinstance(names, list | tuple) and len(names) == 1:
        return None
    return (
        f"Warning: {spec.model}: OpenRouter sends each request to any of several providers, which may run the model in "
        'different ways. Name one: extra_body = { provider = { only = ["NAME"] } } under its options; the column '
        "`model_version` says who answered"
    )


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
    warning=_routing,
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

_PATIENCE = 1.0  # seconds; a closed port refuses at once
_LIST = 1 << 20  # bytes of a list of models
_NAME = 200  # characters; what is longer is no model's name
_NO_TEXTS = ("embed", "rerank", "whisper", "bge-")  # names of models that write none


def found_servers() -> Iterator[tuple[str, str, list[str]]]:
    """The servers that listen on their usual ports: engine, address, and the models that may write texts."""
    for name, kind in LOCAL.items():
        address = kind.options().base_url
        models = served_models(address)
        if models is not None:
            yield name, address, [one for one in models if not any(word in one.casefold() for word in _NO_TEXTS)]


def served_models(address: str) -> list[str] | None:
    """The names of the models at an address; None where no such server answers.

    API: https://platform.openai.com/docs/api-reference/models/list
    """
    opener = build_opener(ProxyHandler({}))  # no proxy stands before one's own machine
    try:
        with opener.open(f"{address.rstrip('/')}/models", timeout=_PATIENCE) as answer:
            listed = orjson.loads(answer.read(_LIST))["data"]
        names = [str(one["id"]) for one in listed]
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None
    return [name for name in names if name.isprintable() and 0 < len(name) <= _NAME]
