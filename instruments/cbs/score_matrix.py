"""The scores of a type's entities as matrices: contexts by entities, one matrix per condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.crossed import UnitNames

WordArray = NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Genders:
    """'female', 'male', 'both', or '' without one: of each context and each entity of a matrix."""

    contexts: WordArray
    native: WordArray
    western: WordArray


@dataclass(frozen=True, slots=True)
class ScoreMatrix:
    """The likelihoods of one type's entities in the contexts of one setting: a row a context, a column an entity.

    NaN where an entity has no likelihood in a context. Ids and units may be left out where nothing is compared.
    """

    native: Floats
    western: Floats
    contexts: UnitNames | Sequence[str] = ()  # the id of each row
    context_units: UnitNames | Sequence[str] = ()  # the sheet's row of each, which translations and phrasings share
    native_ids: UnitNames | Sequence[str] = ()  # of each column
    western_ids: UnitNames | Sequence[str] = ()
    native_units: UnitNames | Sequence[str] = ()  # the English form of each, which languages share
    western_units: UnitNames | Sequence[str] = ()
    genders: Genders | None = None
    column: str | None = None  # the gender that it is confined to

    def units(self, kind: str) -> UnitNames:
        """The units of 'context', 'native' or 'western': the ids where it has none, the numbers where it has no ids."""
        ids = self.contexts if kind == "context" else getattr(self, f"{kind}_ids")
        size = self.native.shape[0] if kind == "context" else getattr(self, kind).shape[1]
        named = getattr(self, f"{kind}_units")
        return np.asarray(named if len(named) else ids if len(ids) else range(size))


class ContextCondition(NamedTuple):
    """The condition of contexts; '' without a phrasing or prefix."""

    setting: str
    phrasing: str
    context_prefix: str


def score_matrices(
    likelihoods: Mapping[str, Any], rules: Sequence[str]
) -> dict[str, dict[ContextCondition, ScoreMatrix]]:
    """Under each rule a matrix per condition from columns of scores; all have the entities in the same order.

    A rule names the column of likelihoods: 'sum', 'mean' or 'probability'.
    """
    entity, ids = pd.factorize(likelihoods["entity_id"])
    _, first_entity = np.unique(entity, return_index=True)
    units, genders = _hashes(likelihoods["entity_unit"][first_entity]), likelihoods["entity_gender"][first_entity]
    native = np.asarray(likelihoods["native"], bool)[first_entity]
    conditions = list(map(ContextCondition, *(likelihoods[name] for name in ContextCondition._fields)))
    condition, _ = pd.factorize(np.fromiter(conditions, object, len(conditions)))
    found: dict[str, dict[ContextCondition, ScoreMatrix]] = {rule: {} for rule in rules}
    for name, number in sorted(dict(zip(conditions, condition, strict=True)).items()):
        here = np.flatnonzero(condition == number)
        row, contexts = pd.factorize(likelihoods["context_id"][here])
        _, first = np.unique(row, return_index=True)
        named = here[first]
        shared = _hashes(likelihoods["context_unit"][named])
        of_both = Genders(likelihoods["context_gender"][named], genders[native], genders[~native])
        for rule in rules:
            values = np.ma.filled(likelihoods[rule], np.nan).astype(np.float64)
            grid = np.full((len(contexts), len(ids)), np.nan)
            grid[row, entity[here]] = values[here]
            found[rule][name] = ScoreMatrix(
                grid[:, native], grid[:, ~native], contexts, shared,
                ids[native], ids[~native], units[native], units[~native], of_both,
            )  # fmt: skip
    return found


def _hashes(names: Any) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Units are compared between matrices a thousand times: numbers are sorted ten times as fast as names."""
    return pd.util.hash_array(np.asarray(names, object))


def shared_part(one: ScoreMatrix, other: ScoreMatrix) -> tuple[ScoreMatrix, ScoreMatrix]:
    """Both matrices over the contexts and entities that both have, pair by pair.

    A unit that stands several times in one of them, as two spellings of a name, is kept there each time.
    """
    for kind in ("context", "native", "western"):
        one, other = _kept(one, other, kind), _kept(other, one, kind)
    return _masked(one, other), _masked(other, one)


def _kept(one: ScoreMatrix, other: ScoreMatrix, kind: str) -> ScoreMatrix:
    """The part of a matrix whose units of a kind the other has, too."""
    kept = np.isin(one.units(kind), other.units(kind))
    return one if kept.all() else part_of(one, **{kind: kept})


def _masked(one: ScoreMatrix, other: ScoreMatrix) -> ScoreMatrix:
    """A matrix without the likelihoods that the other lacks for the same context and entity."""
    native, western = (_without(one, other, kind) for kind in ("native", "western"))
    lost = np.isnan(native).sum() + np.isnan(western).sum() - np.isnan(one.native).sum() - np.isnan(one.western).sum()
    return replace(one, native=native, western=western) if lost else one


def _without(one: ScoreMatrix, other: ScoreMatrix, kind: str) -> Floats:
    rows, row_numbers = np.unique(other.units("context"), return_inverse=True)
    columns, column_numbers = np.unique(other.units(kind), return_inverse=True)
    present = np.zeros((len(rows), len(columns)), bool)
    np.logical_or.at(present, np.ix_(row_numbers, column_numbers), ~np.isnan(getattr(other, kind)))
    at = np.ix_(np.searchsorted(rows, one.units("context")), np.searchsorted(columns, one.units(kind)))
    return np.where(present[at], getattr(one, kind), np.nan)


def part_of(
    matrix: ScoreMatrix,
    context: NDArray[np.bool_] | None = None,
    native: NDArray[np.bool_] | None = None,
    western: NDArray[np.bool_] | None = None,
) -> ScoreMatrix:
    """The contexts and entities of a matrix that are chosen; None: all."""
    every = (slice(None) if context is None else context), native, western
    rows, columns = every[0], [slice(None) if kept is None else kept for kept in every[1:]]
    known = matrix.genders
    return replace(
        matrix,
        native=matrix.native[rows][:, columns[0]],
        western=matrix.western[rows][:, columns[1]],
        contexts=_chosen(matrix.contexts, context),
        context_units=_chosen(matrix.context_units, context),
        native_ids=_chosen(matrix.native_ids, native),
        native_units=_chosen(matrix.native_units, native),
        western_ids=_chosen(matrix.western_ids, western),
        western_units=_chosen(matrix.western_units, western),
        genders=None
        if known is None
        else Genders(known.contexts[rows], known.native[columns[0]], known.western[columns[1]]),
    )


def _chosen(names: UnitNames | Sequence[str], kept: NDArray[np.bool_] | None) -> UnitNames | Sequence[str]:
    return names if kept is None or not len(names) else np.asarray(names)[kept]
