"""Collects from Wikidata's services: pulls the items into a snapshot, and collects from that.

The rules are the same for both ways, and a second run asks nothing.
"""

from __future__ import annotations

import time
from pathlib import Path

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import SnapshotError
from polyculture.cache.identity import content_id
from polyculture.collect.wikidata.collect import TOPIC, Collection, as_catalog
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.sparql import SparqlSettings
from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.pull.pull import pull_index

FRESH = 7 * 86_400.0  # seconds; older snapshots are pulled again


def pulled(
    catalog: Catalog, wanted: Collection, folder: Path, endpoint: SparqlSettings, service: ApiSettings
) -> Snapshot:
    """A snapshot in `folder` with the items that the collection needs, at most a week old, else pulled now.

    Countries and `labelled` do not restrict the pull. Raises what `link.pull.pull.pull_index` raises.
    """
    endpoint.check()
    narrowed = as_catalog(catalog, wanted)
    kind, chain = narrowed.topic(TOPIC).kinds[TOPIC], narrowed.language(wanted.language).label_languages
    more = [narrowed.language(code).label_languages for code in wanted.languages[1:]]
    key = content_id(endpoint.endpoint, service.endpoint, kind.model_dump(), wanted.max_distance, chain, *more)
    out = folder / f"collected-{key}.duckdb"
    return _fresh(out) or pull_index(narrowed, [TOPIC], out, endpoint, service).snapshot


def _fresh(path: Path) -> Snapshot | None:
    try:
        snapshot = open_snapshot(path)
    except SnapshotError:
        return None
    return snapshot if time.time() - path.stat().st_mtime < FRESH else None
