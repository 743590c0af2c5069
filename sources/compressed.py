"""Files that are compressed: gzip, Zstandard, bzip2 and xz, unpacked once into a file that goes with the process."""

from __future__ import annotations

import atexit
import lzma
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

from polyculture.cache.errors import UserError
from polyculture.sources.record import shown

SUFFIXES = (".gz", ".zst", ".bz2", ".xz")
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}
_LARGEST = 16 * 2**30  # bytes, unpacked
_CHUNK = 2**20


def plain(path: Path) -> Path:
    """The file itself, or what a compressed one holds. Raises `UserError` where it cannot be unpacked, or is too large.

    A Parquet file with such a name is one all the same.
    """
    with path.open("rb") as file:
        start = file.read(6)
    kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    return path if kind is None else _unpacked(path, kind, path.stat().st_mtime_ns, path.stat().st_size)


@lru_cache(maxsize=1024)
def _unpacked(path: Path, kind: str, _changed: int, _size: int) -> Path:
    name = path.name if path.suffix.lower() not in SUFFIXES else path.stem
    copy, written = _folder() / str(abs(hash(str(path)))) / name, 0
    copy.parent.mkdir(exist_ok=True)
    try:
        with _stream(path, kind) as packed, copy.open("wb") as file:
            while chunk := packed.read(_CHUNK):
                written += len(chunk)
                if written > _LARGEST:
                    what = f"holds more than {_LARGEST // 2**30} GiB unpacked"
                    raise UserError(what, where=path, remedy="Split it.")
                file.write(chunk)
    except (OSError, EOFError, lzma.LZMAError, ValueError) as fault:
        what = f"cannot be unpacked: {shown(fault)}"
        raise UserError(what, where=path, remedy="Get the file again.") from fault
    return copy


def _stream(path: Path, kind: str) -> IO[bytes]:
    import pyarrow as pa

    if kind == "xz":
        return lzma.LZMAFile(path)
    known: Any = kind
    stream: Any = pa.input_stream(str(path), compression=known)
    return cast("IO[bytes]", stream)


@lru_cache(maxsize=1)
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="polyculture-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
