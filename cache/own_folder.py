"""Folders of Polyculture's own, which it may remove: a marker file in them says so. Any other folder is left alone."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from polyculture.cache.errors import StoreError

MARKER = ".polyculture"
_WORDS = "Polyculture made this folder and removes it with all that is in it.\n"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


def is_name(text: str) -> bool:
    """Can `text` be a file's name anywhere: letters, digits, '-', '_' and '.', neither '.' nor '-' first?"""
    return _NAME.fullmatch(text) is not None


def claim(folder: Path) -> None:
    """Makes `folder` ours: it is new, empty, or was ours before. Raises `StoreError` where it is somebody else's."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise _not_ours(folder)
    folder.mkdir(parents=True, exist_ok=True)
    there = {path.name for path in folder.iterdir()}
    if MARKER in there:
        return
    if there:
        raise _not_ours(folder)
    (folder / MARKER).write_text(_WORDS, encoding="utf-8")


def remove(folder: Path) -> None:
    """Removes a folder that was claimed, with all that is in it. Raises `StoreError` for any other."""
    if folder.is_symlink() or not (folder / MARKER).is_file():
        raise _not_ours(folder)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MARKER:
            path.unlink()
    (folder / MARKER).unlink()  # last: whoever is killed before leaves a folder that is still ours
    folder.rmdir()


def _not_ours(folder: Path) -> StoreError:
    remedy = "Move it away, or choose another place; nothing in it was touched."
    return StoreError("is there, and Polyculture did not make it", where=folder, remedy=remedy)
