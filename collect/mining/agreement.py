"""Compares annotators' sheets: pairwise agreement, rows with agreement of all, and disputed rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from polyculture.collect.mining.kappa import Kappa, cohens_kappa
from polyculture.collect.mining.sheet import KEPT_COLUMNS, AnnotatedSheet, SheetRow

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
