"""The cache folder that all runs on this machine share."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """`$POLYCULTURE_CACHE`, or `polyculture` in the user's cache folder (XDG base directory specification)."""
    chosen = os.environ.get("POLYCULTURE_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "polyculture"
