"""What a model is known by before it is asked: which one it is, exactly, and the options that decide what it says.

Rows made under one setup are never counted together with rows made under another. Options that only say how fast or by
which way something is computed, and those that stand at their defaults, are in no setup.
"""

from __future__ import annotations

from typing import Any

from polyculture.cache.credentials import without_password
from polyculture.cache.identity import model_sha256
from polyculture.generate.engines import find_kind, read_options
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.options import Use

__all__ = ["WEIGHTS", "Use", "model_setup"]

WEIGHTS = "weights"  # in a setup: the hash of the model's files, where they lie here


def model_setup(spec: ModelSpec, use: Use) -> dict[str, Any]:
    """The setup of a model. Reads its weights where it is a file or a folder; opens and downloads nothing.

    Raises `EngineError` where an option is wrong.
    """
    kind = find_kind(spec)
    options = read_options(kind.options, spec)
    setup: dict[str, Any] = options.model_dump(include=options.deciding(use), exclude_defaults=True)
    setup |= kind.further_setup(options)
    setup = {name: without_password(one) if isinstance(one, str) else one for name, one in setup.items()}
    files = kind.files(spec, options)
    if files is None or not files.exists():
        return setup
    return {**setup, WEIGHTS: f"sha256:{model_sha256(files)[:16]}"}
