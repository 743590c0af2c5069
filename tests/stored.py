"""What the store of a run answers, for tests of commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.running.layout import store_layout


def rows(place: Path, query: str, run: str = "") -> list[tuple[Any, ...]]:
    """The rows of a query. `place` is an experiment file, or its folder; of several runs there `run` names one."""
    runs = [RunFolder(path) for path in ((place.parent if place.is_file() else place) / "runs").iterdir()]
    name = run or place.stem
    [one] = [one for one in runs if one.root.name == name] or [one for one in runs if one.manifest.exists()]
    with open_store(one, store_layout()) as store:
        return store.sql(query).fetchall()
