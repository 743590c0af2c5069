"""The options that an experiment file gives to an engine. Light: they are checked before an engine is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polyculture.cache.errors import EngineError, did_you_mean
from polyculture.generate.engines.base import ModelSpec

OPENAI = "https://api.openai.com/v1"


class Options(BaseModel):
    """What an engine can be told; each engine has its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class OpenAIOptions(Options):
    """Options of the `openai` engine."""

    base_url: str = Field(default=OPENAI, pattern=r"^https?://[^/]")
    api_key_env: str | None = None  # the environment variable that holds the key; OPENAI_API_KEY unless told
    concurrency: int = Field(default=64, ge=1)  # requests in flight at most; fewer where the server turns some down
    timeout: float = Field(default=600.0, gt=0)  # seconds for one answer
    max_retries: int = Field(default=6, ge=0)
    extra_body: Mapping[str, Any] = {}  # sent along as it is
    tokenizer: str | None = None  # of scoring: the model's own, a folder or a name of the hub
    bos: bool = False  # of scoring: put the token that begins a text in front where the tokenizer itself does not
    batch: bool = False  # by the provider's batch API: cheaper, and within a day
    batch_requests: int = Field(default=50_000, ge=1)  # in a batch at most: OpenAI's own limits
    batch_megabytes: float = Field(default=200.0, gt=0)
    batch_poll: float = Field(default=30.0, gt=0)  # seconds between two looks at a batch
    batches_at_once: int = Field(default=16, ge=1)  # jobs whose batches wait at the same time


class LlamaCppOptions(Options):
    """Options of the `llamacpp` engine."""

    n_parallel: int = Field(default=16, ge=1)  # slots: texts that are written at the same time
    context: int = Field(default=2048, ge=64)  # tokens of prompt and answer together, per slot
    threads: int | None = Field(default=None, ge=1)  # all cores unless told
    gpu_layers: int | None = Field(default=None, ge=0)  # with a GPU build of xllamacpp; as many as fit unless told


class VllmOptions(Options):
    """Options of the `vllm` engine. All that is not named here is an engine argument of vLLM's."""

    model_config = ConfigDict(extra="allow")

    python: str | None = None  # of the environment where vLLM is installed; this one's unless told
    chat_template: str | None = None  # a Jinja file; the model's own unless told
    chat_template_kwargs: Mapping[str, Any] = {}  # what the template may be told: enable_thinking, ...
    bos: bool = False  # of scoring: put the token that begins a text in front where the tokenizer itself does not
    # Continuations that the transformers engine scores, too, to compare; a few unless told, where it is installed.
    verify_scores: int | None = Field(default=None, ge=0)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What is handed to vLLM."""
        return self.model_extra or {}


class TransformersOptions(Options):
    """Options of the `transformers` engine."""

    revision: str | None = None  # a commit, tag or branch of the hub
    dtype: Literal["float32", "bfloat16", "float16"] | None = None  # float32 on a CPU, else the checkpoint's own
    device: str | None = None  # "cpu", "cuda", "cuda:1"; the first accelerator unless told
    trust_remote_code: bool = False  # run code that comes with the model
    attention: str | None = None  # "sdpa", "eager"; the model's own unless told
    batch_size: int = Field(default=8, ge=1)  # texts that are written at the same time
    bare_prompts: bool = False  # continue the prompt's text without a chat template, as base models do
    batch_tokens: int | None = Field(default=None, ge=1)  # tokens that are scored in one pass
    bos: bool = False  # put the token that begins a text in front where the tokenizer itself does not
    method: Literal["auto", "tree", "plain"] = "auto"  # of scoring with a causal model
    masked: Literal["fill", "pseudo"] = "fill"  # of scoring with a masked model


# What each engine can be told.
OPTIONS: Mapping[str, type[Options]] = {
    "openai": OpenAIOptions,
    "llamacpp": LlamaCppOptions,
    "transformers": TransformersOptions,
    "vllm": VllmOptions,
}

Model = TypeVar("Model", bound=Options)


def read_options(model: type[Model], spec: ModelSpec) -> Model:
    """`spec.options` as the engine's own type. `EngineError` names a key that is unknown or does not fit."""
    try:
        return model.model_validate(dict(spec.options))
    except ValidationError as fault:
        first = fault.errors()[0]
        key = ".".join(str(step) for step in first["loc"])
        where = f"options of {spec.model}"
        if first["type"] == "extra_forbidden":
            remedy = did_you_mean(key, model.model_fields)
            raise EngineError(f"unknown option {key!r}", where=where, remedy=remedy) from fault
        raise EngineError(f"{key}: {first['msg']}, not {first['input']!r}", where=where) from fault
