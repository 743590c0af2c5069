"""Runs of models whose true differences are known, drawn as arrays: what `compare` makes of them.

A cell names items of its topic; each is specific with the chance of its cell. What differs between models is how far
that chance, the choice of items, the number of responses and the share of refusals do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from types import SimpleNamespace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.store.schema.measured import Difference
from polyculture.metrics.cell_changes import CellMetrics
from polyculture.metrics.comparison.columns import ComparedRun, MetricColumns
from polyculture.metrics.comparison.compare import TARGETS, ComparisonRow, Terms, compare
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.inference.family import HIGHER, LOWER, NEW_PROMPTS, SAME_PROMPTS
from polyculture.metrics.inference.jackknife import PromptsOfResponses
from polyculture.metrics.responses import ALL, ANSWERED, Cell, Contributions, DataSlice, ModelResponses, ResponseReader

Random = np.random.Generator
LANGUAGES = ("de", "ja")
ITEMS = 200  # of a topic


@dataclass(frozen=True, slots=True)
class World:
    """Models that are asked of topics and countries under conditions.

    Standard deviations are of one model's chance of a specific item, whose mean is a half: so differences of models
    have them times the square root of two.
    """

    models: int = 2
    topics: int = 6
    countries: int = 12
    conditions: int = 3
    responses: Sequence[int] = (20, 20)  # of a cell, by model: the last one counts for all further models
    refused: Sequence[float] = (0.0, 0.0)  # share of responses that decline, likewise
    of_topic: float = 0.0  # a topic's effect
    of_country: float = 0.0
    of_prompt: float = 0.0  # common to all conditions of a topic and country
    of_cell: float = 0.0
    shift: float = 0.0  # of the first model's chance
    exact: bool = False  # is the shift the whole difference in the prompts of a run, whatever effects they drew?
    missing: Mapping[int, Sequence[int]] = field(default_factory=dict)  # topics that a model was not asked of
    elsewhere: Sequence[int] = ()  # topics that are asked about in another language than the others
    thin: Sequence[int] = ()  # topics that the second model was asked of under one condition alone

    def draw(self, random: Random) -> DrawnRun:
        """One run, with the true difference of the first two models in its prompts."""
        return DrawnRun(self, random)


class DrawnRun:
    """A run as `compare` reads it, in memory."""

    def __init__(self, world: World, random: Random) -> None:
        self.world = world
        shape = (world.models, world.topics, world.countries, world.conditions)
        self.chance = 0.5 + np.zeros(shape)
        for scale, kept in ((world.of_topic, 2), (world.of_country, 3), (world.of_prompt, 4), (world.of_cell, 5)):
            size = {
                2: (shape[0], shape[1], 1, 1),
                3: (shape[0], 1, shape[2], 1),
                4: (*shape[:3], 1),
                5: shape,
            }[kept]
            self.chance = self.chance + scale * random.normal(size=size)
        drawn = (self.chance[0] - self.chance[1]).mean() if world.exact else 0.0
        self.chance[0] += world.shift - drawn
        self.chance = np.clip(self.chance, 0.01, 0.99)
        popularity = 1 / np.arange(1, ITEMS + 1)
        self._popularity = (popularity / popularity.sum()).cumsum()
        self._random = random
        names = [f"m{at}" for at in range(world.models)]
        self.deterministic = False
        self.reader = cast("ResponseReader", SimpleNamespace(models=names))
        self._drawn = {name: self._model(at, name) for at, name in enumerate(names)}
        self._metrics: dict[tuple[str, bool], CellMetrics] = {}
        self.kept_columns: dict[tuple[object, ...], MetricColumns] = {}
        self.alike = frozenset[str]()  # all write for themselves
        self.unlinked: Mapping[DataSlice, tuple[float, float, float]] = {}
        self.cell_of = {cell.place: cell for answers, _ in self._drawn.values() for cell in answers.cells}
        self.values = {facet: {getattr(place, facet) for place in self.cell_of} for facet in ("model", "language")}

    def metrics(self, model: str, selection: str) -> CellMetrics:
        """A model's cells; without refusals, where these are selected."""
        key = (model, selection == ANSWERED)
        if key not in self._metrics:
            self._metrics[key] = CellMetrics(self._drawn[model][key[1]])
        return self._metrics[key]

    def forget(self, selection: str) -> None:
        """Nothing: what was drawn stays."""

    @property
    def selections(self) -> tuple[str, ...]:
        """All texts, and those without refusals where a model refuses."""
        return (ALL, ANSWERED) if any(self.world.refused) else (ALL,)

    @property
    def truth(self) -> float:
        """The difference of the first two models' chances in the prompts that both were asked."""
        both = [t for t in range(self.world.topics) if not any(t in self.world.missing.get(m, ()) for m in (0, 1))]
        return float((self.chance[0] - self.chance[1])[both].mean())

    def _model(self, number: int, name: str) -> tuple[ModelResponses, ModelResponses]:
        world, random = self.world, self._random
        size = world.responses[min(number, len(world.responses) - 1)]
        declines = world.refused[min(number, len(world.refused) - 1)]
        places = [
            (t, c, k)
            for t in range(world.topics)
            if t not in world.missing.get(number, ())
            for c in range(world.countries)
            for k in range(1 if number == 1 and t in world.thin else world.conditions)
        ]
        cells = [
            Cell(at, name, "ja" if t in world.elsewhere else "en", f"t{t}", f"k{k}", f"c{c}", "w", size, known=True)
            for at, (t, c, k) in enumerate(places)
        ]
        total = len(cells) * size
        of_cell = np.repeat(np.arange(len(cells)), size)
        refused = random.random(total) < declines
        length = np.where(refused, 0, 1 + random.poisson(1.5, total))
        response = np.repeat(np.arange(total), length)
        item = np.searchsorted(self._popularity, random.random(len(response)))
        response, item = np.divmod(np.unique(response * ITEMS + np.minimum(item, ITEMS - 1)), ITEMS)
        chance = np.array([self.chance[number, t, c, k] for t, c, k in places])
        specific = (random.random(len(response)) < chance[of_cell[response]]).astype(np.float64)
        all_of_them = _answers(cells, of_cell, np.full(len(cells), size), response, item, specific)
        answered = np.bincount(of_cell, ~refused, len(cells)).astype(np.int64)
        return all_of_them, _answers(cells, of_cell, answered, response, item, specific)


def _answers(
    cells: Sequence[Cell],
    of_cell: NDArray[np.int64],
    sizes: NDArray[np.int64],
    response: NDArray[np.int64],
    item: NDArray[np.int64],
    specific: NDArray[np.float64],
) -> ModelResponses:
    names, place = np.unique(response, return_inverse=True)
    shares = Contributions(
        [cell.place for cell in cells],
        np.arange(len(cells)),
        of_cell[names],
        np.arange(len(names)),
        np.bincount(place, specific, len(names)),
        np.bincount(place, minlength=len(names)).astype(np.float64),
    )
    return ModelResponses(
        cells=cells,
        names=names,
        prompts=PromptsOfResponses(of_cell[names], sizes),
        cell_of_prompt=np.arange(len(cells)),
        response=place,
        item=item,
        shares={"granularity_contributions": shares},
    )


@dataclass(frozen=True, slots=True)
class Found:
    """What many runs of a world gave, as shares: of intervals that were given, and of all runs."""

    covered: float
    withheld: float
    rejected: float  # p <= 0.05
    width: float  # median


def tried(
    world: World,
    metric: str,
    target: str,
    runs: int,
    seed: int = 1,
    truth: Callable[[DrawnRun], float] | None = None,
    selection: str = ALL,
) -> Found:
    """The first two models compared. The truth is the difference in these prompts, or that of all prompts."""
    random = np.random.default_rng(seed)
    rows = np.full((runs, 3), np.nan)
    for at in range(runs):
        drawn = world.draw(random)
        [row] = compared(drawn, ("m0", "m1"), metric, (target,), (selection,))
        of = truth(drawn) if truth else world.shift if target == NEW_PROMPTS else drawn.truth
        told = row.difference
        if told.low is not None and told.high is not None and told.p is not None:
            rows[at] = told.low <= of <= told.high, told.p <= 0.05, told.high - told.low
    given = ~np.isnan(rows[:, 0])
    shares = rows[given].mean(axis=0) if given.any() else np.full(3, np.nan)
    return Found(float(shares[0]), float(1 - given.mean()), float(shares[1]), float(np.median(rows[given, 2])))


def compared(
    drawn: DrawnRun,
    models: tuple[str, str],
    metric: str,
    targets: Sequence[str] = TARGETS,
    selections: Sequence[str] = (ALL,),
) -> list[ComparisonRow]:
    """The rows of two models."""
    terms = Terms(metrics=(metric,), targets=targets, selections=selections)
    return compare([cast("ComparedRun", drawn)], [Sides("model", *models)], terms)


def told(world: World, errors: float, target: str, runs: int, seed: int = 2) -> float:
    """How often a true difference of so many standard errors is told, alone in its family, by q.

    The difference of these prompts is one that they have; that of others is one of all prompts like them.
    """
    random = np.random.default_rng(seed)
    plain = [compared(world.draw(random), ("m0", "m1"), "granularity", (target,))[0].difference for _ in range(20)]
    error = float(np.median([_error(one) for one in plain]))
    shifted = replace(world, shift=errors * error, exact=target == SAME_PROMPTS)
    found = [compared(shifted.draw(random), ("m0", "m1"), "granularity", (target,))[0] for _ in range(runs)]
    return float(np.mean([one.difference.verdict == HIGHER for one in found]))


def _error(row: Difference) -> float:
    """The standard error that an interval implies."""
    return (row.high - row.low) / (2 * 1.96)


def false_findings(world: World, target: str, runs: int, seed: int = 3) -> float:
    """The share of first pages that tell a difference where there is none: all pairs of models, two metrics."""
    random = np.random.default_rng(seed)
    names = [f"m{at}" for at in range(world.models)]
    sides = [Sides("model", *pair) for pair in combinations(names, 2)]
    terms = Terms(metrics=("granularity", "diversity"), targets=(target,), selections=(ALL,))
    pages = [compare([cast("ComparedRun", world.draw(random))], sides, terms) for _ in range(runs)]
    return float(np.mean([any(row.difference.verdict in (HIGHER, LOWER) for row in page) for page in pages]))


def zero(_: DrawnRun) -> float:
    """No difference."""
    return 0.0


# Name, world, metric, target, truth (None: its own), texts.
NULLS: Mapping[str, tuple[World, str, str, Callable[[DrawnRun], float] | None, str]] = {
    "nothing varies": (World(), "granularity", SAME_PROMPTS, None, ALL),
    "50 against 30 responses": (
        World(responses=(50, 30), countries=4, conditions=1),
        "diversity",
        SAME_PROMPTS,
        zero,
        ALL,
    ),
    "60 against 30 responses": (
        World(responses=(60, 30), countries=4, conditions=1),
        "diversity",
        SAME_PROMPTS,
        zero,
        ALL,
    ),
    "30 responses, 40 % of one refused": (
        World(responses=(30, 30), refused=(0.0, 0.4), countries=4, conditions=1),
        "diversity",
        SAME_PROMPTS,
        zero,
        ANSWERED,
    ),
    "prompts vary, these": (World(of_prompt=0.1), "granularity", SAME_PROMPTS, None, ALL),
    **{
        f"{share:.0%} of the variance common to conditions": (
            World(of_prompt=0.1 * share**0.5, of_cell=0.1 * (1 - share) ** 0.5),
            "granularity",
            NEW_PROMPTS,
            None,
            ALL,
        )
        for share in (0.0, 0.3, 0.6, 0.9)
    },
    **{
        f"topics' effects, {k} conditions": (
            World(of_topic=0.03, of_prompt=0.07, of_cell=0.06, conditions=k),
            "granularity",
            NEW_PROMPTS,
            None,
            ALL,
        )
        for k in (1, 3)
    },
    **{
        f"countries' effects, {k} conditions": (
            World(of_country=0.03, of_prompt=0.07, of_cell=0.06, conditions=k),
            "granularity",
            NEW_PROMPTS,
            None,
            ALL,
        )
        for k in (1, 3)
    },
    "both, large": (World(of_topic=0.08, of_country=0.08, of_cell=0.05), "granularity", NEW_PROMPTS, None, ALL),
    "half the topics under 1 of 8 conditions": (
        World(topics=10, of_topic=0.05, of_prompt=0.05, of_cell=0.06, countries=6, conditions=8, thin=(5, 6, 7, 8, 9)),
        "granularity",
        NEW_PROMPTS,
        None,
        ALL,
    ),
    "diversity, nothing varies": (World(), "diversity", SAME_PROMPTS, zero, ALL),
    "diversity, 5 topics, 5 countries": (World(topics=5, countries=5), "diversity", NEW_PROMPTS, zero, ALL),
    "one was not asked of two topics": (
        World(of_topic=0.1, missing={1: (0, 1)}),
        "granularity",
        SAME_PROMPTS,
        None,
        ALL,
    ),
}
