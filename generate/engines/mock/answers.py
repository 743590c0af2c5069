"""The answers of a model that is only played: from a file, or made up from the prompt."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from polyculture.cache.errors import EngineError
from polyculture.cache.validation import explain
from polyculture.generate.engines.base import Completion, ModelSpec, Request

# The answer to a request under one of its seeds: a text, or a whole completion.
Script = Callable[[Request, int], str | Completion]
VERSION = "mock"  # the model's version in every row


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: str = ""  # a part of the prompt
    texts: tuple[str, ...] = ()
    error: str | None = None
    retryable: bool = False


class _AnswerFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: tuple[_Answer, ...]


class Answers:
    """The answers of a file; without one, or where it has none for a prompt, they are made up."""

    def __init__(self, spec: ModelSpec, file: str | None) -> None:
        self._spec = spec
        self._answers = () if file is None else read_answers(spec, Path(file).expanduser())

    def __call__(self, request: Request, seed: int) -> str | Completion:
        prompt = "\n".join(turn.content for turn in request.messages)
        match = next((answer for answer in self._answers if answer.prompt in prompt), None)
        if match is not None and match.error is not None:
            error, retryable = match.error, match.retryable
            return Completion(request.request_id, seed, None, error=error, retryable=retryable, model_version=VERSION)
        if match is not None and match.texts:
            return match.texts[seed % len(match.texts)]
        if request.decoding.schema is not None:
            return json.dumps(_instance(request.decoding.schema, seed), ensure_ascii=False)
        return f"{request.messages[-1].content} {seed}"


def read_answers(spec: ModelSpec, file: Path) -> tuple[_Answer, ...]:
    """Raises `EngineError` where the file cannot be read, or is none of answers."""
    remedy = "Write [[answer]] tables with prompt, texts, error, retryable."
    where = f"options of {spec.model}"
    try:
        text = file.read_text(encoding="utf-8")
        data = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
        return _AnswerFile.model_validate(data).answer
    except OSError as fault:
        raise EngineError(f"answers: {file} cannot be read", where=where, remedy=remedy) from fault
    except ValidationError as fault:
        what, remedy = explain(fault, _AnswerFile, remedy)
        raise EngineError(f"answers: {file}: {what}", where=where, remedy=remedy) from fault
    except ValueError as fault:
        raise EngineError(f"answers: {file}: {fault}", where=where, remedy=remedy) from fault


def _instance(schema: Mapping[str, Any], seed: int) -> Any:
    """The smallest value that a JSON schema allows; of several words, one by seed."""
    if "enum" in schema:
        return schema["enum"][seed % len(schema["enum"])]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return {name: _instance(properties[name], seed) for name in schema.get("required", properties)}
        case "array":
            return [_instance(schema["items"], seed)] * int(schema.get("minItems", 0))
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
    return ""
