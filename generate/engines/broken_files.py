"""Which file of a model is at fault: looked for once loading has failed, since libraries seldom name it.

    broken_file(Path("models/qwen"))        (Path("models/qwen/model.safetensors"), "is cut: 1,024 of 4,096 bytes")

The everyday case is a download that broke off, or a pointer of Git LFS in place of the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import is_zipfile

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
