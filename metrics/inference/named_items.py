"""How many different things responses name: counts of items of many cells at once, with their changes without each
response (`jackknife`).

A cell's responses name items, each once a response. An entry is an item of a cell. Counts are taken at a number of
responses that may be less than the cell has: the exact expectation over all draws of so many (Chao et al. 2014, eq.
17), so that cells of unequal size can be compared.

What leaves a cell at once is a group: a response, or several that depend on one another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array, hstack
from scipy.special import gammaln

from polyculture.metrics.declared import Statistic
from polyculture.metrics.inference.arrays import Floats, Integers
from polyculture.metrics.inference.jackknife import rare_variance

_AT_ONCE = 1_000_000  # pairs of a response and an item that consensus holds in memory
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Incidences:
    """The items that responses of C cells name: R groups of responses name any, in P pairs with an item."""

    responses: Integers  # C: all that were read, also those that name nothing
    cell: Integers  # R
    group: Integers  # P
    entry: Integers  # P
    named: Integers  # P: how many responses of the group name the item
    cell_of: Integers  # of each entry: its cell
    items: Integers  # of each entry: its item; sorted by cell, then by item
    counts: Integers  # of each entry: the responses that name it

    def per_group(self, of_pairs: Floats | Integers) -> Floats:
        """Sums over the items of each group."""
        return np.bincount(self.group, of_pairs, len(self.cell)).astype(np.float64)

    def per_cell(self, of_entries: Floats) -> Floats:
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
    def entries_of(self) -> RowsByCell:
        """The entries of each cell."""
        return RowsByCell.of(self.cell_of, len(self.responses))

    @cached_property
    def naming_of(self) -> RowsByCell:
        """The groups of each cell."""
        return RowsByCell.of(self.cell, len(self.responses))

    @cached_property
    def pairs_of(self) -> RowsByCell:
        """The pairs of each cell."""
        return RowsByCell.of(self.cell[self.group], len(self.responses))


@dataclass(frozen=True, slots=True)
class RowsByCell:
    """The rows of each cell."""

    order: Integers  # the rows, those of a cell together
    place: Integers  # of each row: its place among those of its cell
    starts: Integers  # of each cell: where its rows begin in `order`
    sizes: Integers

    @classmethod
    def of(cls, cell: Integers, cells: int) -> RowsByCell:
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


def incidences(responses: Integers, cell: Integers, group: Integers, item: Integers) -> Incidences:
    """From the group of each naming response and item, once for each pair of these; `cell` is that of each group."""
    items, code = np.unique(item, return_inverse=True)
    keys, entry, counts = np.unique(cell[group] * len(items) + code, return_inverse=True, return_counts=True)
    cell_of, at = np.divmod(keys, max(len(items), 1))
    pairs, named = np.unique(group * len(keys) + entry, return_counts=True)
    group, entry = np.divmod(pairs, max(len(keys), 1))
    return Incidences(responses, cell, group, entry, named, cell_of, items[at], counts)


def named_in(size: Integers | int, responses: Integers | int, counts: Integers) -> Floats:
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


def items_in(cells: Incidences, sizes: Integers) -> Floats:
    """The distinct items in so many responses of each cell (C)."""
    return cells.per_cell(named_in(sizes[cells.cell_of], cells.responses[cells.cell_of], cells.counts))


def coverage_in(cells: Incidences, sizes: Integers) -> Floats:
    """The share of all mentions that fall on items of so many responses, fewer than each cell has (C): NaN where it
    names nothing (Chao and Jost 2012)."""
    others, counts = cells.responses[cells.cell_of] - 1, cells.counts
    # A mention is not covered where none of those drawn from the other responses names its item.
    uncovered = cells.per_cell(counts * (1 - named_in(sizes[cells.cell_of], others, counts - 1)))
    total = cells.per_cell(counts.astype(np.float64))
    share = np.divide(uncovered, total, out=np.full(len(total), np.nan), where=total > 0)
    return np.asarray(np.maximum(0, 1 - share))


def distinct(cells: Incidences, sizes: Integers) -> tuple[Floats, Floats]:
    """The distinct items in so many responses of each cell (C), and the changes without each group (R), less that
    without one that names nothing."""
    at, responses = sizes[cells.cell_of], cells.responses[cells.cell_of]
    entry = cells.entry
    return items_in(cells, sizes), cells.per_group(_lost(at[entry], responses[entry], cells.counts[entry], cells.named))


def _with_one_less(size: Integers, responses: Integers, counts: Integers) -> Floats:
    """How likely something is named without a response that does not name it."""
    return named_in(np.minimum(size, responses - 1), responses - 1, np.minimum(counts, responses - 1))


def _lost(size: Integers, responses: Integers, counts: Integers, named: Integers) -> Floats:
    """How much less likely something is named once a group is left out of which `named` responses name it, than without
    one that names nothing."""
    left = responses - 1
    without = named_in(np.minimum(size, left), left, counts - named)
    return np.asarray(without - _with_one_less(size, responses, counts))


def hill_1(cells: Incidences) -> tuple[Floats, Floats]:
    """The exponential of Shannon's entropy of the items' shares."""
    counts = cells.counts.astype(np.float64)
    total, entropy = cells.per_cell(counts), cells.per_cell(_x_log_x(counts))
    left, of_item = total[cells.cell] - cells.per_group(cells.named), counts[cells.entry]
    less = entropy[cells.cell] - cells.per_group(_x_log_x(of_item) - _x_log_x(of_item - cells.named))
    values = total * np.exp(-entropy / np.maximum(total, 1))
    before = values[cells.cell]
    return values, np.where(left > 0, left * np.exp(-less / np.maximum(left, 1)), before) - before


def hill_2(cells: Incidences) -> tuple[Floats, Floats]:
    """The inverse of Simpson's concentration."""
    counts = cells.counts.astype(np.float64)
    total, squares = cells.per_cell(counts), cells.per_cell(counts**2)
    left, of_item = total[cells.cell] - cells.per_group(cells.named), counts[cells.entry]
    less = squares[cells.cell] - cells.per_group(of_item**2 - (of_item - cells.named) ** 2)
    values = total**2 / np.maximum(squares, 1)
    before = values[cells.cell]
    return values, np.where(left > 0, left**2 / np.maximum(less, 1), before) - before


def coverage(cells: Incidences) -> tuple[Floats, Floats]:
    """Good and Turing's share of all mentions that fall on items seen here (Chao and Jost 2012)."""
    counts = cells.counts
    once, twice = (cells.per_cell((counts == k).astype(np.float64)) for k in (1, 2))
    total = cells.per_cell(counts.astype(np.float64))
    of_item = counts[cells.entry]
    more_once, more_twice = (
        cells.per_group((of_item - cells.named == k).astype(np.float64) - (of_item == k)) for k in (1, 2)
    )
    left = total[cells.cell] - cells.per_group(cells.named)
    others = _good_turing(cells.responses - 1, once, twice, total)[cells.cell]
    fewer = (cells.responses - 1)[cells.cell]
    without = _good_turing(fewer, once[cells.cell] + more_once, twice[cells.cell] + more_twice, left)
    return _good_turing(cells.responses, once, twice, total), without - others


def largest_share(cells: Incidences) -> tuple[Floats, Floats]:
    """The largest share of responses that name one item."""
    largest = np.zeros(len(cells.responses), dtype=np.int64)
    np.maximum.at(largest, cells.cell_of, cells.counts)
    # The largest count is one less without a group that takes all items below it, another one less if it takes all
    # below that, and so on.
    less, of_item = np.zeros(len(cells.cell)), cells.counts[cells.entry]
    for fall in range(int(cells.named.max(initial=0))):
        level = largest - fall
        reaching = cells.per_cell((cells.counts >= level[cells.cell_of]).astype(np.float64))[cells.cell]
        own = level[cells.cell[cells.group]]
        taken = cells.per_group(((of_item >= own) & (of_item - cells.named < own)).astype(np.float64))
        less += (less == fall) & (taken == reaching) & (reaching > 0)
    values = largest / np.maximum(cells.responses, 1)
    return values, -less / np.maximum(cells.responses - 1, 1)[cells.cell]


def _good_turing(responses: Integers, once: Floats, twice: Floats, total: Floats) -> Floats:
    others = (responses - 1) * np.where(twice > 0, once, np.maximum(once - 1, 0))
    kept = np.divide(others, others + 2 * np.maximum(twice, 1), out=np.zeros(len(once)), where=others > 0)
    return np.asarray(1 - np.where(once > 0, once / np.maximum(total, 1) * kept, 0.0))


def _x_log_x(counts: Floats) -> Floats:
    return np.asarray(counts * np.log(np.maximum(counts, 1)))


# Each gives values (C), which mean nothing for a cell without an item, and changes (R).
OF_COUNTS: Mapping[Statistic, Callable[[Incidences], tuple[Floats, Floats]]] = {
    Statistic.HILL_1: hill_1,
    Statistic.HILL_2: hill_2,
    Statistic.COVERAGE: coverage,
    Statistic.LARGEST_SHARE: largest_share,
}


@dataclass(frozen=True, slots=True)
class PairConsensus:
    """The consensus of K pairs of cells; NaN where neither names an item."""

    values: Floats  # K
    changes: csr_array  # R x K: without each group, less that without one that names nothing
    rare: Floats  # K: the variance of what is too rare to have been seen
    either: Floats  # K: how many items either names


def consensus(cells: Incidences, pairs: Integers, sizes: Integers) -> PairConsensus:
    """The share of items that responses of both cells of a pair (K x 2) name among those that either's name.

    Of all responses: Jaccard's. At fewer (`sizes`, K): the expectation for so many responses of each, a ratio of
    expectations.
    """
    work = np.maximum(cells.pairs_of.sizes[pairs].sum(axis=1), 1)
    ends = np.flatnonzero(np.diff(np.cumsum(work) // _AT_ONCE)) + 1
    found = [_agreement(cells, *part) for part in zip(np.split(pairs, ends), np.split(sizes, ends), strict=True)]
    return PairConsensus(
        np.concatenate([one.values for one in found]),
        csr_array(hstack([one.changes for one in found])),
        np.concatenate([one.rare for one in found]),
        np.concatenate([one.either for one in found]),
    )


def _agreement(cells: Incidences, pairs: Integers, sizes: Integers) -> PairConsensus:
    sides = [_PairSide.of(cells, pairs[:, one], pairs[:, 1 - one], sizes) for one in (0, 1)]
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
    return PairConsensus(values, matrix, rare[0] + rare[1], either)


@dataclass(frozen=True, slots=True)
class _PairSide:
    """One cell of each of K pairs. The entries of all of them stand one after the other."""

    cells: Incidences
    cell: Integers  # K
    sizes: Integers  # K: at how many of its responses
    entry: Integers
    pair: Integers  # of each entry
    begins: Integers  # K: of the first entry of each pair
    named: Floats  # of each entry: the chance that it is named
    other: Floats  # of each entry: the same of this item in the other cell

    @classmethod
    def of(cls, cells: Incidences, cell: Integers, other: Integers, sizes: Integers) -> _PairSide:
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

    def per_pair(self, of_entries: Floats) -> Floats:
        """Sums over the entries of each pair."""
        return np.bincount(self.pair, of_entries, len(self.cell)).astype(np.float64)

    def changes(self, values: Floats, others: Floats) -> tuple[Integers, Integers, Floats]:
        """Without each group of this side: its number, its pair, and the change of the pair's value. `others` is how
        many items the other side names."""
        cells, responses = self.cells, self.cells.responses[self.cell]
        here = _with_one_less(self.sizes[self.pair], responses[self.pair], cells.counts[self.entry])
        shared = self.per_pair(here * self.other)
        either = self.per_pair(here) + others - shared
        base = np.divide(shared, either, out=np.nan_to_num(values), where=either > 0)
        naming, of, starts = cells.naming_of.each(self.cell)
        pairs, pair_of, _ = cells.pairs_of.each(self.cell)
        # Of each pair of a group and an item: its place among the entries, and among the groups, of all sides.
        entry = self.begins[pair_of] + cells.entries_of.place[cells.entry[pairs]]
        group = starts[pair_of] + cells.naming_of.place[cells.group[pairs]]
        counts = cells.counts[self.entry[entry]]
        lost, other = _lost(self.sizes[pair_of], responses[pair_of], counts, cells.named[pairs]), self.other[entry]
        tops = shared[of] + np.bincount(group, lost * other, len(naming))
        bottoms = either[of] + np.bincount(group, lost * (1 - other), len(naming))
        without = np.divide(tops, bottoms, out=base[of], where=bottoms > _ROUNDING)
        return naming, of, np.where(responses[of] > 1, without - base[of], 0.0)
