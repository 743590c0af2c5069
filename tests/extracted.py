"""What a manifest says of the extractor of its texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyculture.cache.store.manifest import EXTRACT_KEYS, TEXTS, CurrentId


def extracted_by(
    settings: Mapping[str, Any], ids: Mapping[str, str] | None = None, reader: str | None = None
) -> dict[str, Any]:
    """Fields of a manifest: `settings` of the extractor by their keys in the file, and the `ids` of what it is by
    topic. Without ids no extraction counts."""
    told = {f"{EXTRACT_KEYS}{key}": value for key, value in settings.items()}
    asked = [CurrentId(what=topic, id=id_, settings=told) for topic, id_ in (ids or {"food": ""}).items()]
    if reader:
        asked.append(CurrentId(what="extract", id=reader, reads=True))
    return {"asked": {TEXTS: asked}}
