"""Rows about the data sets of contexts and entities on this machine: their folders and contents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from polyculture.instruments.datasets.opened import data_folder

if TYPE_CHECKING:
    from polyculture.instruments.datasets.model import DataSet
    from polyculture.instruments.datasets.rules import DatasetRules
    from polyculture.instruments.datasets.source import Source

CAUSAL = "causal"


def list_rows(data_sets: Iterable[Source]) -> Iterable[tuple[Any, ...]]:
    """Name, title, licence, publisher and pinned commit, folder, and the fetched commit."""
    from polyculture.instruments.datasets.fetch import fetched_commit

    for one in data_sets:
        folder = data_folder(one.name)
        pinned = f"{one.repository} at {one.commit[:12]}" if one.repository and one.commit else None
        here = (str(folder), (fetched_commit(folder) or "")[:12] or None) if folder.is_dir() else (None, None)
        yield one.name, one.title, one.licence, pinned, *here


def entity_rows(dataset: DataSet) -> list[tuple[Any, ...]]:
    """Language, type, culture and number of entities."""
    counts = Counter((e.language, e.entity_type, e.culture) for e in dataset.entities)
    return [(*key, number) for key, number in sorted(counts.items())]


def context_rows(dataset: DataSet) -> list[tuple[Any, ...]]:
    """Language, culture, setting, form, type and number of contexts."""
    counts = Counter((c.language, c.culture, c.setting, c.form, c.entity_type) for c in dataset.contexts)
    return [(*key, number) for key, number in sorted(counts.items())]


def total_rows(dataset: DataSet, published: Mapping[str, int]) -> list[tuple[Any, ...]]:
    """Counts as in the papers: a name counts once over all languages, a context once for both forms."""
    entities = {entity.place for entity in dataset.entities}
    causal, whole = (
        len({context.place for context in dataset.contexts if (context.form == CAUSAL) == wanted})
        for wanted in (True, False)
    )
    return [
        ("entities, once over all languages", len(entities), published.get("entities")),
        ("contexts, whole texts, once over all languages", whole, published.get("contexts")),
        ("contexts again, their causal form", causal, None),
    ]


def published_rows(dataset: DataSet, rules: DatasetRules) -> list[tuple[Any, ...]]:
    """What the paper counts beside the rows that were read, and why they differ where that is known."""
    rows = {
        "entities": {(e.place, e.entity_type, e.culture) for e in dataset.entities},
        "contexts": {(c.place, c.entity_type, c.culture) for c in dataset.contexts if c.form != CAUSAL},
    }
    counts = []
    lacking = absent_cultures(dataset, rules)
    absent = f"not in this folder: {', '.join(lacking)}" if lacking else ""
    for one in rules.published_counts:
        read = sum(one.type in (None, kind) and one.culture in (None, side) for _, kind, side in rows[one.what])
        why = "; ".join(filter(None, (one.why, absent if one.culture in (None, *lacking) else "")))
        counts.append((one.what, one.type, one.culture, read, one.count, read - one.count, one.where, why))
    return counts


def absent_cultures(dataset: DataSet, rules: DatasetRules) -> list[str]:
    """The publisher's cultures without an entity in this folder."""
    cultures = {entity.culture for entity in dataset.entities}
    return [culture for culture in rules.cultures if culture not in cultures]


def left_out_rows(dataset: DataSet) -> list[tuple[Any, ...]]:
    """File, sheet, row, reason and text of every omission or change."""
    return [(lo.place.file, lo.place.sheet, lo.place.row, lo.reason, lo.text) for lo in dataset.left_out]
