"""Annotators' sheets: writes them, reads them back after editing in a spreadsheet, and measures agreement.

A row is identified by its `id`, which no spreadsheet converts to a number, a date or a formula; rows may be sorted,
filtered and annotated. Annotators agree on the words of their judgements: yes and no, or the cultures of an entity.

Agreement beyond chance is Cohen's kappa (1960), doi:10.1177/001316446002000104; its interval has the large-sample
variance of Fleiss, Cohen & Everitt (1969), doi:10.1037/h0028106, equation 13, which holds for any true kappa, not only
under the hypothesis of no agreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from pathlib import Path

from polyculture.cache.errors import StoreError
from polyculture.cache.spreadsheet import read_sheet_rows

COUNT_COLUMNS = ("id", "entity", "language", "count", "documents")
KEPT_COLUMNS = ("language", "count", "documents", "patterns", "context_1", "context_2", "context_3")
SHEET_COLUMNS = ("id", "entity", "judgement", "note", *KEPT_COLUMNS)
_REMEDY = "Give a file of polyculture corpus mine, or a sheet of polyculture corpus mine export."

SheetRow = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AnnotatedSheet:
    """An annotator's sheet: rows by id, and the judgements of those that have one."""

    annotator: str
    rows: Mapping[str, SheetRow]
    judgements: Mapping[str, str]


def sheet_rows(counts: Path, limit: int | None) -> list[list[str]]:
    """The rows of a sheet from a file of counts, in its order.

    Raises `StoreError` for a file that `polyculture corpus mine` did not write.
    """
    rows = list(read_sheet_rows(counts, COUNT_COLUMNS, _REMEDY))
    return [[row.get(name) or "" for name in SHEET_COLUMNS] for row in rows[:limit]]


def read_sheet(path: Path) -> AnnotatedSheet:
    """A sheet with its judgements, in lower case. Raises `StoreError` for any other file, or a repeated row."""
    rows: dict[str, SheetRow] = {}
    for row in read_sheet_rows(path, ("id", "entity", "judgement"), _REMEDY):
        if row["id"] in rows:
            what = f"has the row {row['id']} ({row['entity']}) twice"
            raise StoreError(what, where=path, remedy="Remove one of the two.")
        rows[row["id"]] = row
    judged = {key: row["judgement"].strip().casefold() for key, row in rows.items()}
    return AnnotatedSheet(path.stem, rows, {key: judgement for key, judgement in judged.items() if judgement})


CONFIDENCE_95 = 1.959964  # standard errors on each side


@dataclass(frozen=True, slots=True)
class Kappa:
    """The agreement of two annotators on `n` items that both judged.

    `kappa` and the interval are None where kappa is undefined: no common items, or all used one and the same label
    throughout, so that the expected agreement is 1.
    """

    n: int
    observed: float | None
    expected: float | None
    kappa: float | None
    low: float | None
    high: float | None


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> Kappa:
    """Kappa of the labels that two annotators gave to the same items, with a 95 % interval cut at -1 and 1."""
    n = len(pairs)
    if not n:
        return Kappa(0, None, None, None, None, None)
    joint = {pair: count / n for pair, count in Counter(pairs).items()}
    first = {label: count / n for label, count in Counter(one for one, _ in pairs).items()}
    second = {label: count / n for label, count in Counter(other for _, other in pairs).items()}
    observed = sum(share for (one, other), share in joint.items() if one == other)
    expected = sum(share * second.get(label, 0.0) for label, share in first.items())
    if len({label for pair in pairs for label in pair}) == 1:
        return Kappa(n, observed, expected, None, None, None)
    kappa = (observed - expected) / (1 - expected)
    error = CONFIDENCE_95 * sqrt(_variance(joint, first, second, observed, expected) / n)
    return Kappa(n, observed, expected, kappa, max(-1.0, kappa - error), min(1.0, kappa + error))


def _variance(
    joint: dict[tuple[str, str], float],
    first: dict[str, float],
    second: dict[str, float],
    observed: float,
    expected: float,
) -> float:
    """The variance of kappa times the number of items."""
    total = 0.0
    for (one, other), share in joint.items():
        if one == other:
            total += share * ((1 - expected) - (first[one] + second[one]) * (1 - observed)) ** 2
        else:
            # Each annotator's label is weighted by its frequency with the other annotator.
            weight = second.get(one, 0.0) + first.get(other, 0.0)
            total += share * ((1 - observed) * weight) ** 2
    return max(0.0, total - (observed * expected - 2 * expected + observed) ** 2) / (1 - expected) ** 4


REJECTED = ("no",)
AGREED_COLUMNS = ("id", "entity", "judgement", *KEPT_COLUMNS)


@dataclass(frozen=True, slots=True)
class AnnotatorPair:
    """Two annotators, their agreement, and the counts of each pair of judgements."""

    annotators: tuple[str, str]
    kappa: Kappa
    judgements: tuple[tuple[str, str, int], ...]  # most frequent first


@dataclass(frozen=True, slots=True)
class Agreement:
    """The result. Every row is in one of `agreed`, `rejected`, `disputed` and `unjudged`."""

    pairs: tuple[AnnotatorPair, ...]
    agreed: tuple[tuple[str, ...], ...]  # `AGREED_COLUMNS`
    rejected: int  # rejected by all
    disputed: tuple[tuple[str, ...], ...]  # id, entity, each annotator's judgement, contexts
    unjudged: int  # not judged by all


def compare(sheets: Sequence[AnnotatedSheet], rejected: Sequence[str] = REJECTED) -> Agreement:
    """Compares the judgements of two or more sheets by row id; judgements in `rejected` exclude an entity."""
    rows: dict[str, SheetRow] = {key: row for sheet in reversed(sheets) for key, row in sheet.rows.items()}
    order = dict.fromkeys(key for sheet in sheets for key in sheet.rows)
    no = {word.casefold() for word in rejected}
    agreed, disputed = [], []
    out = unjudged = 0
    for key in order:
        given = [sheet.judgements.get(key) for sheet in sheets]
        judgements = [judgement for judgement in given if judgement is not None]
        if len(judgements) < len(sheets):
            unjudged += 1
        elif len(set(judgements)) > 1:
            disputed.append((key, rows[key]["entity"], *judgements, *_contexts(rows[key])))
        elif judgements[0] in no:
            out += 1
        else:
            agreed.append((key, rows[key]["entity"], judgements[0], *(rows[key].get(c, "") for c in KEPT_COLUMNS)))
    pairs = tuple(_pair(one, other) for one, other in combinations(sheets, 2))
    return Agreement(pairs, tuple(agreed), out, tuple(disputed), unjudged)


def disputed_columns(sheets: Sequence[AnnotatedSheet]) -> tuple[str, ...]:
    """The column names of `Agreement.disputed`."""
    return ("id", "entity", *(sheet.annotator for sheet in sheets), "context_1", "context_2", "context_3")


def _contexts(row: SheetRow) -> tuple[str, ...]:
    return tuple(row.get(name, "") for name in ("context_1", "context_2", "context_3"))


def _pair(one: AnnotatedSheet, other: AnnotatedSheet) -> AnnotatorPair:
    both = [(one.judgements[key], other.judgements[key]) for key in one.judgements if key in other.judgements]
    counts = sorted(((*pair, count) for pair, count in Counter(both).items()), key=lambda row: (-row[2], row))
    return AnnotatorPair((one.annotator, other.annotator), cohens_kappa(both), tuple(counts))
