"""The numbers of one model: those of its cells, as the views define them, and their means at each level.

A mean is macro: each cell with a number has the same weight, cells without one are left out and counted (`missing`).
What a mean rests on, responses and linked items in them, counts once, in however many of its numbers they are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from polyculture.cache.schema.measured import CELL, EVERY, UNNAMED, WITHOUT, Number
from polyculture.metrics import MEASURE
from polyculture.metrics.intervals.estimate import (
    METHODS,
    OF_LANGUAGE,
    OF_WORDINGS,
    PAIR_OF_WORDINGS,
    PER_CONDITION,
    Estimate,
    Level,
    Place,
    Uncertainty,
    are_dependent,
    kept,
    level_name,
    levels_of,
)
from polyculture.metrics.intervals.wordings import FEWEST_WORDINGS, WordingsInterval, wordings_interval

NO_RESPONSE, NO_ITEM, ONE_RESPONSE, NOT_LINKED = "no response read", "no linked item", "one response", "not linked yet"
NO_CELL = "no cell has a number"
FEW_DISTINCT, DETERMINISTIC = "few distinct texts", "deterministic sampling"
ONE_WORDING, FEW_WORDINGS = "one wording", "fewer than three wordings"
NEUTRAL = "neutral"
_ROUNDING = 1e-9


class Value(NamedTuple):
    """A row of `measured_values` (`cells.sql`)."""

    metric: str
    model: str
    language: str
    other_language: str
    topic: str
    condition: str
    country: str
    wording: str
    estimate: float | None
    responses: int
    incidences: int

    @property
    def place(self) -> Place:
        """What the number is of."""
        return Place(*self[1:8])


@dataclass(slots=True)
class Question:
    """What was asked in one wording or several: no mean is over a part of it. `cells` are what its numbers rest on."""

    place: Place
    names_shared: bool  # a person stands in several of the wordings
    values: dict[str, float | None] = field(default_factory=dict)  # by wording
    cells: set[Place] = field(default_factory=set)


@dataclass(frozen=True)
class CellSizes:
    """What the numbers of cells rest on: responses that the extractor read whole, and linked items in them.

    `texts` are those of a cell, and how many of them are distinct within their prompt; `repeating` is the reason why a
    number has no interval where too few are.
    """

    of_cell: Mapping[Place, tuple[int, int]]
    texts: Mapping[Place, tuple[int, int]]
    repeating: str
    uncovered: frozenset[tuple[str, str]] = frozenset()  # topics and countries of which the snapshot holds no item

    def dependent(self, cells: Iterable[Place]) -> str | None:
        """Why the texts of cells, taken together, are no independent samples; None where they may be."""
        counts = [self.texts.get(cell, (0, 0)) for cell in cells]
        texts, distinct = (sum(count) for count in zip(*counts, strict=True))
        return self.repeating if are_dependent(texts, distinct) else None

    def units(self, cells: Iterable[Place]) -> tuple[int, int]:
        """Those of several cells together."""
        sizes = [self.of_cell[cell] for cell in cells]
        return sum(responses for responses, _ in sizes), sum(items for _, items in sizes)

    def behind(self, metric: str, place: Place) -> set[Place]:
        """The cells behind a number: a gain rests on the neutral cell, too, and consensus on that of each language."""
        country = UNNAMED if place.condition == NEUTRAL else place.country
        cells = {place._replace(other_language=WITHOUT, country=country)}
        if metric == "consensus":
            cells.add(place._replace(language=place.other_language, other_language=WITHOUT))
        if metric == "specificity_gain":
            cells.add(place._replace(condition=NEUTRAL, country=UNNAMED))
        return cells & self.of_cell.keys()

    def holds_none(self, metric: str, place: Place) -> str | None:
        """The reason why a share of a country is no number whatever the responses say; None where it may be one."""
        of_country = metric in PER_CONDITION and (place.topic, place.country) in self.uncovered
        return f"snapshot holds no item of {place.country}" if of_country else None

    def why_missing(self, cells: Iterable[Place]) -> str:
        """The reason why cells have no number."""
        sizes = [self.of_cell[cell] for cell in cells]
        if any(not responses for responses, _ in sizes):
            return NO_RESPONSE
        if any(not items for _, items in sizes):
            return NO_ITEM
        return ONE_RESPONSE if any(responses == 1 for responses, _ in sizes) else NOT_LINKED


def model_numbers(
    values: Sequence[Value],
    sizes: CellSizes,
    uncertainty: Uncertainty,
    shared_names: frozenset[tuple[str, str, str]],
    inputs: str,
) -> Iterator[Number]:
    """The numbers of a model's cells, then the means over them; `values` and `sizes` are all of the model's.

    `shared_names` are a language, condition and country each, in whose wordings one person stands several times.
    """
    questions: dict[tuple[str, Place], Question] = {}
    for value in values:
        question_place = value.place._replace(wording=EVERY)
        question = questions.get((value.metric, question_place))
        if question is None:
            shared = any(
                (language, value.condition, value.country) in shared_names
                for language in (value.language, value.other_language)
            )
            question = questions[value.metric, question_place] = Question(question_place, shared)
        cells = sizes.behind(value.metric, value.place)
        question.values[value.wording] = value.estimate
        question.cells |= cells
        yield _cell_number(value, uncertainty.of_cells.get((value.metric, value.place)), cells, sizes, inputs)
    for key, group in _groups(questions).items():
        yield _mean_number(key, group, uncertainty, sizes, inputs)


def _groups(questions: Mapping[tuple[str, Place], Question]) -> Mapping[tuple[str, Level, Place], list[Question]]:
    """The questions behind each mean. The consensus of a language is over the pairs in which it is either one."""
    groups: dict[tuple[str, Level, Place], list[Question]] = defaultdict(list)
    for (metric, place), question in questions.items():
        for level in levels_of(metric):
            groups[metric, level, kept(place, level)].append(question)
        if metric == "consensus":
            for language in (place.language, place.other_language):
                for level in OF_LANGUAGE:
                    groups[metric, level, kept(place._replace(language=language), level)].append(question)
    return groups


def _cell_number(value: Value, estimate: Estimate | None, cells: set[Place], sizes: CellSizes, inputs: str) -> Number:
    units, items = sizes.units(cells)
    return _number(
        *(value.metric, CELL, value.place, value.estimate, estimate, METHODS[value.metric][0]),
        *(WordingsInterval(withheld=ONE_WORDING), units, items),
        cells=int(value.estimate is not None),
        missing=int(value.estimate is None),
        why_missing=(sizes.holds_none(value.metric, value.place) or sizes.why_missing(cells))
        if value.estimate is None
        else None,
        dependent=sizes.dependent(cells),
        inputs=inputs,
    )


def _mean_number(
    key: tuple[str, Level, Place],
    questions: Sequence[Question],
    uncertainty: Uncertainty,
    sizes: CellSizes,
    inputs: str,
) -> Number:
    metric, level, place = key
    numbers = [number for question in questions for number in question.values.values()]
    values = [number for number in numbers if number is not None]
    cells = set().union(*(question.cells for question in questions))
    if "language" in level and "other_language" not in level:  # of consensus: the responses in this language
        cells = {cell for cell in cells if cell.language == place.language}
    value = math.fsum(values) / len(values) if values else None
    method = METHODS[metric][0]
    # The mean over one wording is the number of its cell, and has its interval.
    if level in (*OF_WORDINGS, *PAIR_OF_WORDINGS) and len(numbers) == 1:
        [wording] = questions[0].values
        estimate = uncertainty.of_cells.get((metric, questions[0].place._replace(wording=wording)))
    else:
        total = uncertainty.of_means.get(key)
        estimate = total.mean() if total and total.weight else None
        method += "; mean of independent cells"
    units, items = sizes.units(cells)
    return _number(
        *(metric, level_name(level), place, value, estimate, method, _wide(metric, value, questions), units, items),
        cells=len(values),
        missing=len(numbers) - len(values),
        why_missing=None if values else _common(sizes.holds_none(metric, one.place) for one in questions) or NO_CELL,
        dependent=sizes.dependent(cells),
        inputs=inputs,
    )


def _common(reasons: Iterable[str | None]) -> str | None:
    """The reason that all have; None where they differ."""
    found = set(reasons)
    return found.pop() if len(found) == 1 else None


def _wide(metric: str, value: float | None, questions: Sequence[Question]) -> WordingsInterval:
    """The interval of other wordings: each wording's mean over the same cells, those with a number in all wordings."""
    wordings = sorted({wording for question in questions for wording in question.values})
    if value is None or len(wordings) < FEWEST_WORDINGS:
        return WordingsInterval(withheld=FEW_WORDINGS)
    complete = [
        numbers
        for question in questions
        if len(numbers := {name: one for name, one in question.values.items() if one is not None}) == len(wordings)
    ]
    means = [math.fsum(numbers[wording] for numbers in complete) / len(complete) for wording in wordings if complete]
    cells = sum(number is not None for question in questions for number in question.values.values())
    lacking = 1 - len(wordings) * len(complete) / cells
    shared = bool(complete) and any(question.names_shared for question in questions)
    return wordings_interval(metric, value, means, lacking, shared)


def _number(
    metric: str,
    level: str,
    place: Place,
    value: float | None,
    estimate: Estimate | None,
    method: str,
    wide: WordingsInterval,
    units: int,
    items: int,
    *,
    cells: int,
    missing: int,
    why_missing: str | None,
    dependent: str | None,
    inputs: str,
) -> Number:
    low = high = withheld = None
    if value is not None:
        if estimate is None or abs(estimate.value - value) > _ROUNDING * max(1.0, abs(value)):
            raise AssertionError(
                f"{metric}, {level}, {place}: the interval is of another number, {estimate} is not {value}"
            )
        _, lowest, highest = METHODS[metric]
        withheld = dependent or estimate.withheld()
        if withheld is None:
            low, high = estimate.limits(lowest, highest)
    return Number(
        measure=MEASURE.name,
        metric=metric,
        level=level,
        model=place.model,
        dataset=WITHOUT,
        language=place.language,
        country=place.country,
        topic=place.topic,
        condition=place.condition,
        wording=place.wording,
        method=WITHOUT,
        reader=WITHOUT,
        facets={} if place.other_language == WITHOUT else {"other_language": place.other_language},
        estimate=value,
        no_estimate=why_missing,
        low=low,
        high=high,
        no_interval=withheld,
        wide_low=wide.low,
        wide_high=wide.high,
        no_wide=None if value is None else wide.withheld,
        unit="response",
        units=units,
        n=items,
        sizes={},
        cells=cells,
        missing=missing,
        method_of_interval=method if value is not None else None,
        inputs=inputs,
    )
