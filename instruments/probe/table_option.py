"""`polyculture probe --table`: what is listed of the run after the answers have come, in the study's shapes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import duckdb

    from polyculture.instruments.contract import Asked, Listing

TableName = Literal["flattening", "arms", "layers", "knowledge", "stored", "said", "together"]
_OWN = Path(__file__).parent
_FILES = {
    "flattening": "flattening_matrix.sql",
    "arms": "arms_beside.sql",
    "layers": "items_by_layer.sql",
    "knowledge": "knowledge.sql",
}
_VIEWS = {
    "together": "SELECT * FROM entity_knowledge ORDER BY model, language, topic, probed DESC, generated DESC, qid",
    "stored": "SELECT * FROM stored_and_never_said ORDER BY model, language, topic, probed DESC, qid",
    "said": "SELECT * FROM said_and_not_stored ORDER BY model, language, topic, generated DESC, qid",
}
_EMPTY = {
    "arms": "no arm was run beside the probe: run with --control",
    "knowledge": "no topic has both texts and linked items: run with --link, and generate texts of the topic",
}


def listed(asked: Asked, name: TableName, models: Sequence[str]) -> Listing:
    """The table of what the run holds of these models; a line says why one is empty."""
    from polyculture.cache.store import open_store
    from polyculture.instruments.contract import Listing
    from polyculture.instruments.probe.layout import TOGETHER

    with open_store(asked.run, TOGETHER) as store:
        columns, rows = _table(store, name)
    place = columns.index("model")
    kept = [row for row in rows if row[place] in models]
    if not kept:
        linked = "no item was linked: run with --link" if name in _VIEWS else "there are no scores of these models"
        asked.say(f"table {name}: {_EMPTY.get(name, linked)}")
    return Listing(columns, kept)


def _table(store: duckdb.DuckDBPyConnection, name: TableName) -> tuple[tuple[str, ...], Sequence[Sequence[Any]]]:
    query = _VIEWS[name] if name in _VIEWS else (_OWN / _FILES[name]).read_text(encoding="utf-8")
    cursor = store.execute(query)
    return tuple(column[0] for column in cursor.description or ()), cursor.fetchall()
