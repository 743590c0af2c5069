"""Explain in one line, with a remedy, why vLLM did not open a model. vLLM's own message fills pages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.model_files import REMEDY, broken_file

_LONGEST = 300  # characters of vLLM's own words
_SMALLER = "a larger tensor_parallel_size, a quantization such as 'fp8', or a smaller model"
_FOLDER = "Name a folder with config.json and the weights, or a model of the hub: 'vllm:Qwen/Qwen2.5-7B-Instruct'."


def why_it_did_not_open(spec: ModelSpec, said: str, logged: str) -> EngineError | None:
    """The error that names the cause and a remedy, or `None` for an unknown cause.

    `said` is the exception that vLLM raised, `logged` its complete log: often only the log has the cause.
    """
    for pattern, what, remedy in _known():
        match = pattern.search(said) or pattern.search(logged)
        if match:
            told = {"smaller": _SMALLER, **{name: " ".join(words.split()) for name, words in match.groupdict().items()}}
            return EngineError(what.format(**told), where=spec.model, remedy=remedy.format(**told))
    broken = broken_file(Path(spec.name).expanduser())
    return None if broken is None else EngineError(f"{broken[0].name} {broken[1]}", where=spec.model, remedy=REMEDY)


@cache
def _known() -> Sequence[tuple[re.Pattern[str], str, str]]:
    """The rows of `faults.toml`."""
    rows = tomllib.loads(Path(__file__).with_name("faults.toml").read_text(encoding="utf-8"))["fault"]
    return [(re.compile(row["pattern"]), row["what"], row["remedy"]) for row in rows]


def in_short(words: str) -> str:
    """The first line of vLLM's message, truncated."""
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def wrong_folder(spec: ModelSpec) -> EngineError | None:
    """The error for a name that can only be a folder but is none, or for a folder without a model."""
    folder = Path(spec.name).expanduser()
    if not folder.is_dir():
        looks_local = spec.name.startswith(("/", "./", "../", "~"))
        return EngineError("there is no such folder", where=folder, remedy=_FOLDER) if looks_local else None
    if any((folder / name).exists() for name in ("config.json", "params.json")):
        return None
    return EngineError("holds no model: there is no config.json in it", where=folder, remedy=_FOLDER)
