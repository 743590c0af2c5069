"""Precision and recall of extraction and linking, from a judged sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from polyculture.cache.proportions import wilson_interval


@dataclass(frozen=True, slots=True)
class Share:
    """A share of judged rows with Wilson's 95 % interval; all three None where nothing was judged."""

    what: str  # 'extraction precision' | 'extraction recall' | 'link precision' | 'link recall'
    language: str | None  # None: all languages
    topic: str | None  # None: all topics
    hits: int
    of: int
    value: float | None
    low: float | None
    high: float | None


def audit_scores(store: duckdb.DuckDBPyConnection) -> list[Share]:
    """The four shares over all, per language, and per language and topic.

    Extraction: right mentions of those judged; right mentions of those and the missed ones, in responses judged whole.
    Linking, of right mentions: right links of those made; right links of the mentions that have an item.
    """
    found = store.execute("FROM audit_counts ORDER BY language, topic")
    names = [column[0] for column in found.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    languages = sorted({row["language"] for row in rows})
    shares = [*_shares(rows, None, None)]
    for language in languages:
        shares += _shares([row for row in rows if row["language"] == language], language, None)
    for row in rows:
        shares += _shares([row], row["language"], row["topic"])
    return shares


def _shares(rows: Sequence[Mapping[str, int]], language: str | None, topic: str | None) -> Iterator[Share]:
    def total(*names: str) -> int:
        return sum(row[name] for row in rows for name in names)

    for what, hits, of in (
        ("extraction precision", total("right_mentions"), total("judged")),
        ("extraction recall", total("right_in_whole"), total("right_in_whole", "missed")),
        ("link precision", total("right_links"), total("right_links", "wrong_links", "surplus_links")),
        ("link recall", total("right_links"), total("right_links", "wrong_links", "missed_links")),
    ):
        yield share(what, language, topic, hits, of)


def share(what: str, language: str | None, topic: str | None, hits: int, of: int) -> Share:
    """`hits` of `of`, with Wilson's interval."""
    low, high = wilson_interval(hits, of) or (None, None)
    return Share(what, language, topic, hits, of, hits / of if of else None, low, high)
