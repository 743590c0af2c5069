"""The Action API's answers as they were recorded, among the real data: to be replayed by a server of our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import yaml

from tests.wikidata_server import Answer

_OF_THE_WIRE = ("Content-Length", "Content-Encoding", "Connection")  # our server sends its own


def recorded_bodies(shared_data: Path) -> dict[str, bytes]:
    """The bodies by the name that their collection gives them: 'wbgetentities-bogus', 'search_alias', ..."""
    folder = shared_data / "wikidata" / "api-shapes"
    bodies = {file.stem: file.read_bytes() for file in sorted((folder / "wdtk").glob("*.json"))}
    excerpts: dict[str, Any] = orjson.loads((folder / "excerpts.json").read_bytes())
    quoted = {name: part.get("body", part) for name, part in excerpts.items() if isinstance(part, dict)}
    return {**bodies, **{name: orjson.dumps(body) for name, body in quoted.items()}}


def recorded_exchanges(shared_data: Path) -> Iterator[tuple[str, str, Answer]]:
    """Every exchange of April 2026: its file's name, the address that was asked, and the answer with its headers."""
    folder = shared_data / "wikidata" / "api-shapes" / "wilg-wikidata-cassettes"
    for file in sorted(folder.glob("*.yml")):
        cassette = yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        for exchange in cassette["http_interactions"]:
            yield file.stem, exchange["request"]["uri"], _answer(exchange["response"])


def _answer(response: dict[str, Any]) -> Answer:
    headers = {name: ", ".join(values) for name, values in response["headers"].items() if name not in _OF_THE_WIRE}
    body = response["body"]["string"]
    return response["status"]["code"], headers, body if isinstance(body, bytes) else body.encode()
