"""Shares of judged cases: precision, recall and F1 of extraction and linking, and what judges are asked besides.

Judged cases of one response are correlated, so that the response is the unit: a ratio of sums over responses
(`metrics.inference.jackknife`). A disputed case counts by halves. The interval runs from the lower limit with each
disputed case read for the lowest share to the upper limit with each read for the highest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store
from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.jackknife import share_of

_SQL = Path(__file__).with_name("sql")
FEWEST = 10  # responses with a judged case: of fewer all is left open
SCORES = ("extraction precision", "extraction recall", "link precision", "link recall")
ANSWERS = ("extraction F1", "link F1", "fabrication", "real without an item", "relevance")
_RESPONSES = """
SELECT what, language, topic, hits, cases, disputed, hits_at_best, cases_at_best, hits_at_worst, cases_at_worst
FROM audit_response_shares
WHERE list_contains($shares, what)
ORDER BY what, language, topic, extraction_id
"""
LanguageTopic = tuple[str | None, str | None]  # language and topic; None: all
_NOTHING = np.zeros((1, 7))


@dataclass(frozen=True, slots=True)
class JudgedShare:
    """A share of judged cases with a 95 % interval; the shares are None without a judged case."""

    what: str  # of `SCORES` or `ANSWERS`
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


def audit_scores(store: Store) -> list[JudgedShare]:
    """`SCORES` over all, per language, and per language and topic with a judgement.

    Extraction precision: right mentions among the judged ones. Extraction recall: right mentions among the right and
    the missed ones, in fully judged responses. Linking, of right mentions: right links among the links made, and right
    links among the mentions that have an item.
    """
    groups = _by_place(store, SCORES)
    places = sorted({(None, None), *(place for _, place in groups)}, key=_order)
    return [_share(what, place, groups.get((what, place), _NOTHING)) for place in places for what in SCORES]


def answer_shares(store: Store) -> list[JudgedShare]:
    """`ANSWERS` over all, per language, and per language and topic; only those with a judged case.

    - F1: 2 right / (2 right + wrong + missed); of extraction in responses that were judged whole, of links in right
      mentions
    - fabrication: right mentions of things that do not exist, among those that were asked about
    - real without an item: likewise, of things that exist and that Wikidata lacks
    - relevance: responses on their topic, among those that were asked about
    """
    groups = {group: rows for group, rows in _by_place(store, ANSWERS).items() if rows[:, [1, 4, 6]].any()}
    ordered = sorted(groups, key=lambda group: (_order(group[1]), ANSWERS.index(group[0])))
    return [_share(*group, groups[group]) for group in ordered]


def share_limits(hits: Floats, cases: Floats) -> tuple[float, float]:
    """The 95 % limits of a share of cases, from a row per response; a reading without a case leaves all open."""
    estimate = share_of(hits, cases) if np.count_nonzero(cases) >= FEWEST else None
    return estimate.interval() if estimate else (0.0, 1.0)


def open_rows(store: Store) -> tuple[int, int]:
    """The number of disputed rows, and of mentions whose link changed since they were judged."""
    ((disputed, relinked),) = store.execute(read_sql(_SQL, "disputed")).fetchall()
    return disputed, relinked


def _by_place(store: Store, shares: Sequence[str]) -> dict[tuple[str, LanguageTopic], Floats]:
    """What each response adds to some shares, a row per response: over all, by language, and by language and topic."""
    groups: dict[tuple[str, LanguageTopic], list[Sequence[float]]] = defaultdict(list)
    for what, language, topic, *sums in store.execute(_RESPONSES, {"shares": list(shares)}).fetchall():
        for place in ((None, None), (language, None), (language, topic)):
            groups[what, place].append(sums)
    return {group: np.array(rows, dtype=np.float64) for group, rows in groups.items()}


def _order(place: LanguageTopic) -> tuple[bool, str, str]:
    language, topic = place
    return topic is not None, language or "", topic or ""


def _share(what: str, place: LanguageTopic, rows: Floats) -> JudgedShare:
    """A share from a row per response: hits, cases, disputed, and hits and cases at best and at worst."""
    hits, cases, disputed, best_hits, best_cases, worst_hits, worst_cases = rows.sum(axis=0).tolist()
    low: float | None = share_limits(rows[:, 5], rows[:, 6])[0]
    high: float | None = share_limits(rows[:, 3], rows[:, 4])[1]
    values = [
        one / of if of else None for one, of in ((hits, cases), (worst_hits, worst_cases), (best_hits, best_cases))
    ]
    if what.endswith("F1"):
        low, high = _f1(low), _f1(high)
        values = [_f1(value) for value in values]
        hits, cases = 2 * hits, hits + cases
    value, if_wrong, if_right = values
    if value is None:
        low = high = None
    return JudgedShare(what, *place, hits, cases, value, low, high, int(disputed), if_wrong, if_right)


def _f1(jaccard: float | None) -> float | None:
    """F1 of what is found and what should be, from the share of both among either (Jaccard's index)."""
    return None if jaccard is None else 2 * jaccard / (1 + jaccard)
