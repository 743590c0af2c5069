"""The cells of several models, or runs, side by side: one column for each number, one row for each response.

Responses of one run are one row in all its columns, so that numbers that rest on the same responses are known to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from polyculture.cache.store.schema.measured import UNNAMED, WITHOUT
from polyculture.cache.store.store import Store
from polyculture.metrics.cell_changes import CellMetrics, MetricTable
from polyculture.metrics.comparison.sides import DIMENSIONS, CodedPlaces, Pairing, Roles, Sides, coded_cells, roles_of
from polyculture.metrics.declared import is_overlap
from polyculture.metrics.inference.arrays import Floats, Integers
from polyculture.metrics.inference.jackknife import Changes, Clusters, PromptsOfResponses
from polyculture.metrics.responses import ALL, Cell, DataSlice, ModelResponses, ResponseReader
from polyculture.metrics.text_doubts import models_alike

_DOUBTS = """
SELECT
    model, language, topic, condition, coalesce(country, 'none'), wording,
    unlinked, unlinked_specific, unlinked_surfaces
FROM cell_doubts
"""
_PROMPTS = """
SELECT language, topic, condition, coalesce(country, 'none'), wording, prompt_id FROM prompts ORDER BY ALL
"""


class ComparedRun:
    """A run whose numbers are compared: its responses, read when they are needed."""

    def __init__(self, store: Store, deterministic: bool = False) -> None:
        """`deterministic`: texts drawn at temperature 0."""
        self.reader = ResponseReader(store)
        self.deterministic = deterministic
        self.store = store
        self._metrics: dict[tuple[str, str], CellMetrics] = {}
        self.kept_columns: dict[tuple[object, ...], MetricColumns] = {}  # of the metric that was compared last

    def metrics(self, model: str, selection: str) -> CellMetrics:
        """A model's cells, of the texts that the selection takes."""
        if (model, selection) not in self._metrics:
            self._metrics[model, selection] = CellMetrics(self.reader.read(model, selection))
        return self._metrics[model, selection]

    def forget(self, selection: str) -> None:
        """Gives back the memory of a selection's responses."""
        self._metrics = {key: found for key, found in self._metrics.items() if key[1] != selection}
        self.kept_columns.clear()

    @property
    def selections(self) -> tuple[str, ...]:
        """`ALL`, and the selections that leave a text out."""
        return self.reader.selections

    @cached_property
    def cell_of(self) -> Mapping[DataSlice, Cell]:
        """The cells by what they are of."""
        return {cell.place: cell for cell in self.reader.cells}

    @cached_property
    def alike(self) -> frozenset[str]:
        """The models most of whose texts another model wrote, too: they may be one model under two names."""
        return frozenset(model for pair in models_alike(self.store).items() for model in pair)

    @cached_property
    def values(self) -> Mapping[str, set[str]]:
        """The models, languages, conditions, countries and wordings of the cells."""
        return {name: {getattr(place, name) for place in self.cell_of} - {UNNAMED} for name in DIMENSIONS}

    @cached_property
    def unlinked(self) -> Mapping[DataSlice, tuple[float, float, float]]:
        """Of each cell what is not linked: mentions, specific ones of them, and distinct surfaces."""
        rows = self.store.execute(_DOUBTS).fetchall()
        return {DataSlice(m, la, WITHOUT, t, c, co, w): tuple(doubt) for m, la, t, c, co, w, *doubt in rows}

    @cached_property
    def prompts_of(self) -> Mapping[DataSlice, tuple[str, ...]]:
        """The prompts of each cell."""
        found: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for *asked, prompt in self.store.execute(_PROMPTS).fetchall():
            found[tuple(asked)].append(prompt)
        return {
            place: tuple(found[cell.language, cell.topic, cell.condition, place.country, cell.wording])
            for place, cell in self.cell_of.items()
        }


@dataclass(frozen=True)
class MetricColumns:
    """One metric of all compared models: each column's place and run, and how it changes without each response.

    Many comparisons ask for the same columns: what is read of them place by place is read once.
    """

    metric: str
    places: Sequence[tuple[DataSlice, int]]
    found: Changes
    prompts: PromptsOfResponses
    parts: Floats
    runs: Sequence[ComparedRun]
    selection: str

    @cached_property
    def _coded(self) -> tuple[CodedPlaces, Integers]:
        """The places of the columns as numbers, and the run of each."""
        runs = np.fromiter((run for _, run in self.places), dtype=np.int64, count=len(self.places))
        return CodedPlaces.of([place for place, _ in self.places]), runs

    @cached_property
    def _cells(self) -> tuple[Sequence[tuple[int, DataSlice]], Integers]:
        """All cells behind the columns, and of each column its first and its second (2 x columns); -1: none."""
        places, runs = self._coded
        several = coded_cells(self.metric, places)
        every = several[0]
        for more in several[1:]:
            every = every.then(more)
        runs = np.tile(runs, len(several))
        _, first, which = np.unique(every.numbers * len(self.runs) + runs, return_index=True, return_inverse=True)
        rows = np.full((2, len(self.places)), -1, dtype=np.int64)
        rows[: len(several)] = which.reshape(len(several), -1)
        return list(zip(runs[first].tolist(), every.some(first).places, strict=True)), rows

    @cached_property
    def _counts(self) -> Integers:
        """Of each cell the responses that the selection takes, whether another model wrote most of its model's texts,
        too, and the number of its model."""
        found = np.zeros((3, len(self._cells[0])), dtype=np.int64)
        models: dict[tuple[int, str], int] = {}
        for at, (run, place) in enumerate(self._cells[0]):
            size = self.runs[run].metrics(place.model, self.selection).responses[place]
            model = models.setdefault((run, place.model), len(models))
            found[:, at] = size, place.model in self.runs[run].alike, model
        return found

    @cached_property
    def _named(self) -> Integers:
        """Of each cell the responses that name a linked item, and these items, each once a response: 2 x cells."""
        known: dict[tuple[int, DataSlice], tuple[int, int]] = {}
        for run, model in {(run, place.model) for run, place in self._cells[0]}:
            answers = self.runs[run].metrics(model, self.selection).answers
            places = (cell.place for cell in answers.cells)
            known |= {
                (run, place): (one, all_of)
                for place, one, all_of in zip(places, answers.naming.tolist(), answers.named.tolist(), strict=True)
            }
        return np.array([known[cell] for cell in self._cells[0]], dtype=np.int64).reshape(-1, 2).T

    def named(self, weights: Floats) -> tuple[int, int]:
        """The responses that name a linked item, and these items, of the cells behind the columns with a weight."""
        naming, items = self._named[:, self._used(weights)].sum(axis=1).tolist()
        return naming, items

    def _used(self, weights: Floats) -> NDArray[np.bool_]:
        cells, rows = self._cells
        used = np.zeros(len(cells) + 1, dtype=bool)  # the last is that of no cell
        used[rows[:, weights != 0]] = True
        return used[:-1]

    @cached_property
    def doubts(self) -> Floats:
        """Of each column what is not linked in its first and in its second cell, three numbers each: 6 x columns."""
        cells, rows = self._cells
        unlinked = np.zeros((len(cells) + 1, 3))  # the last is that of no cell
        for at, (run, cell) in enumerate(cells):
            unlinked[at] = self.runs[run].unlinked.get(cell, (0.0, 0.0, 0.0))
        return np.concatenate([unlinked[rows[which]].T for which in (0, 1)])

    def facet(self, name: str) -> tuple[Sequence[str], Integers]:
        """The values of a facet, and the number of each column's among them."""
        places, _ = self._coded
        return places.values[name], places.codes[name]

    @cached_property
    def sizes(self) -> Integers:
        """Of each column the responses of its cells, the fewest of two."""
        _, (first, second) = self._cells
        sizes = self._counts[0]
        return np.asarray(np.where(second < 0, sizes[first], np.minimum(sizes[first], sizes[second])), dtype=np.int64)

    @cached_property
    def uneven(self) -> NDArray[np.bool_]:
        """Of each column whether it is of two cells with different numbers of responses."""
        _, (first, second) = self._cells
        sizes = self._counts[0]
        return np.asarray((second >= 0) & (sizes[first] != sizes[second]))

    def counts(self, weights: Floats) -> tuple[int, float]:
        """The responses of all cells behind the columns that have a weight, and the share of cells whose texts another
        model wrote, too: together with that model they are no further samples."""
        responses, alike, models = self._counts[:, self._used(weights)]
        return int(responses.sum()), float(alike.mean()) if models.min() < models.max() else 0.0

    @cached_property
    def _roles(self) -> dict[tuple[object, ...], Roles]:
        return {}

    def roles(self, sides: Sides) -> Roles:
        """What the columns are of but for what is compared."""
        asked = (sides.dimension, sides.pairs)
        if asked not in self._roles:
            self._roles[asked] = roles_of(*self._coded, sides, self.metric)
        return self._roles[asked]


def columns_of(
    runs: Sequence[ComparedRun],
    metric: str,
    models: Sequence[Iterable[str]],
    selection: str = ALL,
    sizes: Sequence[Mapping[DataSlice, int]] | None = None,
) -> MetricColumns:
    """The columns of `models`, those of each run; counts are taken at `sizes`, likewise of each run."""
    tables: list[MetricTable] = []
    places: list[tuple[DataSlice, int]] = []
    answers: list[ModelResponses] = []
    block: list[tuple[int, str]] = []
    for number, run in enumerate(runs):
        for model in models[number]:
            cells = run.metrics(model, selection)
            tables.append(cells.table(metric, sizes[number] if sizes else {}))
            places += [(place, number) for place in tables[-1].places]
            answers.append(cells.answers)
            block.append((number, model))
    rows, prompts = _rows(answers, block)
    found = [table.found for table in tables]
    changes = [one.changes.tocoo() for one in found]
    starts = np.cumsum([0, *(len(table.places) for table in tables)])
    row = np.concatenate([own[one.row] for own, one in zip(rows, changes, strict=True)])
    column = np.concatenate([start + one.col for start, one in zip(starts, changes, strict=False)])
    matrix = coo_array(
        (np.concatenate([one.data for one in changes]), (row, column)), shape=(len(prompts.of_response), len(places))
    )
    stacked = Changes(
        np.concatenate([one.values for one in found]),
        csr_array(matrix),
        np.concatenate([one.told for one in found]),
        np.concatenate([one.single for one in found]),
        np.concatenate([one.rare for one in found]),
    )
    parts = np.concatenate([one.parts for one in tables], axis=1)
    return MetricColumns(metric, places, stacked, prompts, parts, runs, selection)


def _rows(
    answers: Sequence[ModelResponses], block: Sequence[tuple[int, str]]
) -> tuple[list[Integers], PromptsOfResponses]:
    """The row of each response: those of one block are the same responses, if they have the same number."""
    rows: dict[int, Integers] = {}
    clusters: list[Clusters] = []
    of_response: list[Integers] = []
    sizes: list[Integers] = []
    responses = prompts = 0
    for key in dict.fromkeys(block):
        members = [at for at, other in enumerate(block) if other == key]
        own = answers[members[0]].names  # sorted, each once
        names = own if len(members) == 1 else np.unique(np.concatenate([answers[at].names for at in members]))
        first = answers[members[0]].prompts
        prompt = np.zeros(len(names), dtype=np.int64)
        for at in members:
            place = np.searchsorted(names, answers[at].names)
            prompt[place] = answers[at].prompts.of_response
            rows[at] = place + responses
        clusters += [one.moved(rows[members[0]], prompts) for one in first.clusters]
        of_response.append(prompt + prompts)
        sizes.append(first.sizes)
        responses, prompts = responses + len(names), prompts + len(first.sizes)
    return [rows[at] for at in range(len(answers))], PromptsOfResponses(
        np.concatenate(of_response), np.concatenate(sizes), tuple(clusters)
    )


def least_sizes(columns: MetricColumns, pairs: Pairing) -> list[dict[DataSlice, int]] | None:
    """The responses at which counts are compared: the fewest of all columns that stand against one another.

    None where all have the same number: then no count is taken at fewer.
    """
    at = np.concatenate([pairs.a.columns, pairs.b.columns])
    key = np.concatenate([pairs.a.key, pairs.b.key])
    least = columns.sizes.copy()
    while True:
        of_key = np.full(len(pairs.keys), np.iinfo(np.int64).max)
        np.minimum.at(of_key, key, least[at])
        before = least.copy()
        np.minimum.at(least, at, of_key[key])
        if (before == least).all():
            break
    if (least == columns.sizes).all() and not (is_overlap(columns.metric) and columns.uneven[at].any()):
        return None
    found: list[dict[DataSlice, int]] = [{} for _ in columns.runs]
    for (place, run), size in zip(columns.places, least.tolist(), strict=True):
        found[run][place] = size
    return found
