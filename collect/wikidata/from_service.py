"""Collects from a SPARQL endpoint: what is needed is pulled into a snapshot, which is then asked like any other.

So the same rules hold, whichever way an entity list is made, and a second run asks nothing.
"""

from __future__ import annotations

import time
from pathlib import Path

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import SnapshotError
from polyculture.cache.identity import content_id
from polyculture.collect.wikidata.collect import TOPIC, Collection, as_catalog
from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.pull.client import PullSettings
from polyculture.link.pull.pull import pull_index

FRESH = 7 * 86_400.0  # seconds after which the endpoint is asked again


def pulled(catalog: Catalog, wanted: Collection, folder: Path, settings: PullSettings) -> Snapshot:
    """A snapshot with what the collection needs, in `folder`: of at most a week ago, or pulled now.

    Its country and `labelled` are no part of what is pulled. Raises what `link.pull.pull.pull_index` raises.
    """
    settings.check()
    narrowed = as_catalog(catalog, wanted)
    kind, chain = narrowed.topic(TOPIC).kinds[TOPIC], narrowed.language(wanted.language).label_languages
    key = content_id(settings.endpoint, kind.model_dump(), wanted.max_distance, chain)
    out = folder / f"collected-{key}.duckdb"
    return _fresh(out) or pull_index(narrowed, [TOPIC], out, settings).snapshot


def _fresh(path: Path) -> Snapshot | None:
    try:
        snapshot = open_snapshot(path)
    except SnapshotError:
        return None
    return snapshot if time.time() - path.stat().st_mtime < FRESH else None
