"""Content hashes, the identity of rows, stages and files, and of the code that numbers and reports come from."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import orjson

from polyculture.cache.errors import StoreError
from polyculture.cache.files import cache_folder, replacing

_WEIGHTS = (".safetensors", ".bin", ".json", ".model")
_CODE = (".jinja", ".py")
_SPLIT = re.compile(r"-\d{5}(-of-\d{5}\.gguf)$")  # a GGUF model in several files: the first one is named
_LARGE = 2**24  # bytes from which a hash is kept for later processes
_ROOT = Path(__file__).parents[1]
_COMPILED = "__pycache__"
_SETTLED = 2.0  # seconds since a file's last change: two changes within one tick of its clock look like one


def content_id(*parts: Any) -> str:
    """24 hexadecimal digits (96 bits) of the BLAKE2b hash of `parts`, written as canonical JSON."""
    canonical = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(canonical, digest_size=12).hexdigest()


def query_number(
    language: str,
    topic: str,
    kind: str,
    surface: str,
    name: str | None = None,
    english: str | None = None,
    published: str | None = None,
) -> int:
    """63 bits of the BLAKE2b hash of what the linker is asked of a mention, which the mention and its link share.

    A mention of an imported study has the item that the study gives it (`published`): one surface may have several.
    """
    own = (published,) if published else ()
    asked = orjson.dumps((language, topic, kind, surface, name, english, *own))
    return int.from_bytes(hashlib.blake2b(asked, digest_size=8).digest()) >> 1


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal, read in constant memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def model_sha256(place: Path) -> str:
    """Of a model's file, or files; of a folder the names and contents of all weights, settings and vocabularies.

    The files may be gigabytes: each is read once, unless it changes. The hash of a large one is kept in the cache
    folder, under its path, inode, size and times.
    """
    if place.is_dir():
        return _together(file for file in place.iterdir() if file.suffix in _WEIGHTS)
    split = _SPLIT.search(place.name)
    if split is not None:
        return _together(place.parent.glob(f"{place.name[: split.start()]}-?????{split[1]}"))
    return _kept_sha256(place)


def code_sha256(folder: Path) -> str | None:
    """Of the templates and programs in a model's folder, which also decide its texts; None where there are none."""
    files = [file for file in folder.iterdir() if file.suffix in _CODE] if folder.is_dir() else []
    return _together(files) if files else None


def _together(files: Iterable[Path]) -> str:
    return hashlib.sha256("".join(f"{file.name} {_kept_sha256(file)}\n" for file in sorted(files)).encode()).hexdigest()


def _kept_sha256(path: Path) -> str:
    found = path.stat()
    return _sha256_of(path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@cache
def _sha256_of(path: Path, *known: int) -> str:
    _, size, _, changed = known
    if size < _LARGE or time.time() - changed / 1e9 < _SETTLED:
        return file_sha256(path)
    kept = cache_folder() / "hashes" / content_id(str(path.resolve()), *known)
    with suppress(OSError):
        return kept.read_text(encoding="ascii")
    found = file_sha256(path)
    with suppress(StoreError), replacing(kept) as temporary:
        temporary.write_text(found, encoding="ascii")
    return found


@cache
def code_id(packages: Sequence[str] = (), libraries: Sequence[str] = ()) -> str:
    """Of our files in these of our packages, without any in all of them, and of the versions of libraries.

    Every file counts, whatever its ending: numbers rest on data files, too, and a report on its templates.
    """
    files = [(str(file.relative_to(_ROOT)), file_sha256(file)) for file in _files(packages)]
    return content_id([_version(library) for library in libraries], files)


def _version(library: str) -> str | None:
    """None of an extra's that is not installed."""
    with suppress(PackageNotFoundError):
        return version(library)
    return None


def _files(packages: Sequence[str]) -> Iterator[Path]:
    for entry in sorted(_ROOT.iterdir()):
        if entry.is_file() and not packages:
            yield entry
        elif entry.is_dir() and (entry.name in packages or not packages):  # a link to a folder, in a checkout
            yield from (file for file in sorted(entry.rglob("*")) if file.is_file() and _COMPILED not in file.parts)
