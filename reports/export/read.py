"""Opens an export as a run: its tables are read from its files, and the views are made of them."""

from __future__ import annotations

import json
from pathlib import Path

from polyculture.cache.errors import StoreError
from polyculture.cache.identity import file_sha256
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.portable import is_portable
from polyculture.cache.store.run_folder import RunFolder
from polyculture.reports.export.write import METADATA

_REMEDY = "Ask whoever made it for the whole folder, or export the run again."


def is_export(folder: Path) -> bool:
    """Whether a folder has the metadata of an export."""
    return (folder / METADATA).is_file()


def check_export(run: RunFolder, layout: Layout) -> tuple[str, ...]:
    """The files that somebody changed after the export was written.

    Raises `StoreError` where its metadata cannot be read, a file that they name is missing, or it has no manifest or
    nothing of what models answered in the tables of the layout.
    """
    files = _named_files(run.root)
    named = {RunFolder(run.root).manifest.name: None, **files}
    if missing := [name for name in named if not (run.root / name).is_file()]:
        what = f"is an export that lacks {', '.join(missing)}"
        raise StoreError(what, where=run.root, remedy=_REMEDY)
    if not is_portable(run, layout):
        remedy = "Name an export of a run whose models wrote texts or answered questions, or of imported scores."
        raise StoreError("is an export without texts, answers or scores of models", where=run.root, remedy=remedy)
    return tuple(name for name, sha256 in files.items() if file_sha256(run.root / name) != sha256)


def _named_files(folder: Path) -> dict[str, str]:
    """The files of tables that the metadata name, with their hashes."""
    try:
        said = json.loads((folder / METADATA).read_text(encoding="utf-8"))
        files = {str(file["contentUrl"]): str(file["sha256"]) for file in said["distribution"]}
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise StoreError("is not the metadata of an export", where=folder / METADATA, remedy=_REMEDY) from fault
    # A name from outside leads to no place outside the folder.
    root = folder.resolve()
    return {name: sha256 for name, sha256 in files.items() if (folder / name).resolve().is_relative_to(root)}
