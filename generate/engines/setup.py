"""What a model is known by before it is asked: which one it is, exactly, and the options that decide what it says.

Rows made under one setup are never counted together with rows made under another. Options that only say how fast or by
which way something is computed, and those that stand at their defaults, are in no setup.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from polyculture.cache.errors import EngineError
from polyculture.cache.identity import code_sha256, model_sha256
from polyculture.cache.text.sanitize import without_secrets
from polyculture.generate.engines import find_kind, read_options
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.options import Use

WEIGHTS = "weights"  # in a setup: the hash of the model's files, where they lie here
TEMPLATES = "templates"  # of a model's folder: its chat template and its own code, where it has any
FILES = (WEIGHTS, TEMPLATES)
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def model_setup(spec: ModelSpec, use: Use, known: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
    """The setup of a model. Reads its weights where it is a file or a folder; opens and downloads nothing.

    Files that are not on this machine are taken for those of the `known` setup. Keys and passwords are in no setup.
    Raises `EngineError` where an option is wrong.
    """
    kind = find_kind(spec)
    options = read_options(kind.options, spec)
    told: dict[str, Any] = options.model_dump(include=options.deciding(use), exclude_defaults=True)
    told |= kind.further_setup(spec, options, use)
    told |= _files(kind.files(spec, options), use)
    setup = {name: _content(one, known.get(name)) if isinstance(one, Path) else one for name, one in told.items()}
    deciding = {name: without_secrets(one, name) for name, one in setup.items() if one is not None}
    try:
        as_json: dict[str, Any] = orjson.loads(orjson.dumps(deciding))  # as a manifest gives it back
    except TypeError as fault:
        raise EngineError(f"hold a value that JSON cannot: {fault}", where=f"options of {spec.model}") from fault
    return as_json


def _files(place: Path | None, use: Use) -> dict[str, Any]:
    if place is None:
        return {}
    if not place.exists() or use in ("score", "represent", "tokenize"):
        return {WEIGHTS: place}
    code = code_sha256(place)
    return {WEIGHTS: place, TEMPLATES: f"sha256:{code[:16]}" if code else None}


def _content(file: Path, known: Any) -> Any:
    try:
        return f"sha256:{model_sha256(file)[:16]}" if file.exists() else known
    except OSError as fault:
        raise EngineError(f"cannot be read: {fault.strerror}", where=file) from fault
