"""Precision and recall of extraction and linking, from a judged sample."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from polyculture.cache.proportions import wilson_interval
from polyculture.cache.sql_files import read_sql

_SQL = Path(__file__).with_name("sql")


@dataclass(frozen=True, slots=True)
class Share:
    """A share of judged cases with a 95 % interval; the shares are None without a judged case.

    A disputed case counts by halves. The interval runs from Wilson's lower limit with all disputed cases wrong to his
    upper limit with all of them right.
    """

    what: str  # 'extraction precision' | 'extraction recall' | 'link precision' | 'link recall'
    language: str | None  # None: all languages
    topic: str | None  # None: all topics
    hits: float
    of: float
    value: float | None
    low: float | None
    high: float | None
    disputed: int  # cases on which judges differ, and no adjudicator decided
    if_wrong: float | None  # the share if all disputed cases were wrong
    if_right: float | None  # the share if all disputed cases were right


def audit_scores(store: duckdb.DuckDBPyConnection) -> list[Share]:
    """The four shares over all, per language, and per language and topic.

    Extraction precision: right mentions among the judged ones. Extraction recall: right mentions among the right and
    the missed ones, in fully judged responses. Linking, of right mentions: right links among the links made, and right
    links among the mentions that have an item.
    """
    rows = store.execute(read_sql(_SQL, "shares")).fetchall()
    return [
        _share(what, language, topic, hits, of, disputed, worst=(hits_worst, of_worst), best=(hits_best, of_best))
        for what, language, topic, hits, of, disputed, hits_worst, of_worst, hits_best, of_best in rows
    ]


def open_rows(store: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """The number of disputed rows, and of mentions whose link changed since they were judged."""
    ((disputed, relinked),) = store.execute(read_sql(_SQL, "disputed")).fetchall()
    return disputed, relinked


def _share(
    what: str,
    language: str | None,
    topic: str | None,
    hits: float,
    of: float,
    disputed: int,
    worst: tuple[int, int],
    best: tuple[int, int],
) -> Share:
    if not of:
        return Share(what, language, topic, hits, of, None, None, None, disputed, None, None)
    lowest, highest = wilson_interval(*worst), wilson_interval(*best)
    low, high = lowest[0] if lowest else 0.0, highest[1] if highest else 1.0  # a reading without a case leaves all open
    return Share(what, language, topic, hits, of, hits / of, low, high, disputed, _of(*worst), _of(*best))


def _of(hits: int, of: int) -> float | None:
    return hits / of if of else None
