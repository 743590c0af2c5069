"""The options of the `openai` engine and of the servers on this machine, and their checks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self
from urllib.parse import parse_qsl, urlsplit

import orjson
from pydantic import Field, field_validator, model_validator

from polyculture.cache.text.sanitize import find_key, looks_like_key, user_of
from polyculture.cache.work.faults import fault_table
from polyculture.generate.engines.openai.servers import FieldName, LengthField, SchemaForm, with_server
from polyculture.generate.engines.options import PACE, Decides, Options

OPENAI = "https://api.openai.com/v1"
BASE_URL = "OPENAI_BASE_URL"

UNBOUNDED = 1 << 17  # tokens of an answer whose length is left to the server
# `max_tokens` under its names: OpenAI's, vLLM's, llama.cpp's, Ollama's, ...
_MOST = re.compile(r"max_(?:\w+_)?tokens|max_length|n_predict|num_predict")
# Reasoning beside the answer, where it has a bound of its own.
_BESIDE = re.compile(r"(?:\w+_)?budget(?:_tokens)?")
_TIMES = ("n", "best_of", "num_return_sequences")  # texts that one request is answered with, all of them billed


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

    # A server of `servers.toml`. It sets the options that its entry lists, and the setup records those.
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
    length_field: Annotated[LengthField | None, PACE] = None
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
