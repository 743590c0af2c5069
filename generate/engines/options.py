"""The options that an experiment file gives to an engine."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from cache.errors import EngineError, did_you_mean
from generate.engines.base import ModelSpec


class Options(BaseModel):
    """What an engine can be told; each engine has its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
