"""All numbers of texts: those of the cells of each model (`cell_changes`), and their means at each level.

A mean is macro: each cell with a number has the same weight, cells without one are left out and counted (`missing`).
What a mean rests on, responses and linked items in them, counts once, in however many of its numbers they are.

Two intervals stand beside a mean: of new samples of the same prompts (`inference.jackknife`), and of other prompts like
these (`inference.prompts`).

Models were not asked the same cells, or have no number in the same ones: a topic that one was not asked, a wording of
which nothing came, a run that is not finished. Their means over all their own cells differ by the cells alone. So a
metric in which models lack different cells has further means, at the levels 'model, shared' and so on.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from polyculture.cache.store.schema.measured import CELL, EVERY, WITHOUT, Number
from polyculture.metrics import MEASURE
from polyculture.metrics.cell_changes import ALL_RESPONSES, NEUTRAL, CellMetrics, cells_behind
from polyculture.metrics.declared import (
    COMPARED,
    DECLARED,
    METRICS,
    RANGES,
    Metric,
    Statistic,
    is_overlap,
    is_per_country,
    is_share,
)
from polyculture.metrics.inference.jackknife import Moments, moments
from polyculture.metrics.inference.limits import Estimate
from polyculture.metrics.inference.prompts import prompt_mean
from polyculture.metrics.responses import (
    OF_LANGUAGE,
    DataSlice,
    Level,
    ResponseReader,
    kept,
    level_name,
    levels_of,
)

NO_RESPONSE, NO_ITEM, ONE_RESPONSE, NOT_LINKED = "no response read", "no linked item", "one response", "not linked yet"
NO_CELL, TOO_FEW_IN_COMMON = "no cell has a number", "too few in common"
SAME_TEXTS, DETERMINISTIC = "models with the same texts", "deterministic sampling"
FEW_RESPONSES, ONE_A_PROMPT, FEW_A_PROMPT, ONE_PROMPT = (
    *("few responses", "one response a prompt", "few responses a prompt", "one prompt"),
)
FEWEST_RESPONSES = 10  # that a number must rest on, for an interval
# The highest share of a mean's weight in cells of whose variance nothing is known: a prompt has one response alone.
MOST_UNKNOWN = 0.05
_METHODS = {True: "jackknife over responses; Wilson's interval", False: "jackknife over responses; Student's interval"}

SHARED = "shared"
LEAST = 0.5  # of a group's cells that a model must have, to be compared: one that has few would leave few to all
_LEVELS: tuple[Level, ...] = ((), ("language",))
LevelSlice = tuple[Level, DataSlice]


class Value(NamedTuple):
    """A number of a cell, or of a pair of cells; None is a missing one."""

    place: DataSlice
    estimate: float | None


@dataclass(frozen=True)
class CellSizes:
    """What the numbers of cells rest on: responses that the extractor read whole, and linked items in them."""

    of_cell: Mapping[DataSlice, tuple[int, int]]
    deterministic: bool = False  # nothing was sampled
    uncovered: frozenset[tuple[str, str]] = frozenset()  # topics and countries of which the snapshot holds no item

    def units(self, cells: Iterable[DataSlice]) -> tuple[int, int]:
        """Those of several cells together."""
        sizes = [self.of_cell[cell] for cell in cells]
        return sum(responses for responses, _ in sizes), sum(items for _, items in sizes)

    def behind(self, metric: str, place: DataSlice) -> set[DataSlice]:
        """The cells behind a number, of those that there are."""
        return self.of_cell.keys() & cells_behind(metric, place)

    def holds_none(self, metric: str, place: DataSlice) -> str | None:
        """The reason why a share of a country is no number whatever the responses say; None where it may be one."""
        of_country = is_per_country(metric) and (place.topic, place.country) in self.uncovered
        return f"snapshot holds no item of {place.country}" if of_country else None

    def why_missing(self, cells: Iterable[DataSlice]) -> str:
        """The reason why cells have no number."""
        sizes = [self.of_cell[cell] for cell in cells]
        if any(not responses for responses, _ in sizes):
            return NO_RESPONSE
        if any(not items for _, items in sizes):
            return NO_ITEM
        return ONE_RESPONSE if any(responses == 1 for responses, _ in sizes) else NOT_LINKED


def all_numbers(
    reader: ResponseReader, of_models: Mapping[str, CellMetrics], deterministic: bool, inputs: str
) -> Iterator[Number]:
    """The numbers of each model's cells, and the means over them; `inputs` is the hash of the data."""
    responses = [cell.responses for cell in reader.cells if cell.known]
    rarefied = {cell.place: min(responses, default=0) for cell in reader.cells}
    values = {model: cell_values(cells, reader.asked_countries(model), rarefied) for model, cells in of_models.items()}
    shared = shared_cells(values)
    for model, cells in of_models.items():
        answers = cells.answers
        counts = zip(answers.cells, answers.sizes.tolist(), answers.named.tolist(), strict=True)
        sizes = CellSizes({cell.place: (read, items) for cell, read, items in counts}, deterministic, reader.uncovered)
        yield from model_numbers(values[model], sizes, cells, rarefied, shared, inputs)


def cell_values(
    cells: CellMetrics, asked_countries: Sequence[DataSlice], rarefied: Mapping[DataSlice, int]
) -> dict[str, list[Value]]:
    """The values of a model's cells by metric, a missing one wherever a cell was asked and has none.

    `asked_countries` are all cells with each country that they are held against, `rarefied` the responses at which each
    cell's rarefied count is taken.
    """
    found = {}
    for metric in DECLARED:
        table = cells.table(metric.name, sizes_of(metric, rarefied))
        values = dict(zip(table.places, table.found.values.tolist(), strict=True))
        places: Iterable[DataSlice] = table.places
        if metric.per_country:
            gain, countries = metric.statistic is Statistic.GAIN, cells.answers.countries
            places = [p for p in asked_countries if p.condition != NEUTRAL or (not gain and p.country in countries)]
        values = {place: values.get(place, math.nan) for place in places}
        found[metric.name] = [Value(place, None if math.isnan(one) else one) for place, one in values.items()]
    return found


def sizes_of(metric: Metric, rarefied: Mapping[DataSlice, int]) -> Mapping[DataSlice, int]:
    """The responses that a metric is taken at, where that is not all of them."""
    return rarefied if metric.statistic is Statistic.RAREFIED else ALL_RESPONSES


def model_numbers(
    values: Mapping[str, Sequence[Value]],
    sizes: CellSizes,
    cells: CellMetrics,
    rarefied: Mapping[DataSlice, int],
    shared: Mapping[str, SharedCells],
    inputs: str,
) -> Iterator[Number]:
    """The numbers of a model's cells, then the means over them; `values` and `sizes` are all of the model's.

    `rarefied` are the responses at which each cell's rarefied count is taken. `shared` are the cells that all models
    have, by metric, where some lack any.
    """
    for metric, rows in values.items():
        table = cells.table(metric, sizes_of(METRICS[metric], rarefied))
        column = {place: at for at, place in enumerate(table.places)}
        behind = [sizes.behind(metric, value.place) for value in rows]
        groups = {(None, row.place): [at] for at, row in enumerate(rows)} | _groups(metric, rows)
        if metric in shared:
            groups |= _shared_groups(metric, rows, shared[metric])
        weights = _weights(groups.values(), rows, column, len(table.places))
        found = moments(table.found, cells.answers.prompts, weights)
        for number, (key, members) in enumerate(groups.items()):
            own = [rows[at] for at in members]
            under = set().union(*(behind[at] for at in members))
            row = _number(metric, key, own, under, found, number, sizes, inputs)
            yield _beside_others(row, key, shared[metric]) if key[0] and SHARED in key[0] else row


_LevelSlice = tuple[Level | None, DataSlice]  # the level and what it keeps; None: a cell


def _groups(metric: str, rows: Sequence[Value]) -> dict[_LevelSlice, list[int]]:
    """The values behind each mean. The consensus of a language is over the pairs in which it is either one."""
    groups: dict[_LevelSlice, list[int]] = defaultdict(list)
    for at, value in enumerate(rows):
        place = value.place
        for level in levels_of(metric):
            groups[level, kept(place, level)].append(at)
        if is_overlap(metric):
            for language in (place.language, place.other_language):
                for level in OF_LANGUAGE:
                    groups[level, kept(place._replace(language=language), level)].append(at)
    return groups


def _shared_groups(metric: str, rows: Sequence[Value], shared: SharedCells) -> dict[_LevelSlice, list[int]]:
    """The values behind each mean over the cells that all models have; none where this model has too few."""
    groups: dict[_LevelSlice, list[int]] = defaultdict(list)
    for at, value in enumerate(rows):
        every = value.place._replace(model=EVERY)
        for level, place in groups_of(metric, every):
            own = groups[(*level, SHARED), place._replace(model=value.place.model)]
            if ((level, place), every) in shared.shared and value.place.model in shared.compared[level, place]:
                own.append(at)
    return groups


def _beside_others(row: Number, key: _LevelSlice, shared: SharedCells) -> Number:
    """A mean over shared cells, with what is missing among the cells of all models."""
    level, place = key
    group = ((level or ())[:-1], place._replace(model=EVERY))
    why = row.no_estimate if row.model in shared.compared[group] else TOO_FEW_IN_COMMON
    return replace(row, missing=shared.cells[group] - row.cells, no_estimate=None if row.cells else why)


def _weights(
    groups: Iterable[Sequence[int]], rows: Sequence[Value], column: Mapping[DataSlice, int], columns: int
) -> csr_array:
    """The weights of a mean over each group: columns of a table x groups."""
    entries: list[tuple[int, int, float]] = []
    total = 0
    for total, members in enumerate(groups, start=1):
        known = [column[rows[at].place] for at in members if rows[at].estimate is not None]
        entries += [(at, total - 1, 1 / len(known)) for at in known]
    at, group, weight = (np.array(part) for part in (zip(*entries, strict=True) if entries else ((), (), ())))
    indices = (at.astype(np.int64), group.astype(np.int64))
    return csr_array((weight.astype(np.float64), indices), shape=(columns, total))


def _number(
    metric: str,
    key: _LevelSlice,
    rows: Sequence[Value],
    cells: set[DataSlice],
    found: Moments,
    at: int,
    sizes: CellSizes,
    inputs: str,
) -> Number:
    """`cells` are those behind the number."""
    values = [row.estimate for row in rows if row.estimate is not None]
    level, place = key
    if is_overlap(metric) and level and "language" in level and place.other_language == EVERY:
        cells = {cell for cell in cells if cell.language == place.language}  # the responses in this language
    units, items = sizes.units(cells)
    value = math.fsum(values) / len(values) if values else None
    low = high = wide_low = wide_high = None
    withheld = no_wide = why_missing = None
    if value is None:
        reasons = {sizes.holds_none(metric, row.place) for row in rows}
        common = reasons.pop() if len(reasons) == 1 else None
        why_missing = common or (sizes.why_missing(cells) if level is None else NO_CELL)
    else:
        withheld = DETERMINISTIC if sizes.deterministic else _too_little(metric, units, found, at)
        if withheld is None:
            estimate = Estimate(
                value,
                float(found.variances[at]),
                float(found.freedom[at]),
                min(found.told[at], units),
                is_share(metric),
            )
            low, high = estimate.interval()
            low, high = max(RANGES[metric][0], low), min(RANGES[metric][1], high)
        wide_low, wide_high, no_wide = _wide(metric, value, rows)
    return Number(
        measure=MEASURE.name,
        metric=metric,
        level=CELL if level is None else level_name(level),
        model=place.model,
        language=place.language,
        country=place.country,
        topic=place.topic,
        condition=place.condition,
        wording=place.wording,
        facets={} if place.other_language == WITHOUT else {"other_language": place.other_language},
        estimate=value,
        no_estimate=why_missing,
        low=low,
        high=high,
        no_interval=withheld,
        wide_low=wide_low,
        wide_high=wide_high,
        no_wide=no_wide,
        unit="response",
        units=units,
        n=items,
        cells=len(values),
        missing=len(rows) - len(values),
        method_of_interval=None if value is None else _METHODS[is_share(metric)],
        inputs=inputs,
    )


def too_few_a_prompt(metric: str) -> str:
    """Why prompts of so few responses say nothing of others."""
    return ONE_A_PROMPT if METRICS[metric].is_sum else FEW_A_PROMPT


def _too_little(metric: str, units: int, found: Moments, at: int) -> str | None:
    """Why so few responses say nothing of others; None where they do."""
    if found.single[at] > MOST_UNKNOWN:
        return too_few_a_prompt(metric)
    return FEW_RESPONSES if units < FEWEST_RESPONSES else None


def _wide(metric: str, value: float, rows: Sequence[Value]) -> tuple[float | None, float | None, str | None]:
    """The interval of new prompts like these, or the reason why there is none."""
    known = [row for row in rows if row.estimate is not None]
    if len({(row.place.topic, row.place.country) for row in known}) == 1:
        return None, None, ONE_PROMPT
    numbers = np.array([row.estimate for row in known], dtype=np.float64)
    found = prompt_mean([row.place.topic for row in known], [row.place.named_country for row in known], numbers)
    return (*found.within(value, *RANGES[metric]), found.reason)


@dataclass(frozen=True, slots=True)
class SharedCells:
    """A metric's groups of cells of all models: how many cells, the models that are compared, and what these share."""

    cells: Mapping[LevelSlice, int]
    compared: Mapping[LevelSlice, frozenset[str]]
    shared: frozenset[tuple[LevelSlice, DataSlice]]


def groups_of(metric: str, place: DataSlice) -> list[LevelSlice]:
    """The groups that a cell of any model is in: that of all languages, and that of its own one or two."""
    levels = [(*level, "condition") for level in _LEVELS] if is_per_country(metric) else _LEVELS
    orders = [place]
    if is_overlap(metric):
        orders.append(place._replace(language=place.other_language))
    found = {(level, kept(order, level)): None for order in orders for level in levels}
    return list(found)


def shared_cells(of_models: Mapping[str, Mapping[str, Sequence[Value]]]) -> dict[str, SharedCells]:
    """By metric, those in which some of the models lack a number that others have, from the values of each model."""
    models = len(of_models)
    by_metric: dict[str, list[tuple[DataSlice, frozenset[str]]]] = {}
    for metric in COMPARED:
        having: dict[DataSlice, list[str]] = defaultdict(list)
        for model, values in of_models.items():
            for place, estimate in values[metric]:
                having[place._replace(model=EVERY)] += [] if estimate is None else [model]
        by_metric[metric] = [(place, frozenset(names)) for place, names in sorted(having.items())]
    return {
        metric: _shared(metric, cells)
        for metric, cells in by_metric.items()
        if any(0 < len(having) < models for _, having in cells)
    }


def _shared(metric: str, cells: list[tuple[DataSlice, frozenset[str]]]) -> SharedCells:
    known: dict[LevelSlice, Counter[str]] = defaultdict(Counter)
    sizes: Counter[LevelSlice] = Counter()
    for place, having in cells:
        for group in groups_of(metric, place):
            known[group].update(having)
            sizes[group] += bool(having)
    compared = {
        group: frozenset(model for model, count in counts.items() if count >= LEAST * sizes[group])
        for group, counts in known.items()
    }
    shared = (
        (group, place)
        for place, having in cells
        for group in groups_of(metric, place)
        if compared[group] and compared[group] <= having
    )
    return SharedCells(sizes, compared, frozenset(shared))
