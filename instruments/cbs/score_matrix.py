"""The scores of a type's entities as matrices: contexts by entities, one matrix per condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from polyculture.instruments.cbs.uncertainty import Genders, ScoreMatrix


class ContextCondition(NamedTuple):
    """The condition of contexts; '' without a phrasing or prefix."""

    setting: str
    phrasing: str
    context_prefix: str


def score_matrices(
    likelihoods: Mapping[str, Any], rules: Sequence[str]
) -> dict[str, dict[ContextCondition, ScoreMatrix]]:
    """Under each rule a matrix per condition from columns of scores; all have the entities in the same order.

    A rule names the column of likelihoods: 'sum', 'mean', 'probability' or 'calibrated'. Without any, no matrix.
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
            if np.isnan(values).all():  # no entity was asked after nothing
                continue
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
