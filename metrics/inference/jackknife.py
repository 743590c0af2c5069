"""The jackknife over responses: numbers of these prompts, over other samples of them.

Responses are sampled within their prompt, all else is fixed. A measure is values of cells and, per cell, by how much
its value changes without each response that matters to it: below, for shares, counts of distinct items and consensus.
A mean over cells, or a difference of two such means, is a weighted sum of values, so that a response that matters to
several cells (a neutral one in the gains of all countries, one language's in several pairs) changes all at once:

    variance = sum over prompts p of (n_p - 1) / n_p x sum over its responses of (change - mean change)^2

The degrees of freedom are Satterthwaite's (1946) over prompts.

Cells are of one model. A cell's responses name items, each once a response. Counts are taken at a number of responses
that may be less than the cell has: the exact expectation over all draws of so many (Chao et al. 2014, eq. 17), so that
cells of unequal size can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import gammaln

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
_ROUNDING = 1e-12  # a smaller change is rounding


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts that responses answer: of each response its prompt, of each prompt how many responses were read."""

    of_response: Integers  # R
    sizes: Integers  # P; responses that matter to no cell are counted, too


@dataclass(frozen=True, slots=True)
class Changes:
    """The values of C cells, and their changes without each of R responses.

    A change that all responses of a cell share does not matter, and may be left out.
    """

    values: Numbers  # C; NaN: no value
    changes: csr_array  # R x C
    told: Integers  # C: responses that say something of the value: of one or none its variance is not known
    single: NDArray[np.bool_]  # C: does a prompt of the cell have one response alone?
    rare: Numbers  # C: variance of what is too rare to have been seen (`rare_variance`)

    def at(self, columns: Integers) -> Changes:
        """Those of some cells."""
        changes = csr_array(self.changes.tocsc()[:, columns])
        return Changes(self.values[columns], changes, self.told[columns], self.single[columns], self.rare[columns])


@dataclass(frozen=True, slots=True)
class Moments:
    """G weighted sums of values, with their variances over other samples of the same prompts."""

    values: Numbers  # G
    variances: Numbers  # G
    freedom: Numbers  # G; infinite where the variance is 0
    told: Integers  # G: responses that say something of the values
    single: Numbers  # G: share of the weight of cells with a prompt of one response, of which nothing is known


def moments(found: Changes, prompts: Prompts, weights: csr_array) -> Moments:
    """The sums of values by `weights` (C x G), whose cells all have a value."""
    groups = int(weights.shape[1])
    change = (found.changes @ weights).tocoo()
    keys, key = np.unique(prompts.of_response[change.row] * groups + change.col, return_inverse=True)
    prompt, group = np.divmod(keys, groups)
    size = np.maximum(prompts.sizes[prompt], 2).astype(np.float64)
    squares, sums = np.bincount(key, change.data**2), np.bincount(key, change.data)
    parts = (size - 1) / size * (squares - sums**2 / size)
    parts[parts < _ROUNDING * squares] = 0.0
    weight = abs(weights)
    # Of a cell that one response alone tells, or none, the variance is not known: that of the others stands in.
    known = weight.multiply(weight).T @ (found.told > 1)
    scale = np.divide(weight.multiply(weight).sum(axis=0), known, out=np.ones(groups), where=known > 0)
    variances = np.bincount(group, parts, groups)
    rare = weight.multiply(weight).T @ found.rare
    by_freedom = np.bincount(group, parts**2 / (size - 1), groups)
    freedom = np.divide(variances**2, by_freedom, out=np.full(groups, np.inf), where=by_freedom > 0)
    return Moments(
        weights.T @ np.nan_to_num(found.values),
        variances * scale + rare,
        freedom,
        (weight > 0).T @ found.told,
        (weight.T @ found.single) / np.maximum(weight.sum(axis=0), _ROUNDING),
    )


@dataclass(frozen=True, slots=True)
class Incidence:
    """The items that a cell's responses name: pairs of a response and an item, each pair once."""

    responses: int  # all that were read, also those that name nothing
    response: Integers  # of each pair, by the pair's response: its place among the responses that name an item
    item: Integers  # of each pair: its place among `items`
    items: Integers  # sorted, distinct
    counts: Integers  # of each item: the responses that name it
    naming: Integers  # the responses that name an item, by their numbers

    def per_response(self, of_pairs: Numbers) -> Numbers:
        """Sums over the items of each naming response."""
        return np.bincount(self.response, of_pairs, len(self.naming)).astype(np.float64)


def incidence(responses: int, response: Integers, item: Integers) -> Incidence:
    """From all distinct pairs of a response and an item in it."""
    naming, place = np.unique(response, return_inverse=True)
    items, code, counts = np.unique(item, return_inverse=True, return_counts=True)
    return Incidence(responses, place, code, items, counts, naming)


def named_in(size: int, responses: int, counts: Integers) -> Numbers:
    """The chance that a draw of `size` out of `responses` responses names what `counts` of them name."""
    if size >= responses:
        return (counts > 0).astype(np.float64)
    rest = responses - counts
    missed = gammaln(rest + 1) + gammaln(responses - size + 1) - gammaln(np.maximum(rest - size, 0) + 1)
    return np.where(rest < size, 1.0, 1 - np.exp(missed - gammaln(responses + 1)))


def ratio(numerators: Numbers, denominators: Numbers) -> tuple[float, Numbers]:
    """sum / sum over responses, and its change without each; 0 where a response is the only one with a denominator."""
    top, bottom = float(numerators.sum()), float(denominators.sum())
    value = top / bottom
    left = bottom - denominators
    residual = numerators - value * denominators
    return value, np.divide(-residual, left, out=np.zeros(len(left)), where=left > 0)


def long_response_variance(values: Numbers, denominators: Numbers, longest: Numbers) -> Numbers:
    """The variance of a share by an exception that has not come yet: a tenth of one as long as the longest response.

    The few responses that are exceptions decide the jackknife's variance. Where responses have one mention at most this
    is 0. Among 41 worlds of cells of 20 responses a twentieth is covered in 87 % or less with it, and in 82 % or less
    without; the median is 97 % (`bench/coverage.py`).
    """
    effect = longest * np.maximum(values, 1 - values) / np.maximum(denominators + longest, 1)
    return np.asarray(np.where(longest > 1, 0.1 * effect**2, 0.0), dtype=np.float64)


def distinct(cell: Incidence, size: int) -> tuple[float, Numbers]:
    """The distinct items in `size` responses, and the changes without each naming response, less that of another."""
    value = float(named_in(size, cell.responses, cell.counts).sum())
    return value, cell.per_response(_lost(cell, size)[cell.item])


def _lost(cell: Incidence, size: int) -> Numbers:
    """Per item: how much less likely it is named once a response is left out that names it, than one that does not."""
    left = cell.responses - 1
    size = min(size, left)
    with_it = named_in(size, left, np.minimum(cell.counts, left))
    return named_in(size, left, cell.counts - 1) - with_it


def hill_1(cell: Incidence) -> tuple[float, Numbers]:
    """The exponential of Shannon's entropy of the items' shares."""
    counts = cell.counts.astype(np.float64)
    total, entropy = counts.sum(), _x_log_x(counts).sum()
    left = total - cell.per_response(np.ones(len(cell.item)))
    lost = (_x_log_x(counts) - _x_log_x(counts - 1))[cell.item]
    less = entropy - cell.per_response(lost)
    value = float(total * np.exp(-entropy / total))
    return value, np.where(left > 0, left * np.exp(-less / np.maximum(left, 1)), value) - value


def hill_2(cell: Incidence) -> tuple[float, Numbers]:
    """The inverse of Simpson's concentration."""
    counts = cell.counts.astype(np.float64)
    total, squares = counts.sum(), (counts**2).sum()
    left = total - cell.per_response(np.ones(len(cell.item)))
    less = squares - cell.per_response((2 * counts - 1)[cell.item])
    value = float(total**2 / squares)
    return value, np.where(left > 0, left**2 / np.maximum(less, 1), value) - value


def coverage(cell: Incidence) -> tuple[float, Numbers]:
    """Good and Turing's share of all mentions that fall on items seen here (Chao and Jost 2012)."""
    counts = cell.counts
    once, twice, total = float((counts == 1).sum()), float((counts == 2).sum()), float(counts.sum())
    of_item = counts[cell.item]
    ones, twos, threes = (cell.per_response((of_item == k).astype(np.float64)) for k in (1, 2, 3))
    left = total - cell.per_response(np.ones(len(cell.item)))
    value = float(_good_turing(cell.responses, np.array([once]), np.array([twice]), np.array([total]))[0])
    others = _good_turing(cell.responses - 1, np.array([once]), np.array([twice]), np.array([total]))[0]
    return value, _good_turing(cell.responses - 1, once - ones + twos, twice - twos + threes, left) - others


def dominance(cell: Incidence) -> tuple[float, Numbers]:
    """The largest share of responses that name one item."""
    most = cell.counts == cell.counts.max()
    value = float(cell.counts.max() / cell.responses)
    # Without a response that names all of the most frequent items, the largest count is one less.
    names = cell.per_response(most[cell.item].astype(np.float64)) == most.sum()
    return value, np.where(names, -1 / max(cell.responses - 1, 1), 0.0)


def _good_turing(responses: int, once: Numbers, twice: Numbers, total: Numbers) -> Numbers:
    others = (responses - 1) * np.where(twice > 0, once, np.maximum(once - 1, 0))
    kept = np.divide(others, others + 2 * np.maximum(twice, 1), out=np.zeros(len(once)), where=others > 0)
    return np.asarray(1 - np.where(once > 0, once / np.maximum(total, 1) * kept, 0.0))


def _x_log_x(counts: Numbers) -> Numbers:
    return np.asarray(counts * np.log(np.maximum(counts, 1)))


COMPANIONS: Mapping[str, Callable[[Incidence], tuple[float, Numbers]]] = {
    "hill_1": hill_1,
    "hill_2": hill_2,
    "coverage": coverage,
    "dominance": dominance,
}


def consensus(
    one: Incidence, other: Incidence, size: int | None
) -> tuple[float, Numbers, Numbers, float, float] | None:
    """The share of items that responses of both name among those that either's name.

    With `size`, the expectation for so many responses of each: a ratio of expectations. Without, of all: Jaccard's.
    Then the changes without each naming response of `one`, and of `other`, and the variance of what is too rare to
    have been seen, and how many items either names. None where neither names an item.
    """
    if not len(one.items) and not len(other.items):
        return None
    _, in_one, in_other = np.intersect1d(one.items, other.items, assume_unique=True, return_indices=True)
    sizes = tuple(min(size or cell.responses, cell.responses) for cell in (one, other))
    p, q = (named_in(at, cell.responses, cell.counts) for at, cell in zip(sizes, (one, other), strict=True))
    shared = float(p[in_one] @ q[in_other])
    either = float(p.sum() + q.sum()) - shared
    value = shared / either
    step = 0.4 * max(value, 1 - value) / (either + 1)  # what one more item changes, which is seldom missing
    return (
        value,
        _changes(one, in_one, q[in_other], float(q.sum()), sizes[0], value),
        _changes(other, in_other, p[in_one], float(p.sum()), sizes[1], value),
        sum(rare_variance(at, cell.responses, step) for at, cell in zip(sizes, (one, other), strict=True)),
        either,
    )


def _changes(cell: Incidence, own: Integers, q_of_own: Numbers, others: float, size: int, value: float) -> Numbers:
    """The changes of a consensus without each of a cell's responses, less that without one that names nothing."""
    if not len(cell.items) or cell.responses < 2:
        return np.zeros(len(cell.naming))
    left = cell.responses - 1
    at = min(size, left)
    q = np.zeros(len(cell.items))
    q[own] = q_of_own
    here = named_in(at, left, np.minimum(cell.counts, left))
    lost = _lost(cell, size)[cell.item]
    shared = float(here @ q)
    either = float(here.sum()) + others - shared
    base = shared / either if either > 0 else value
    tops = shared + cell.per_response(lost * q[cell.item])
    bottoms = either + cell.per_response(lost * (1 - q[cell.item]))
    return np.asarray(np.divide(tops, bottoms, out=np.full(len(tops), base), where=bottoms > 1e-12) - base)


def rare_variance(size: int, responses: int, effect: float = 1.0) -> float:
    """The variance of items too rare to have been seen: half an item that one response names, of this `effect`.

    Without it a cell whose items all recur, or none, would seem to have no variance.
    """
    return 0.5 * (effect * min(1.0, size / max(responses, 1))) ** 2
