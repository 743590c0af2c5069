"""Precision and recall of extraction and linking, from a judged sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from polyculture.cache.sql_file import read_sql
from polyculture.metrics.inference.shares import share_of

_SQL = Path(__file__).with_name("sql")
FEWEST = 10  # responses with a judged case: of fewer all is left open
Numbers = NDArray[np.float64]
Place = tuple[str | None, str | None]  # language and topic; None: all


@dataclass(frozen=True, slots=True)
class Share:
    """A share of judged cases with a 95 % interval; the shares are None without a judged case.

    A disputed case counts by halves. Judged cases of one response are correlated: the response is the unit of the
    interval, a ratio of sums over responses (`metrics.inference.shares`). It runs from the lower limit with all
    disputed cases wrong to the upper limit with all of them right.
    """

    what: str  # 'extraction precision' | 'extraction recall' | 'link precision' | 'link recall', or of `answers.WHATS`
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
    by_response: dict[tuple[str, Place], list[Sequence[float]]] = defaultdict(list)
    for what, language, topic, *sums in store.execute(read_sql(_SQL, "response_shares")).fetchall():
        for place in ((None, None), (language, None), (language, topic)):
            by_response[what, place].append(sums)
    rows = store.execute(read_sql(_SQL, "shares")).fetchall()
    return [_share(row, np.array(by_response.get((row[0], (row[1], row[2])), []), dtype=float)) for row in rows]


def share_limits(hits: Numbers, cases: Numbers) -> tuple[float, float]:
    """The 95 % limits of a share of cases, from a row per response; a reading without a case leaves all open."""
    estimate = share_of(hits, cases) if np.count_nonzero(cases) >= FEWEST else None
    return estimate.interval() if estimate else (0.0, 1.0)


def open_rows(store: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """The number of disputed rows, and of mentions whose link changed since they were judged."""
    ((disputed, relinked),) = store.execute(read_sql(_SQL, "disputed")).fetchall()
    return disputed, relinked


def _share(row: Sequence[Any], responses: Numbers) -> Share:
    """A share from its sums, and what each response adds: hits and cases at worst, and at best."""
    what, language, topic, hits, of, disputed, *readings = row
    if not of:
        return Share(what, language, topic, hits, of, None, None, None, disputed, None, None)
    low, _ = share_limits(responses[:, 0], responses[:, 1])
    _, high = share_limits(responses[:, 2], responses[:, 3])
    return Share(
        what, language, topic, hits, of, hits / of, low, high, disputed, _of(*readings[:2]), _of(*readings[2:])
    )


def _of(hits: int, of: int) -> float | None:
    return hits / of if of else None
