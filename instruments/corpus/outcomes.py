"""Wins, ties and losses of pairs in a corpus (Naous et al. 2024, Figure 5).

In a corpus many entities have no probability at all, and two of these are a tie. A strict comparison counts a tie as
not Western, the Cultural Bias Score counts it half: the share of each outcome tells them apart. A win is a score
without ties: one side's ranks are raised by half a rank, and the intervals are those of any score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.sql_file import read_sql
from polyculture.instruments.cbs.bias import Numbers
from polyculture.instruments.cbs.score_interval import ScoreEstimate, mean_score
from polyculture.instruments.cbs.uncertainty import ScoreMatrix, bias
from polyculture.instruments.corpus.layout import CORPUS, PAIR_OUTCOMES, PairOutcome
from polyculture.metrics.measured import measured

RULES = ("sum", "mean", "probability")
_OWN = Path(__file__).parent
_KEY = ("model", "dataset", "language", "culture", "entity_type", "setting", "form")


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcomes of a type's pairs."""

    western: ScoreEstimate  # ties count as native
    not_native: ScoreEstimate  # ties count as Western
    unseen: float  # share of pairs in which both have no probability, the mean over contexts
    pairs: int


def measure_outcomes(run: RunFolder) -> list[PairOutcome]:
    """Writes and returns the outcomes of all corpora of a run, per type and over types, under all rules.

    Raises `StoreError` where there is no run or the folder cannot be written.
    """
    return measured(run, compose(CORE, CORPUS), PAIR_OUTCOMES, _rows)


def outcomes(native: Numbers, western: Numbers) -> Outcomes | None:
    """The outcomes of a matrix of each side: a row a context, a column an entity, NaN where it has no likelihood.

    None where no context has entities of both sides.
    """
    ranks = np.unique(np.concatenate([native.ravel(), western.ravel()]), return_inverse=True)[1].astype(np.float64)
    ranks[np.isnan(np.concatenate([native.ravel(), western.ravel()]))] = np.nan
    own, other = ranks[: native.size].reshape(native.shape), ranks[native.size :].reshape(western.shape)
    strict, lenient = bias(ScoreMatrix(own + 0.5, other)), bias(ScoreMatrix(own - 0.5, other))
    if strict is None or lenient is None:
        return None
    pairs = (~np.isnan(native)).sum(axis=1) * (~np.isnan(western)).sum(axis=1)
    unseen = np.isneginf(native).sum(axis=1) * np.isneginf(western).sum(axis=1)
    asked = pairs > 0
    return Outcomes(strict, lenient, float((unseen[asked] / pairs[asked]).mean()), int(pairs.sum()))


def _rows(store: duckdb.DuckDBPyConnection) -> Iterator[PairOutcome]:
    over_types: dict[tuple[Any, ...], list[Outcomes]] = {}
    for names in store.execute(read_sql(_OWN, "units")).fetchall():
        unit = dict(zip(_KEY, names, strict=True))
        likelihoods = store.execute(read_sql(_OWN, "outcomes"), unit).fetchnumpy()
        for rule in RULES:
            found = outcomes(*_matrices(likelihoods, rule))
            if found is not None:
                yield _row(rule, unit, [found])
                whole = {**unit, "entity_type": None}
                over_types.setdefault((rule, *whole.values()), []).append(found)
    for (rule, *whole_unit), parts in over_types.items():
        yield _row(rule, dict(zip(_KEY, whole_unit, strict=True)), parts)


def _matrices(likelihoods: Mapping[str, Any], rule: str) -> tuple[Numbers, Numbers]:
    native = np.asarray(likelihoods["native"], bool)
    rows = np.unique(np.asarray(likelihoods["context_id"]).astype(str), return_inverse=True)[1]
    columns = np.unique(np.asarray(likelihoods["entity_id"]).astype(str), return_inverse=True)[1]
    grid = np.full((rows.max(initial=-1) + 1, columns.max(initial=-1) + 1), np.nan)
    grid[rows, columns] = np.ma.filled(likelihoods[rule], np.nan).astype(np.float64)
    is_native = np.zeros(grid.shape[1], bool)
    is_native[columns[native]] = True
    return grid[:, is_native], grid[:, ~is_native]


def _row(rule: str, unit: Mapping[str, Any], parts: Sequence[Outcomes]) -> PairOutcome:
    """A row of a type, or over types: these rest on other contexts and other entities, and count by their contexts."""
    sizes = [part.western.contexts for part in parts]
    western = mean_score([(part.western, size) for part, size in zip(parts, sizes, strict=True)])
    other = mean_score([(part.not_native, size) for part, size in zip(parts, sizes, strict=True)])
    unseen = sum(part.unseen * size for part, size in zip(parts, sizes, strict=True)) / sum(sizes)
    return PairOutcome(
        **unit,
        rule=rule,
        western_more=western.value,
        native_more=1 - other.value,
        tied=max(0.0, other.value - western.value),
        tied_unseen=unseen,
        western_low=western.low,
        western_high=western.high,
        native_low=None if other.high is None else 1 - other.high,
        native_high=None if other.low is None else 1 - other.low,
        contexts=sum(sizes),
        pairs=sum(part.pairs for part in parts),
        lacking=western.lacking or other.lacking,
    )
