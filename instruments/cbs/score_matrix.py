"""The scores of a type's entities as matrices: contexts by entities, one matrix per condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from polyculture.instruments.cbs.uncertainty import Genders, ScoreMatrix

_WORDS = ("context_id", "context_unit", "entity_id", "entity_unit", "context_gender", "entity_gender")


class ContextCondition(NamedTuple):
    """The condition of contexts; '' without a phrasing or prefix."""

    setting: str
    phrasing: str
    context_prefix: str


def score_matrices(likelihoods: Mapping[str, Any], rule: str) -> dict[ContextCondition, ScoreMatrix]:
    """A matrix per condition from columns of scores; all have the entities in the same order.

    `rule` names the column of likelihoods: 'sum', 'mean', 'probability' or 'calibrated'. None where no entity has one.
    """
    values = np.ma.filled(likelihoods[rule], np.nan).astype(np.float64)
    if np.isnan(values).all():  # no entity was asked after nothing
        return {}
    native = np.asarray(likelihoods["native"], bool)
    words = {name: _words(likelihoods[name]) for name in (*ContextCondition._fields, *_WORDS)}
    ids, first_entity, entity = np.unique(words["entity_id"], return_index=True, return_inverse=True)
    genders, units = (words[name][first_entity] for name in ("entity_gender", "entity_unit"))
    is_native = np.zeros(entity.max(initial=-1) + 1, bool)
    is_native[entity[native]] = True
    native_ids, western_ids, native_units, western_units = (
        tuple(names[side].tolist()) for names in (ids, units) for side in (is_native, ~is_native)
    )
    conditions = list(zip(*(words[name].tolist() for name in ContextCondition._fields), strict=True))
    found = {}
    for condition in sorted(set(conditions)):
        here = np.logical_and.reduce(
            [words[name] == word for name, word in zip(ContextCondition._fields, condition, strict=True)]
        )
        contexts, first, row = np.unique(words["context_id"][here], return_index=True, return_inverse=True)
        grid = np.full((len(contexts), len(is_native)), np.nan)
        grid[row, entity[here]] = values[here]
        shared, of_contexts = words["context_unit"][here][first], words["context_gender"][here][first]
        found[ContextCondition(*condition)] = ScoreMatrix(
            grid[:, is_native], grid[:, ~is_native], tuple(contexts.tolist()), tuple(shared.tolist()),
            native_ids, western_ids, native_units, western_units,
            genders=Genders(of_contexts, genders[is_native], genders[~is_native]),
        )  # fmt: skip
    return found


def _words(column: Any) -> np.ndarray[Any, np.dtype[np.str_]]:
    return np.asarray(column).astype(str)
