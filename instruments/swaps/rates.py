"""The rates of answers about swapped entities, and what each answer, context and entity adds to them.

Every rate here is a ratio of sums over answers: right ones over all (accuracy), labelled negative over those that are
not (false negatives), twice the matches over names found and names to be found (F1). Macro F1 is the mean of three
such ratios. In each draw it is taken over all its answers; the value is the mean over draws. Its interval is that of
resampling contexts and entities, linearised: an answer adds (numerator - ratio x denominator) / sum of denominators
(Cochran 1977, Sampling Techniques, chapter 6), summed over the answers of a context, and over those of an entity,
whatever the draw. In a difference (`compared`) what a context or an entity adds to one side is taken off what it adds
to the other: both sides of a text stand in the same contexts, two models meet the same contexts and entities, and a row
of a sheet is one context in all its languages.

`tests/instruments/test_swaps_measure.py` checks by simulation with a known truth that the intervals cover it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.datasets.model import LABELS
from polyculture.instruments.swaps.layout import NORMALISED, READABLE, READING, STRICT
from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.crossed import crossed_variance, way
from polyculture.metrics.inference.limits import WilsonEstimate, wilson
from polyculture.metrics.inference.paired import PairedDifference, paired_difference

Numbering = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SideAnswers:
    """The answers about the entities of one side; contexts are numbered alike on both.

    Numerators and denominators are of one ratio, or of several, a row each: of these the mean is taken.
    """

    numerators: Floats
    denominators: Floats
    contexts: Numbering
    entities: Numbering
    draws: Numbering
    native: bool = True  # whose entities they are; those of the other side have numbers of their own

    def of(self, here: NDArray[np.bool_]) -> SideAnswers:
        """Those of the answers that are true in `here`."""
        numbers = (self.contexts[here], self.entities[here], self.draws[here])
        return SideAnswers(self.numerators[..., here], self.denominators[..., here], *numbers, self.native)


@dataclass(frozen=True, slots=True)
class DrawRatio:
    """A mean over draws, and what each answer with a denominator adds to it."""

    draws: Mapping[int, float]  # draw -> ratio
    answers: SideAnswers
    added: Floats

    @property
    def value(self) -> float:
        return float(np.mean(list(self.draws.values())))

    @property
    def size(self) -> int:
        return len(self.added)


def ratio(side: SideAnswers) -> DrawRatio | None:
    """The ratio of a side's sums; None where no answer has a denominator."""
    numerators, denominators = np.atleast_2d(side.numerators), np.atleast_2d(side.denominators)
    totals = np.stack([np.bincount(side.draws, row) for row in denominators])  # a row per ratio, a column per draw
    hits = np.stack([np.bincount(side.draws, row) for row in numerators])
    defined = totals > 0
    known = totals.max(axis=0) > 0
    if not known.any():
        return None
    each = np.divide(hits, totals, out=np.zeros_like(hits), where=defined)
    means = np.divide(each.sum(axis=0), defined.sum(axis=0), out=np.zeros(len(known)), where=known)
    weights = np.divide(1.0, totals * defined.sum(axis=0) * known.sum(), out=np.zeros_like(totals), where=defined)
    terms = (numerators - each[:, side.draws] * denominators) * weights[:, side.draws]
    asked = denominators.max(axis=0) > 0
    values = {int(draw): float(means[draw]) for draw in np.flatnonzero(known)}
    return DrawRatio(values, side.of(asked), terms.sum(axis=0)[asked])


def rate(found: DrawRatio) -> WilsonEstimate:
    """A rate with Wilson's interval for the effective number of independent answers."""
    variance, freedom = variance_of([(found, 1.0)])
    spread = found.value * (1 - found.value)
    if variance <= 0 or spread <= 0:  # all agree: as many observations as the scarcer of the two
        size = min(len(np.unique(found.answers.contexts)), len(np.unique(found.answers.entities)))
        return wilson(found.value, size, size - 1)
    return wilson(found.value, spread / variance, freedom)


def compared(one: Sequence[tuple[DrawRatio, float]], other: Sequence[tuple[DrawRatio, float]]) -> PairedDifference:
    """One sum of ratios less another: single rates, or gaps of two."""
    variance, freedom = variance_of([*one, *((found, -weight) for found, weight in other)])
    values = [sum(found.value * weight for found, weight in terms) for terms in (one, other)]
    if freedom <= 0 < variance:  # one context, or one entity on a side
        return PairedDifference(values[0], values[1], lacking="few contexts or entities")
    limits = [_limits(terms) for terms in (one, other)]
    return paired_difference(values[0], values[1], variance, freedom, (limits[0], limits[1]))


def _limits(terms: Sequence[tuple[DrawRatio, float]]) -> tuple[float | None, float | None]:
    """The limits of a single rate; of a gap there are none that a difference of two could not pass."""
    return rate(terms[0][0]).limits(0.0, 1.0) if len(terms) == 1 else (None, None)


def variance_of(terms: Sequence[tuple[DrawRatio, float]]) -> tuple[float, float]:
    """The variance of a weighted sum of ratios, and its degrees of freedom; 0 of these where it is unknown."""
    contexts = np.concatenate([found.answers.contexts for found, _ in terms])
    added = np.concatenate([found.added * weight for found, weight in terms])
    native = np.concatenate([np.full(found.size, found.answers.native) for found, _ in terms])
    entities = np.concatenate([found.answers.entities for found, _ in terms])
    ways, shared = [way(_sums(contexts, added))], 0.0
    for side in (True, False):
        here = native == side
        if here.any():
            ways.append(way(_sums(entities[here], added[here])))
            cells = contexts[here] * (int(entities.max()) + 1) + entities[here]
            shared += float((_sums(cells, added[here]) ** 2).sum())
    return crossed_variance(ways, shared)


def _sums(numbering: NDArray[Any], added: Floats) -> Floats:
    """What each that has a number adds."""
    _, numbers = np.unique(numbering, return_inverse=True)
    return np.bincount(numbers, added).astype(np.float64)


def chance_of_size(one: Sequence[DrawRatio], other: Sequence[DrawRatio], texts: Sequence[float]) -> float | None:
    """What the size of a difference in counts is on average where there is no effect, the mean over draws.

    `one` and `other` have a ratio for each draw, `texts` the texts of a side in it. A normal difference without an
    effect has a size of its standard deviation times the root of 2 over pi. None where its variance is unknown.
    """
    found = [variance_of([(a, 1.0), (b, -1.0)]) for a, b in zip(one, other, strict=True)]
    if not found or any(freedom <= 0 for _, freedom in found):
        return None
    spreads = [math.sqrt(variance) * size for (variance, _), size in zip(found, texts, strict=True)]
    return math.sqrt(2 / math.pi) * float(np.mean(spreads))


AnswerColumns = Mapping[str, NDArray[Any]]
# A metric is the ratio of two sums over answers; these are an answer's terms in each.
Metric = Callable[[AnswerColumns], tuple[Floats, Floats]]


class AskedType(NamedTuple):
    """A type of entities as a model was asked about texts with them: a row of `asked_types.sql`."""

    task: str
    answer_method: str
    model: str
    dataset: str
    setting: str
    language: str
    culture: str
    entity_type: str
    settings_id: str  # equal where the settings are; the words of a question in each text's own language may differ
    is_sampled: bool

    @property
    def scope(self) -> SwapScope:
        return SwapScope(self.language, self.culture, self.entity_type)


def asked_alike(types: Sequence[AskedType]) -> bool:
    """Whether all were asked under the same settings: only such are added up, and compared with an interval."""
    return len({one.settings_id for one in types}) < 2


class Whole(NamedTuple):
    """The answers that are read together: a setting of a data set, or all its settings."""

    task: str
    answer_method: str
    model: str
    dataset: str
    settings: tuple[str, ...]

    @property
    def condition(self) -> str:
        return " + ".join(self.settings)


class SwapScope(NamedTuple):
    """What of them a row rests on; '' stands for all."""

    language: str
    culture: str
    entity_type: str


EVERY = SwapScope("", "", "")  # over all languages: no context counts twice, as its translation again


def _labelled(gold_is_not: str, label: str) -> Metric:
    """The share of texts labelled `label` among those with another gold label."""
    return lambda answers: (
        _number((answers["gold"] != gold_is_not) & (answers["answer"] == label)),
        _number(answers["gold"] != gold_is_not),
    )


def _missed(label: str) -> Metric:
    """Of the texts of one gold label, those that got another: the papers' reading of a false negative."""
    return lambda answers: (
        _number((answers["gold"] == label) & (answers["answer"] != label)),
        _number(answers["gold"] == label),
    )


def _macro_f1(answers: AnswerColumns) -> tuple[Floats, Floats]:
    """F1 of each label, a row each: their mean, over the labels that the texts or the answers of a draw have."""
    gold, said = (np.stack([answers[name] == label for label in LABELS]) for name in ("gold", "answer"))
    return 2 * _number(gold & said), _number(gold) + _number(said)


def _accuracy(answers: AnswerColumns) -> tuple[Floats, Floats]:
    return _number(answers["matched"]), np.ones(len(answers["matched"]))


def _precision(answers: AnswerColumns) -> tuple[Floats, Floats]:
    return _number(answers["matched"]), _number(answers["predicted"])


def _f1(answers: AnswerColumns) -> tuple[Floats, Floats]:
    """Harmonic mean of precision and recall: each text has one entity to be found."""
    return 2 * _number(answers["matched"]), _number(answers["predicted"]) + 1


RATES_OF_TASK: Mapping[str, Mapping[str, Metric]] = {
    "sentiment": {
        "accuracy": _accuracy,
        "macro_f1": _macro_f1,
        "false_negative_rate": _labelled("negative", "negative"),
        "false_positive_rate": _labelled("positive", "positive"),
        "missed_positive_rate": _missed("positive"),
    },
    "qa": {"accuracy": _accuracy},
    "ner": {"precision": _precision, "recall": _accuracy, "f1": _f1},
}
# Means of several ratios: intervals by linearisation covered 87 to 92 % there, so there are none.
WITHOUT_INTERVAL = ("macro_f1",)
SIDES = ("native", "western")


class RateOfAnswers(NamedTuple):
    """A metric of answers in one reading."""

    name: str
    metric: Metric
    counted: str  # the column that says which answers it rests on
    facets: Mapping[str, str] = {}  # its reading, where there are several

    @property
    def is_read_otherwise(self) -> bool:
        return self.facets.get(READING, NORMALISED) != NORMALISED


def rates_of(task: str) -> Iterator[RateOfAnswers]:
    """The rates of a task, in each reading where it asks for an entity. Of sentiment, only what can be read counts."""
    for name, metric in RATES_OF_TASK[task].items():
        if task == "sentiment":
            yield RateOfAnswers(name, metric, "ok")
            continue
        yield RateOfAnswers(name, metric, "answered", {READING: NORMALISED})
        yield RateOfAnswers(name, metric, "ok", {READING: READABLE})
        yield RateOfAnswers(name, _strictly(metric), "strict_answered", {READING: STRICT})


def _strictly(metric: Metric) -> Metric:
    """A metric of answers that are right by their characters alone."""
    return lambda answers: metric({**answers, "matched": answers["strict"], "predicted": answers["strict_predicted"]})


def chosen(answers: AnswerColumns, here: NDArray[Any]) -> AnswerColumns:
    """The answers that are true in `here`, or whose numbers stand in it."""
    return {name: column[here] for name, column in answers.items()}


def within(answers: AnswerColumns, part: SwapScope) -> NDArray[np.bool_]:
    """Which answers are of a part."""
    here = np.ones(len(answers["ok"]), bool)
    for name, value in part._asdict().items():
        if value:
            here &= answers[name] == value
    return here


def once_within(answers: AnswerColumns, part: SwapScope) -> NDArray[np.bool_]:
    """The same; over all languages, no context counts twice."""
    return ~answers["again"].astype(bool) if part == EVERY else within(answers, part)


def sides_of(read: AnswerColumns, metric: Metric) -> dict[str, DrawRatio]:
    """The ratio of each side that has an answer."""
    numerators, denominators = metric(read)
    weights = _shares(read)
    _, contexts = np.unique(read["context"], return_inverse=True)
    _, entities = np.unique(read["entity"], return_inverse=True)
    native = read["native"].astype(bool)
    every = SideAnswers(numerators * weights, denominators * weights, contexts, entities, read["draw"].astype(np.int64))
    found = {}
    for side, here in (("native", native), ("western", ~native)):
        own = ratio(replace(every, native=side == "native").of(here)) if here.any() else None
        if own is not None:
            found[side] = own
    return found


def _shares(read: AnswerColumns) -> Floats:
    """The weight of each answer: as often as its draw takes it; a context in several languages counts once."""
    times = _number(read["times"])
    if len(set(read["language"])) < 2:
        return times
    _, languages = np.unique(read["language"].astype(str), return_inverse=True)
    _, contexts = np.unique(read["context"], return_inverse=True)
    present = np.zeros((contexts.max() + 1, languages.max() + 1), bool)
    present[contexts, languages] = True
    return np.asarray(times / present.sum(axis=1)[contexts])


def _number(column: NDArray[Any]) -> Floats:
    return column.astype(np.float64)
