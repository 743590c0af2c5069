"""The section's table of what is said, scored and stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polyculture.reports.names import Names
from polyculture.reports.numbers import count


@dataclass(frozen=True, slots=True)
class KnowledgeLine:
    """A topic of a model in a language: how many items are said, scored and stored."""

    where: str
    texts: str
    items: str
    said: str
    scored: str
    stored: str
    both: str
    stored_never_said: str
    said_not_stored: str
    stored_examples: str
    said_examples: str


def knowledge_line(row: Mapping[str, Any], names: Names) -> KnowledgeLine:
    """A row of `knowledge.sql` in words."""
    where = f"{names.model(row['model'])}, {names.language(row['language'])}, {names.topic(row['topic'])}"
    return KnowledgeLine(
        where=where,
        texts=count(row["texts"]),
        items=count(row["items"]),
        said=count(row["said"]),
        scored=count(row["scored"]),
        stored=count(row["stored"]),
        both=count(row["both"]),
        stored_never_said=count(row["stored_never_said"]),
        said_not_stored=count(row["said_not_stored"]),
        stored_examples=row["stored_examples"] or "–",
        said_examples=row["said_examples"] or "–",
    )
