"""Content hashes, the identity of rows, stages and files."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import orjson


def content_id(*parts: Any) -> str:
    """24 hexadecimal digits (96 bits) of the BLAKE2b hash of `parts`, written as canonical JSON."""
    canonical = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(canonical, digest_size=12).hexdigest()


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal, read in constant memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def model_sha256(place: Path) -> str:
    """Of a model's file; of a folder the names and contents of all weights, settings and vocabularies.

    The files may be gigabytes: each is read once per process, unless it changes.
    """
    if place.is_file():
        return _kept_sha256(place)
    files = sorted(file for file in place.iterdir() if file.suffix in (".safetensors", ".bin", ".json", ".model"))
    return hashlib.sha256("".join(f"{file.name} {_kept_sha256(file)}\n" for file in files).encode()).hexdigest()


def _kept_sha256(path: Path) -> str:
    found = path.stat()
    return _sha256_of(path, found.st_size, found.st_mtime_ns)


@cache
def _sha256_of(path: Path, _size: int, _changed: int) -> str:
    return file_sha256(path)
