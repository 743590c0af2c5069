"""The hash of the code that numbers and reports come from: another version may find another number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from polyculture.cache.identity import content_id, file_sha256

_ROOT = Path(__file__).parents[1]
_COMPILED = "__pycache__"


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
