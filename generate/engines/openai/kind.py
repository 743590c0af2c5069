"""The declaration of the `openai` engine, any OpenAI-compatible server: options, and servers on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Annotated, Any, Self
from urllib.parse import parse_qsl, urlsplit
from urllib.request import ProxyHandler, build_opener

import orjson
from pydantic import Field, field_validator, model_validator

from polyculture.cache.extras import Extra
from polyculture.cache.faults import fault_table
from polyculture.cache.sanitize import find_key, looks_like_key, user_of
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.capabilities import SAMPLING, SCORING, Capability, Sampling
from polyculture.generate.engines.kind import Batching, EngineKind, Offer, TokenCounter
from polyculture.generate.engines.openai.servers import FieldName, Length, SchemaForm, advice, with_server
from polyculture.generate.engines.options import PACE, Decides, Options, Use
from polyculture.generate.tokens import byte_pairs, vocabulary_name

OPENAI = "https://api.openai.com/v1"
BASE_URL = "OPENAI_BASE_URL"

UNBOUNDED = 1 << 17  # tokens of an answer whose length is left to the server
# `max_tokens` under its names: OpenAI's, vLLM's, llama.cpp's, Ollama's, ...
_MOST = re.compile(r"max_(?:\w+_)?tokens|max_length|n_predict|num_predict")
# Reasoning beside the answer, where it has a bound of its own.
_BESIDE = re.compile(r"(?:\w+_)?budget(?:_tokens)?")
_TIMES = ("n", "best_of", "num_return_sequences")  # texts that one request is answered with, all of them billed


_OPENROUTER = "openrouter.ai"


def most_written(extra_body: Mapping[str, Any], written: int) -> int:
    """The most tokens that a request for `written` tokens may be answered with."""
    values = list(_numbers(extra_body))
    most = max([written, *(value for name, value in values if _MOST.fullmatch(name))])
    beside = sum(value for name, value in values if _BESIDE.fullmatch(name))
    times = max([1, *(value for name, value in values if name in _TIMES)])
    return (most + beside) * times


def _numbers(table: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The numbers in nested tables by their last key; of a bound that is none, `UNBOUNDED`."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _numbers(value)
        elif isinstance(value, bool):
            continue
        elif isinstance(value, int | float) and 0 < value < 1e9:
            yield name, int(value)
        elif _MOST.fullmatch(name):
            yield name, UNBOUNDED


def _checked_address(address: str) -> str:
    """The address of a server. Raises `ValueError`, which does not repeat it: it may hold a key."""
    try:
        parts, _ = urlsplit(address), urlsplit(address).port
    except ValueError:
        raise ValueError("is no address of a server") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not address.isprintable() or " " in address:
        raise ValueError("is no address of a server; write, for example, http://localhost:8000/v1")
    if find_key(dict(parse_qsl(f"{parts.query}&{parts.fragment}"))) is not None:
        raise ValueError("has a key in its query; name an environment variable that holds the key: api_key_env")
    user_of(address)
    return address


class OpenAIOptions(Options):
    """Options of the `openai` engine."""

    # A server of `servers.toml`: it stands for the options that follow from it, and they are in the setup.
    server: Annotated[str | None, PACE] = None
    # Else that of the environment variable OPENAI_BASE_URL, which OpenAI's own client reads; else OpenAI's.
    base_url: str = OPENAI
    # What the server is known by in place of its address: a name, or the address that it had before it moved.
    deployment: Annotated[str | None, PACE] = Field(default=None, min_length=1, max_length=200)
    # The environment variable that holds the key; OPENAI_API_KEY by default.
    api_key_env: Annotated[str | None, PACE] = None
    # The most requests in flight; fewer where the server rejects some.
    concurrency: Annotated[int, PACE] = Field(default=64, ge=1)
    deadline: Annotated[float, PACE] = Field(default=600.0, gt=0)  # seconds for a whole answer, however it comes
    max_retries: Annotated[int, PACE] = Field(default=6, ge=0)
    # Faults in a row, from which on one request at a time asks after the service; and minutes without any answer, after
    # which it is given up; 0: never. The experiment's [stop] decides both.
    outage_faults: Annotated[int, PACE] = Field(default_factory=lambda: fault_table().stop.answers, ge=0)
    outage_minutes: Annotated[float, PACE] = Field(default_factory=lambda: fault_table().stop.minutes, ge=0)
    extra_body: Annotated[Mapping[str, Any], Decides("answer")] = {}  # sent along as it is
    # Fields that are not sent: the server's defaults count.
    omit: Annotated[list[FieldName], Decides("answer")] = Field(default_factory=list)
    # The name of the bound on an answer's length; None: the longer one for OpenAI, else the shorter one.
    length_field: Annotated[Length | None, PACE] = None
    # How a schema is asked for; None: by schema, of DeepSeek as any JSON.
    schema_form: Annotated[SchemaForm | None, Decides("answer")] = None
    # For scoring: the model's own tokenizer, a folder or a name of the hub.
    tokenizer: Annotated[str | None, Decides("score")] = None
    # For scoring: prepend the BOS token where the tokenizer itself does not.
    bos: Annotated[bool, Decides("score")] = False
    batch: Annotated[bool, PACE] = False  # by the provider's batch API: cheaper, and within a day
    batch_requests: Annotated[int, PACE] = Field(default=50_000, ge=1)  # in a batch at most: OpenAI's own limit
    batch_poll: Annotated[float, PACE] = Field(default=30.0, gt=0)  # seconds between two polls of a batch
    batches_at_once: Annotated[int, PACE] = Field(default=16, ge=1)  # jobs whose batches wait at the same time

    @model_validator(mode="before")
    @classmethod
    def _of_server(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        usual = cls.model_fields["server"].default  # of an engine that is a server on this machine
        elsewhere = os.environ.get(BASE_URL, "").strip()
        if usual is None and elsewhere and not {"server", "base_url"} & data.keys():
            try:
                return {**data, "base_url": _checked_address(elsewhere)}
            except ValueError as fault:
                raise ValueError(f"the environment variable {BASE_URL} {fault}") from None
        return with_server({"server": usual, **data})

    def most_tokens(self, prompt: int, written: int) -> tuple[int, int]:
        """The upper bound of an answer's tokens with all that `extra_body` adds to the prompt or asks to be written."""
        added = len(orjson.dumps(dict(self.extra_body), default=str)) if self.extra_body else 0
        return prompt + added, most_written(self.extra_body, written)

    # No message below repeats the value: it may be the key itself.

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, address: str) -> str:
        return _checked_address(address)

    @field_validator("deployment")
    @classmethod
    def _names_a_deployment(cls, name: str | None) -> str | None:
        if name is not None and (not name.isprintable() or not name.strip() or looks_like_key(name)):
            raise ValueError("is no name of a deployment; write a few words, or the address that the server had before")
        return name

    @field_validator("api_key_env")
    @classmethod
    def _names_a_variable(cls, name: str | None) -> str | None:
        if name is None:
            return None
        identifier = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", name) is not None
        if not identifier or (looks_like_key(name) and name not in os.environ):
            raise ValueError("is not the name of an environment variable; the key itself never stands in a file")
        return name

    @field_validator("extra_body")
    @classmethod
    def _holds_no_key(cls, body: Mapping[str, Any]) -> Mapping[str, Any]:
        place = find_key(body)
        if place is not None:
            raise ValueError(
                f"{place} looks like a key, and every run keeps a copy of this file; put the key in an environment "
                "variable and name that in api_key_env"
            )
        return body

    @model_validator(mode="after")
    def _has_whole_batches(self) -> Self:
        if self.batch and self.extra_body.get("stream"):
            raise ValueError("stream is not possible in a batch; remove it from extra_body, or remove batch")
        return self


class OllamaOptions(OpenAIOptions):
    """Options of `ollama`, which listens on this machine."""

    server: Annotated[str | None, PACE] = "ollama"


class LMStudioOptions(OpenAIOptions):
    """Options of `lmstudio`, which listens on this machine."""

    server: Annotated[str | None, PACE] = "lmstudio"


class VllmServeOptions(OpenAIOptions):
    """Options of `vllm serve`, on this machine."""

    server: Annotated[str | None, PACE] = "vllm"


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
