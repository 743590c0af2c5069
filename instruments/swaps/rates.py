"""The rates of answers about swapped entities: what is read together, and what an answer adds to each metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyculture.instruments.datasets.sentiments import LABELS
from polyculture.instruments.swaps.ratio import Numbers, Ratio, SideAnswers, ratio

Columns = Mapping[str, NDArray[Any]]
# A metric is the ratio of two sums over answers; these are an answer's terms in each.
Metric = Callable[[Columns], tuple[Numbers, Numbers]]


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


class Part(NamedTuple):
    """What of them a row rests on; '' stands for all."""

    language: str
    culture: str
    entity_type: str


EVERY = Part("", "", "")  # over all languages: no context counts twice, as its translation again


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


def _macro_f1(answers: Columns) -> tuple[Numbers, Numbers]:
    """F1 of each label, a row each: their mean, over the labels that the texts or the answers of a draw have."""
    gold, said = (np.stack([answers[name] == label for label in LABELS]) for name in ("gold", "answer"))
    return 2 * _number(gold & said), _number(gold) + _number(said)


def _turned(gold: str, label: str) -> Metric:
    """Of the texts of one gold label, those that got its opposite."""
    return lambda answers: (
        _number((answers["gold"] == gold) & (answers["answer"] == label)),
        _number(answers["gold"] == gold),
    )


def _accuracy(answers: Columns) -> tuple[Numbers, Numbers]:
    return _number(answers["matched"]), np.ones(len(answers["matched"]))


def _precision(answers: Columns) -> tuple[Numbers, Numbers]:
    return _number(answers["matched"]), _number(answers["predicted"])


def _f1(answers: Columns) -> tuple[Numbers, Numbers]:
    """Harmonic mean of precision and recall: each text has one entity to be found."""
    return 2 * _number(answers["matched"]), _number(answers["predicted"]) + 1


READABLE = "readable_"  # of a metric's name: answers that could not be read are left out
STRICT = "strict_"  # the same by the answer's characters, without normalisation
METRICS: Mapping[str, Mapping[str, Metric]] = {
    "sentiment": {
        "accuracy": _accuracy,
        "macro_f1": _macro_f1,
        "false_negative_rate": _labelled("negative", "negative"),
        "false_positive_rate": _labelled("positive", "positive"),
        "missed_positive_rate": _missed("positive"),
        "missed_negative_rate": _missed("negative"),
        "positive_as_negative_rate": _turned("positive", "negative"),
        "negative_as_positive_rate": _turned("negative", "positive"),
    },
    "qa": {"accuracy": _accuracy},
    "ner": {"precision": _precision, "recall": _accuracy, "f1": _f1},
}
# Means of several ratios: intervals by linearisation covered 87 to 92 % there, so there are none.
WITHOUT_INTERVAL = ("macro_f1",)
SIDES = ("native", "western")


def metrics_of(task: str) -> dict[str, tuple[Metric, str]]:
    """The metrics of a task, and the answers that each rests on.

    What cannot be read is no label, and a miss where an entity is asked for; there, a second reading leaves it out.
    """
    if task == "sentiment":
        return {name: (metric, "ok") for name, metric in METRICS[task].items()}
    found: dict[str, tuple[Metric, str]] = {}
    for name, metric in METRICS[task].items():
        found[name], found[f"{READABLE}{name}"] = (metric, "answered"), (metric, "ok")
        found[f"{STRICT}{name}"] = (_strictly(metric), "strict_answered")
    return found


def _strictly(metric: Metric) -> Metric:
    """A metric of answers that are right by their characters alone."""
    return lambda answers: metric({**answers, "matched": answers["strict"], "predicted": answers["strict_predicted"]})


def chosen(answers: Columns, here: NDArray[Any]) -> Columns:
    """The answers that are true in `here`, or whose numbers stand in it."""
    return {name: column[here] for name, column in answers.items()}


def within(answers: Columns, part: Part) -> NDArray[np.bool_]:
    """Which answers are of a part."""
    here = np.ones(len(answers["ok"]), bool)
    for name, value in part._asdict().items():
        if value:
            here &= answers[name] == value
    return here


def sides_of(read: Columns, metric: Metric) -> dict[str, Ratio]:
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


def _shares(read: Columns) -> Numbers:
    """The weight of each answer: as often as its draw takes it; a context in several languages counts once."""
    times = _number(read["times"])
    if len(set(read["language"])) < 2:
        return times
    _, languages = np.unique(read["language"].astype(str), return_inverse=True)
    _, contexts = np.unique(read["context"], return_inverse=True)
    present = np.zeros((contexts.max() + 1, languages.max() + 1), bool)
    present[contexts, languages] = True
    return np.asarray(times / present.sum(axis=1)[contexts])


def _number(column: NDArray[Any]) -> Numbers:
    return column.astype(np.float64)
