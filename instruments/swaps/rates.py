"""The rates of a task: what each answer about a swapped entity adds to a numerator and a denominator, in each reading.

Every rate here is a ratio of sums over answers (`ratios.py`): right ones over all (accuracy), labelled negative over
those that are not (false negatives), twice the matches over names found and names to be found (F1). Macro F1 is the
mean of three such ratios.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.datasets.model import LABELS
from polyculture.instruments.swaps.layout import NORMALISED, READABLE, READING, STRICT
from polyculture.instruments.swaps.ratios import DrawRatio, SideAnswers, ratio
from polyculture.metrics.inference.arrays import Floats

AnswerColumns = Mapping[str, NDArray[Any]]
# A metric is the ratio of two sums over answers; these are an answer's terms in each.
RateCounter = Callable[[AnswerColumns], tuple[Floats, Floats]]


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


class AnswerGroup(NamedTuple):
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


def _labelled(gold_is_not: str, label: str) -> RateCounter:
    """The share of texts labelled `label` among those with another gold label."""
    return lambda answers: (
        _number((answers["gold"] != gold_is_not) & (answers["answer"] == label)),
        _number(answers["gold"] != gold_is_not),
    )


def _missed(label: str) -> RateCounter:
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


RATES_OF_TASK: Mapping[str, Mapping[str, RateCounter]] = {
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
    metric: RateCounter
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


def _strictly(metric: RateCounter) -> RateCounter:
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


def sides_of(read: AnswerColumns, metric: RateCounter) -> dict[str, DrawRatio]:
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
