"""Mentions without a Wikidata item, and names per item, by topic and language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyculture.cache.manifest import Manifest
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import share

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Resolution:
    """The table: topics are columns; a cell holds the share without an item and the names per item, or is None."""

    topics: tuple[str, ...]
    models: tuple[
        tuple[str, str, tuple[tuple[str, tuple[tuple[str, str] | None, ...]], ...]], ...
    ]  # model, its name, (language, cells)


def resolution(rows: Sequence[Row], manifest: Manifest, names: Names) -> Resolution | None:
    """The table from the rows of `sql/resolution.sql`; None where no mention was looked up."""
    found = {(row["model"], row["language"], row["topic"]): row for row in rows if row["looked_up"]}
    topics = ordered(manifest.topics, {topic for *_, topic in found})
    models = []
    for model in ordered(manifest.models, {model for model, *_ in found}):
        languages = ordered(manifest.languages, {language for own, language, _ in found if own == model})
        lines = [
            (names.language(code), tuple(_cell(found.get((model, code, t))) for t in topics)) for code in languages
        ]
        models.append((model, names.model(model), tuple(lines)))
    return Resolution(tuple(map(names.topic, topics)), tuple(models)) if models else None


def _cell(row: Row | None) -> tuple[str, str] | None:
    if row is None:
        return None
    names = row["surfaces_per_entity"]
    return share(row["nil"], row["looked_up"]) or "", "no item" if names is None else f"{names:.1f} names an item"
