"""`polyculture relevance --table`: what the run holds of these models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from polyculture.instruments.contract import Asked, Listing

TableName = Literal["relevance", "gains", "not-asked", "contexts"]
_OWN = Path(__file__).parent
_FILES = {"relevance": "relevance.sql", "gains": "relevance_gains.sql", "not-asked": "relevance_not_asked.sql"}
_CONTEXTS = (
    "SELECT * FROM relevance_contexts ORDER BY model, dataset, question_type, source_id, target, condition, draw"
)


def listed(asked: Asked, name: TableName, models: Sequence[str]) -> Listing:
    """A table of what the run holds of these models; a line says where it is empty."""
    from polyculture.cache.core import CORE
    from polyculture.cache.layout import compose
    from polyculture.cache.store import open_store
    from polyculture.instruments.contract import Listing
    from polyculture.instruments.relevance.layout import RELEVANCE

    query = _CONTEXTS if name == "contexts" else (_OWN / _FILES[name]).read_text(encoding="utf-8")
    with open_store(asked.run, compose(CORE, RELEVANCE)) as store:
        cursor = store.execute(query)
        columns = tuple(column[0] for column in cursor.description or ())
        rows = cursor.fetchall()
    place = columns.index("model")
    kept = [row for row in rows if row[place] in models]
    if not kept:
        why = "every question is asked" if name == "not-asked" else "no question was answered under all conditions"
        asked.say(f"table {name}: {why}")
    return Listing(columns, kept)
