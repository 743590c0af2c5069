"""What a manifest says of the extractor of its texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyculture.cache.store.manifest import EXTRACT_KEYS, READER, TEXTS


def extracted_by(
    settings: Mapping[str, Any], ids: Mapping[str, str] | None = None, reader: str | None = None
) -> dict[str, Any]:
    """Fields of a manifest: `settings` of the extractor by their keys in the file, and the `ids` of what it is by
    topic. Without ids no extraction counts."""
    asked = {**(ids or {}), **({f"{READER}extract": reader} if reader else {})}
    told = {f"{EXTRACT_KEYS}{key}": value for key, value in settings.items()}
    return {"asked": {TEXTS: asked}, "asked_settings": {TEXTS: dict.fromkeys(ids or ("food",), told)}}
