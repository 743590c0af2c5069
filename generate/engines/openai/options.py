"""The options of the `openai` engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from polyculture.generate.engines.options import PACE, Decides, Options

OPENAI = "https://api.openai.com/v1"


class OpenAIOptions(Options):
    """Options of the `openai` engine."""

    base_url: str = Field(default=OPENAI, pattern=r"^https?://[^/]")
    # The environment variable that holds the key; OPENAI_API_KEY by default.
    api_key_env: Annotated[str | None, PACE] = None
    # Requests in flight at most; fewer where the server rejects some.
    concurrency: Annotated[int, PACE] = Field(default=64, ge=1)
    timeout: Annotated[float, PACE] = Field(default=600.0, gt=0)  # seconds for one answer
    max_retries: Annotated[int, PACE] = Field(default=6, ge=0)
    extra_body: Annotated[Mapping[str, Any], Decides("answer")] = {}  # sent along as it is
    # Of scoring: the model's own tokenizer, a folder or a name of the hub.
    tokenizer: Annotated[str | None, Decides("score")] = None
    # Of scoring: put the token that begins a text in front where the tokenizer itself does not.
    bos: Annotated[bool, Decides("score")] = False
    batch: Annotated[bool, PACE] = False  # by the provider's batch API: cheaper, and within a day
    batch_requests: Annotated[int, PACE] = Field(default=50_000, ge=1)  # in a batch at most: OpenAI's own limits
    batch_megabytes: Annotated[float, PACE] = Field(default=200.0, gt=0)
    batch_poll: Annotated[float, PACE] = Field(default=30.0, gt=0)  # seconds between two polls of a batch
    batches_at_once: Annotated[int, PACE] = Field(default=16, ge=1)  # jobs whose batches wait at the same time
