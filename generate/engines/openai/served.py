"""What servers on this machine serve, by the list of models that each of them gives away at `/models`.

API: https://platform.openai.com/docs/api-reference/models/list
"""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPException
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import orjson

from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.openai.kind import LOCAL
from polyculture.generate.engines.openai.options import OpenAIOptions

_PATIENCE = 1.0  # seconds; a closed port refuses at once
_MOST = 1 << 20  # bytes of a list
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
    """The names of the models at an address; None where no such server answers."""
    opener = build_opener(ProxyHandler({}))  # no proxy stands before one's own machine
    try:
        with opener.open(f"{address.rstrip('/')}/models", timeout=_PATIENCE) as answer:
            listed = orjson.loads(answer.read(_MOST))["data"]
        names = [str(one["id"]) for one in listed]
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None
    return [name for name in names if name.isprintable() and 0 < len(name) <= _NAME]


def server_line(spec: ModelSpec, options: OpenAIOptions) -> str | None:
    """What is wrong with the server on this machine that a model is asked at; None where nothing is.

    Servers elsewhere, and those that want a key, are not looked at.
    """
    here = urlsplit(options.base_url).hostname in ("localhost", "127.0.0.1", "::1")
    if not here or options.api_key_env is not None:
        return None
    models = served_models(options.base_url)
    if models is None:
        return f"{spec.model}: no server answers at {options.base_url}: start it before you run"
    if spec.name in models or f"{spec.name}:latest" in models:
        return None
    return f"{spec.model}: {options.base_url} serves no such model. It has: {', '.join(models[:8]) or 'none'}"
