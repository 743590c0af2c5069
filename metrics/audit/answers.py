"""F1, and the shares of what judges are asked besides: is the thing invented, has it no item, is the text on topic?

Judged cases of one response are correlated, so that the response is the unit: a ratio of sums over responses
(`metrics.inference.shares`). The interval runs from the lower limit with each disputed case read for the lowest share
to the upper limit with each read for the highest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np

from polyculture.cache.sql_file import read_sql
from polyculture.metrics.audit.scores import Numbers, Place, Share, share_limits

_SQL = Path(__file__).with_name("sql")
WHATS = ("extraction F1", "link F1", "fabrication", "real without an item", "relevance")


def answer_shares(store: duckdb.DuckDBPyConnection) -> list[Share]:
    """The shares of `WHATS` over all, per language, and per language and topic; only those with a judged case.

    - F1: 2 right / (2 right + wrong + missed); of extraction in responses that were judged whole, of links in right
      mentions
    - fabrication: right mentions of things that do not exist, among those that were asked about
    - real without an item: likewise, of things that exist and that Wikidata lacks
    - relevance: responses on their topic, among those that were asked about
    """
    groups: dict[tuple[str, Place], list[Sequence[float]]] = defaultdict(list)
    for what, language, topic, *sums in store.execute(read_sql(_SQL, "answers")).fetchall():
        for place in ((None, None), (language, None), (language, topic)):
            groups[what, place].append(sums)
    return [
        _share(what, place, np.array(rows, dtype=float)) for (what, place), rows in sorted(groups.items(), key=_order)
    ]


def _order(group: tuple[tuple[str, Place], object]) -> tuple[bool, str, str, int]:
    (what, (language, topic)), _ = group
    return topic is not None, language or "", topic or "", WHATS.index(what)


def _share(what: str, place: Place, rows: Numbers) -> Share:
    """A share from a row per response: hits, cases, disputed, and hits and cases at best and at worst."""
    hits, cases, disputed, best_hits, best_cases, worst_hits, worst_cases = rows.sum(axis=0).tolist()
    low: float | None = share_limits(rows[:, 5], rows[:, 6])[0]
    high: float | None = share_limits(rows[:, 3], rows[:, 4])[1]
    values = [_value(*one) for one in ((hits, cases), (worst_hits, worst_cases), (best_hits, best_cases))]
    if what.endswith("F1"):
        low, high = _f1(low), _f1(high)
        values = [_f1(value) for value in values]
        hits, cases = 2 * hits, hits + cases
    value, if_wrong, if_right = values
    if value is None:
        low = high = None
    return Share(what, *place, hits, cases, value, low, high, int(disputed), if_wrong, if_right)


def _value(hits: float, cases: float) -> float | None:
    return hits / cases if cases else None


def _f1(jaccard: float | None) -> float | None:
    """F1 of what is found and what should be, from the share of both among either (Jaccard's index)."""
    return None if jaccard is None else 2 * jaccard / (1 + jaccard)
