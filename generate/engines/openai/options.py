"""The options of the `openai` engine."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from polyculture.cache.credentials import find_key, looks_like_key, user_of
from polyculture.generate.engines.options import PACE, Decides, Options

OPENAI = "https://api.openai.com/v1"


class OpenAIOptions(Options):
    """Options of the `openai` engine."""

    base_url: str = Field(default=OPENAI, pattern=r"^https?://[^/]")
    # The environment variable that holds the key; OPENAI_API_KEY by default.
    api_key_env: Annotated[str | None, PACE] = None
    # The most requests in flight; fewer where the server rejects some.
    concurrency: Annotated[int, PACE] = Field(default=64, ge=1)
    timeout: Annotated[float, PACE] = Field(default=600.0, gt=0)  # seconds for one answer
    max_retries: Annotated[int, PACE] = Field(default=6, ge=0)
    extra_body: Annotated[Mapping[str, Any], Decides("answer")] = {}  # sent along as it is
    # For scoring: the model's own tokenizer, a folder or a name of the hub.
    tokenizer: Annotated[str | None, Decides("score")] = None
    # For scoring: prepend the BOS token where the tokenizer itself does not.
    bos: Annotated[bool, Decides("score")] = False
    batch: Annotated[bool, PACE] = False  # by the provider's batch API: cheaper, and within a day
    batch_requests: Annotated[int, PACE] = Field(default=50_000, ge=1)  # in a batch at most: OpenAI's own limits
    batch_megabytes: Annotated[float, PACE] = Field(default=200.0, gt=0)
    batch_poll: Annotated[float, PACE] = Field(default=30.0, gt=0)  # seconds between two polls of a batch
    batches_at_once: Annotated[int, PACE] = Field(default=16, ge=1)  # jobs whose batches wait at the same time

    # No message below repeats the value: it may be the key itself.

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, address: str) -> str:
        try:
            host, _ = urlsplit(address).hostname, urlsplit(address).port
        except ValueError:
            host = None
        if not host or not address.isprintable() or " " in address:
            raise ValueError("is no address of a server")
        user_of(address)
        return address

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
