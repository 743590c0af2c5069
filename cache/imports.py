"""The mark of an import that is at work, or was killed: its file's name stands in it."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.run_folder import RunFolder


def unfinished(run: RunFolder) -> Path:
    """The mark of a run: it is there from the first text that an import writes until its last table."""
    return run.root / "importing"
