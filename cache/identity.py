"""Content hashes: what a row, a stage or a file is known by."""

from __future__ import annotations

import hashlib
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
