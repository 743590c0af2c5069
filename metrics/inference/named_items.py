"""How many different things responses name: counts of items of many cells at once, with their changes without each
response (`jackknife`).

A cell's responses name items, each once a response. An entry is an item of a cell. Counts are taken at a number of
responses that may be less than the cell has: the exact expectation over all draws of so many (Chao et al. 2014, eq.
17), so that cells of unequal size can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array, hstack
from scipy.special import gammaln

from polyculture.metrics.inference.jackknife import Integers, Numbers, rare_variance

_AT_ONCE = 1_000_000  # pairs of a response and an item that consensus holds in memory
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Incidences:
    """The items that responses of C cells name: R responses name any, in P pairs with an item, each pair once."""

    responses: Integers  # C: all that were read, also those that name nothing
    cell: Integers  # R
    response: Integers  # P
    entry: Integers  # P
    cell_of: Integers  # of each entry: its cell
    items: Integers  # of each entry: its item; sorted by cell, then by item
    counts: Integers  # of each entry: the responses that name it

    def per_response(self, of_pairs: Numbers) -> Numbers:
        """Sums over the items of each naming response."""
        return np.bincount(self.response, of_pairs, len(self.cell)).astype(np.float64)

    def per_cell(self, of_entries: Numbers) -> Numbers:
        """Sums over the items of each cell."""
        return np.bincount(self.cell_of, of_entries, len(self.responses)).astype(np.float64)

    @cached_property
    def distinct_items(self) -> Integers:
        """C: how many items each cell has."""
        return np.bincount(self.cell_of, minlength=len(self.responses))

    @cached_property
    def keys(self) -> Integers:
        """Of each entry: a number for its cell and item, sorted; `codes` has the item's part."""
        return self.cell_of * len(self.codes) + self.codes

    @cached_property
    def codes(self) -> Integers:
        """Of each entry: a number for its item."""
        return np.unique(self.items, return_inverse=True)[1]

    @cached_property
    def entries_of(self) -> Rows:
        """The entries of each cell."""
        return Rows.of(self.cell_of, len(self.responses))

    @cached_property
    def naming_of(self) -> Rows:
        """The naming responses of each cell."""
        return Rows.of(self.cell, len(self.responses))

    @cached_property
    def pairs_of(self) -> Rows:
        """The pairs of each cell."""
        return Rows.of(self.cell[self.response], len(self.responses))


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of each cell."""

    order: Integers  # the rows, those of a cell together
    place: Integers  # of each row: its place among those of its cell
    starts: Integers  # of each cell: where its rows begin in `order`
    sizes: Integers

    @classmethod
    def of(cls, cell: Integers, cells: int) -> Rows:
        """From the cell of each row."""
        order, sizes = np.argsort(cell, kind="stable"), np.bincount(cell, minlength=cells)
        starts = np.cumsum(sizes) - sizes
        place = np.empty(len(cell), dtype=np.int64)
        place[order] = np.arange(len(cell)) - starts[cell[order]]
        return cls(order, place, starts, sizes)

    def each(self, cells: Integers) -> tuple[Integers, Integers, Integers]:
        """All rows of some cells, which may come twice: the rows, the place of each one's cell in `cells`, and where
        those of each begin."""
        sizes = self.sizes[cells]
        of = np.repeat(np.arange(len(cells)), sizes)
        begins = np.cumsum(sizes) - sizes
        return self.order[np.arange(len(of)) - begins[of] + self.starts[cells][of]], of, begins


def incidences(responses: Integers, cell: Integers, response: Integers, item: Integers) -> Incidences:
    """From all distinct pairs of a response and an item in it; `cell` is that of each response."""
    items, code = np.unique(item, return_inverse=True)
    keys, entry, counts = np.unique(cell[response] * len(items) + code, return_inverse=True, return_counts=True)
    cell_of, at = np.divmod(keys, max(len(items), 1))
    return Incidences(responses, cell, response, entry, cell_of, items[at], counts)


def named_in(size: Integers | int, responses: Integers | int, counts: Integers) -> Numbers:
    """The chance that a draw of `size` out of `responses` responses names what `counts` of them name."""
    named = (counts > 0).astype(np.float64)
    some = np.broadcast_to(np.less(size, responses), counts.shape)
    if not some.any():
        return named
    of, at, seen = (np.broadcast_to(one, counts.shape)[some] for one in (responses, size, counts))
    rest = of - seen
    missed = gammaln(rest + 1) + gammaln(of - at + 1) - gammaln(np.maximum(rest - at, 0) + 1)
    named[some] = np.where(rest < at, 1.0, 1 - np.exp(missed - gammaln(of + 1)))
    return named


def distinct(cells: Incidences, sizes: Integers) -> tuple[Numbers, Numbers]:
    """The distinct items in so many responses of each cell (C), and the changes without each naming response (R), less
    that without one that names nothing."""
    at = sizes[cells.cell_of]
    values = cells.per_cell(named_in(at, cells.responses[cells.cell_of], cells.counts))
    lost, _ = _lost(at, cells.responses[cells.cell_of], cells.counts)
    return values, cells.per_response(lost[cells.entry])


def _lost(size: Integers, responses: Integers, counts: Integers) -> tuple[Numbers, Numbers]:
    """How much less likely something is named once a response is left out that names it, than one that does not; and
    how likely it is in the second case."""
    left = responses - 1
    size = np.minimum(size, left)
    with_it = named_in(size, left, np.minimum(counts, left))
    return named_in(size, left, counts - 1) - with_it, with_it


def hill_1(cells: Incidences) -> tuple[Numbers, Numbers]:
    """The exponential of Shannon's entropy of the items' shares."""
    counts = cells.counts.astype(np.float64)
    total, entropy = cells.per_cell(counts), cells.per_cell(_x_log_x(counts))
    left = total[cells.cell] - cells.per_response(np.ones(len(cells.entry)))
    less = entropy[cells.cell] - cells.per_response((_x_log_x(counts) - _x_log_x(counts - 1))[cells.entry])
    values = total * np.exp(-entropy / np.maximum(total, 1))
    before = values[cells.cell]
    return values, np.where(left > 0, left * np.exp(-less / np.maximum(left, 1)), before) - before


def hill_2(cells: Incidences) -> tuple[Numbers, Numbers]:
    """The inverse of Simpson's concentration."""
    counts = cells.counts.astype(np.float64)
    total, squares = cells.per_cell(counts), cells.per_cell(counts**2)
    left = total[cells.cell] - cells.per_response(np.ones(len(cells.entry)))
    less = squares[cells.cell] - cells.per_response((2 * counts - 1)[cells.entry])
    values = total**2 / np.maximum(squares, 1)
    before = values[cells.cell]
    return values, np.where(left > 0, left**2 / np.maximum(less, 1), before) - before


def coverage(cells: Incidences) -> tuple[Numbers, Numbers]:
    """Good and Turing's share of all mentions that fall on items seen here (Chao and Jost 2012)."""
    counts = cells.counts
    once, twice = (cells.per_cell((counts == k).astype(np.float64)) for k in (1, 2))
    total = cells.per_cell(counts.astype(np.float64))
    of_item = counts[cells.entry]
    ones, twos, threes = (cells.per_response((of_item == k).astype(np.float64)) for k in (1, 2, 3))
    left = total[cells.cell] - cells.per_response(np.ones(len(cells.entry)))
    others = _good_turing(cells.responses - 1, once, twice, total)[cells.cell]
    fewer = (cells.responses - 1)[cells.cell]
    without = _good_turing(fewer, once[cells.cell] - ones + twos, twice[cells.cell] - twos + threes, left)
    return _good_turing(cells.responses, once, twice, total), without - others


def dominance(cells: Incidences) -> tuple[Numbers, Numbers]:
    """The largest share of responses that name one item."""
    largest = np.zeros(len(cells.responses), dtype=np.int64)
    np.maximum.at(largest, cells.cell_of, cells.counts)
    most = (cells.counts == largest[cells.cell_of]).astype(np.float64)
    # Without a response that names all of the most frequent items, the largest count is one less.
    names_all = cells.per_response(most[cells.entry]) == cells.per_cell(most)[cells.cell]
    values = largest / np.maximum(cells.responses, 1)
    return values, np.where(names_all, -1 / np.maximum(cells.responses - 1, 1)[cells.cell], 0.0)


def _good_turing(responses: Integers, once: Numbers, twice: Numbers, total: Numbers) -> Numbers:
    others = (responses - 1) * np.where(twice > 0, once, np.maximum(once - 1, 0))
    kept = np.divide(others, others + 2 * np.maximum(twice, 1), out=np.zeros(len(once)), where=others > 0)
    return np.asarray(1 - np.where(once > 0, once / np.maximum(total, 1) * kept, 0.0))


def _x_log_x(counts: Numbers) -> Numbers:
    return np.asarray(counts * np.log(np.maximum(counts, 1)))


# Each gives values (C), which mean nothing for a cell without an item, and changes (R).
COMPANIONS: Mapping[str, Callable[[Incidences], tuple[Numbers, Numbers]]] = {
    "hill_1": hill_1,
    "hill_2": hill_2,
    "coverage": coverage,
    "dominance": dominance,
}


@dataclass(frozen=True, slots=True)
class Agreement:
    """The consensus of K pairs of cells; NaN where neither names an item."""

    values: Numbers  # K
    changes: csr_array  # R x K: without each naming response, less that without one that names nothing
    rare: Numbers  # K: the variance of what is too rare to have been seen
    either: Numbers  # K: how many items either names


def consensus(cells: Incidences, pairs: Integers, sizes: Integers) -> Agreement:
    """The share of items that responses of both cells of a pair (K x 2) name among those that either's name.

    Of all responses: Jaccard's. At fewer (`sizes`, K): the expectation for so many responses of each, a ratio of
    expectations.
    """
    work = np.maximum(cells.pairs_of.sizes[pairs].sum(axis=1), 1)
    ends = np.flatnonzero(np.diff(np.cumsum(work) // _AT_ONCE)) + 1
    found = [_agreement(cells, *part) for part in zip(np.split(pairs, ends), np.split(sizes, ends), strict=True)]
    return Agreement(
        np.concatenate([one.values for one in found]),
        csr_array(hstack([one.changes for one in found])),
        np.concatenate([one.rare for one in found]),
        np.concatenate([one.either for one in found]),
    )


def _agreement(cells: Incidences, pairs: Integers, sizes: Integers) -> Agreement:
    sides = [_Side.of(cells, pairs[:, one], pairs[:, 1 - one], sizes) for one in (0, 1)]
    totals = [side.per_pair(side.named) for side in sides]
    shared = sides[0].per_pair(sides[0].named * sides[0].other)
    either = totals[0] + totals[1] - shared
    values = np.divide(shared, either, out=np.full(len(pairs), np.nan), where=either > 0)
    # What one more item changes, which is seldom missing.
    step = 0.4 * np.maximum(values, 1 - values) / (either + 1)
    changes = [side.changes(values, others) for side, others in zip(sides, reversed(totals), strict=True)]
    rows, columns, data = (np.concatenate(parts) for parts in zip(*changes, strict=True))
    matrix = csr_array(coo_array((data, (rows, columns)), shape=(len(cells.cell), len(pairs))))
    rare = [rare_variance(side.sizes, cells.responses[side.cell], step) for side in sides]
    return Agreement(values, matrix, rare[0] + rare[1], either)


@dataclass(frozen=True, slots=True)
class _Side:
    """One cell of each of K pairs. The entries of all of them stand one after the other."""

    cells: Incidences
    cell: Integers  # K
    sizes: Integers  # K: at how many of its responses
    entry: Integers
    pair: Integers  # of each entry
    begins: Integers  # K: of the first entry of each pair
    named: Numbers  # of each entry: the chance that it is named
    other: Numbers  # of each entry: the same of this item in the other cell

    @classmethod
    def of(cls, cells: Incidences, cell: Integers, other: Integers, sizes: Integers) -> _Side:
        """The cells of one side, where `other` are those of the other side."""
        entry, pair, begins = cells.entries_of.each(cell)
        own = np.minimum(sizes, cells.responses[cell])
        named = named_in(own[pair], cells.responses[cell][pair], cells.counts[entry])
        wanted = other[pair] * len(cells.codes) + cells.codes[entry]
        at = np.minimum(np.searchsorted(cells.keys, wanted), len(cells.keys) - 1)
        there = cells.keys[at] == wanted
        theirs = np.minimum(sizes, cells.responses[other])
        in_other = np.zeros(len(entry))
        in_other[there] = named_in(theirs[pair[there]], cells.responses[other][pair[there]], cells.counts[at[there]])
        return cls(cells, cell, own, entry, pair, begins, named, in_other)

    def per_pair(self, of_entries: Numbers) -> Numbers:
        """Sums over the entries of each pair."""
        return np.bincount(self.pair, of_entries, len(self.cell)).astype(np.float64)

    def changes(self, values: Numbers, others: Numbers) -> tuple[Integers, Integers, Numbers]:
        """Without each response of this side: its number, its pair, and the change of the pair's value. `others` is how
        many items the other side names."""
        cells, responses = self.cells, self.cells.responses[self.cell]
        lost, here = _lost(self.sizes[self.pair], responses[self.pair], cells.counts[self.entry])
        shared = self.per_pair(here * self.other)
        either = self.per_pair(here) + others - shared
        base = np.divide(shared, either, out=np.nan_to_num(values), where=either > 0)
        naming, of, starts = cells.naming_of.each(self.cell)
        pairs, pair_of, _ = cells.pairs_of.each(self.cell)
        # Of each pair of a response and an item: its place among the entries, and among the responses, of all sides.
        entry = self.begins[pair_of] + cells.entries_of.place[cells.entry[pairs]]
        response = starts[pair_of] + cells.naming_of.place[cells.response[pairs]]
        lost_shared, lost_alone = lost * self.other, lost * (1 - self.other)
        tops = shared[of] + np.bincount(response, lost_shared[entry], len(naming))
        bottoms = either[of] + np.bincount(response, lost_alone[entry], len(naming))
        without = np.divide(tops, bottoms, out=base[of], where=bottoms > _ROUNDING)
        return naming, of, np.where(responses[of] > 1, without - base[of], 0.0)
