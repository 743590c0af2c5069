"""What servers on this machine serve, by the list of models that each of them gives away at `/models`.

API: https://platform.openai.com/docs/api-reference/models/list
"""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPException
from urllib.request import ProxyHandler, build_opener

import orjson

from polyculture.generate.engines.openai.kind import LOCAL

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
