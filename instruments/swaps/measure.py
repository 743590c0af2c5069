"""The rates of a run's answers about swapped entities with their intervals, into `swap_intervals.parquet`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.sql_file import read_sql
from polyculture.cache.store import open_store
from polyculture.instruments.datasets.sentiments import LABELS
from polyculture.instruments.swaps.layout import SWAPS
from polyculture.instruments.swaps.ratio import Numbers, Rated, Ratio, SideAnswers, difference, rate, ratio
from polyculture.instruments.swaps.rows import SWAP_INTERVALS, SwapInterval
from polyculture.instruments.swaps.ways import Way, differences
from polyculture.metrics.measured import measured

QUERIES = Path(__file__).parent / "queries"
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
    def columns(self) -> dict[str, Any]:
        """The columns of `SwapInterval` that say so."""
        told = {name: value for name, value in self._asdict().items() if name != "settings"}
        return {**told, "setting": " + ".join(self.settings), "pooled": True if len(self.settings) > 1 else None}


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
BECAME = ("asked", "answered", "readable", "right")
SIDES = ("native", "western", "difference")


def measure_swaps(run: RunFolder) -> list[SwapInterval]:
    """Writes and returns the rates of every type, over types, and over languages; each side's and their difference.

    Raises `StoreError` where there is no run or the folder cannot be written.
    """
    return measured(run, compose(CORE, SWAPS), SWAP_INTERVALS, _rows)


def health_lines(rows: Sequence[SwapInterval], task: str) -> Iterator[str]:
    """What became of the texts of a task, a line per model and setting: of the rows that the tables show."""
    shown = (row for row in rows if row.task == task and not row.pooled)
    parts = [row for row in shown if row.entity_type and row.side != SIDES[-1]]
    first = next(iter(METRICS[task]))
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for row in parts:
        if row.metric == first:
            sizes = {name: getattr(row, name) or 0 for name in BECAME}
            counts.setdefault((row.model, row.dataset, row.setting), Counter()).update(sizes)
    for (model, dataset, setting), found in counts.items():
        told = ", ".join(f"{found[name]} {name}" for name in BECAME)
        yield f"{task}: {model}, {dataset}, {setting}: {told}"


def apart_lines(run: RunFolder, task: str) -> Iterator[str]:
    """Why answers of a task are not added up over languages or types: a line for each such row that there is not."""
    with open_store(run, compose(CORE, SWAPS)) as store:
        found = [(whole, part, _ways_of(ways, part)) for whole, ways in _wholes(_ways(store)) for part in _levels(ways)]
    reasons: dict[tuple[str, str, str, str], None] = {}
    for whole, part, ways in found:
        if whole.task == task and (apart := differences(ways)):
            reasons[whole.model, whole.dataset, _told(part), "; ".join(apart)] = None
    for model, dataset, over, reason in reasons:
        yield f"{task}: {model}, {dataset}: no rows over {over}, which were not asked alike ({reason})"


def _told(part: Part) -> str:
    return "all languages" if part == EVERY else f"all types in {part.language}, {part.culture}"


def _rows(store: duckdb.DuckDBPyConnection) -> Iterator[SwapInterval]:
    for whole, ways in _wholes(_ways(store)):
        answers = _read(store, whole)
        for part in dict.fromkeys(Part(way.language, way.culture, way.entity_type) for way in ways):
            yield from _part_rows(whole, part, _chosen(answers, _within(answers, part)))
        for part in _levels(ways):
            if not differences(_ways_of(ways, part)):
                once = ~answers["again"].astype(bool) if part == EVERY else _within(answers, part)
                yield from _part_rows(whole, part, _chosen(answers, once))


def _ways(store: duckdb.DuckDBPyConnection) -> list[Way]:
    return [Way(*row) for row in store.execute(read_sql(QUERIES, "ways")).fetchall()]


def _wholes(ways: Sequence[Way]) -> Iterator[tuple[Whole, list[Way]]]:
    """What is read together: each setting; of sentiment all of them, too, where there are several."""
    found: dict[Whole, list[Way]] = {}
    for way in ways:
        whole = Whole(way.task, way.answer_method, way.model, way.dataset, (way.setting,))
        found.setdefault(whole, []).append(way)
    yield from found.items()
    sentiment = [whole for whole in found if whole.task == "sentiment"]
    for _, group in groupby(sentiment, key=lambda whole: whole._replace(settings=())):
        several = list(group)
        if len(several) > 1:
            together = sorted((way for whole in several for way in found[whole]), key=_place)
            yield several[0]._replace(settings=tuple(whole.settings[0] for whole in several)), together


def _place(way: Way) -> tuple[str, str, str]:
    return way.language, way.culture, way.entity_type


def _levels(ways: Sequence[Way]) -> list[Part]:
    """Over the types of each language and culture, and over all."""
    return [*dict.fromkeys(Part(way.language, way.culture, "") for way in ways), EVERY]


def _ways_of(ways: Sequence[Way], part: Part) -> list[Way]:
    """Those behind a row over types, or over all languages."""
    return [way for way in ways if part in (EVERY, Part(way.language, way.culture, ""))]


def _read(store: duckdb.DuckDBPyConnection, whole: Whole) -> dict[str, NDArray[Any]]:
    wanted = {**whole._asdict(), "settings": list(whole.settings)}
    found = store.execute(read_sql(QUERIES, "answers"), wanted).fetchnumpy()
    return {name: np.asarray(np.ma.getdata(column)) for name, column in found.items()}


def _within(answers: Columns, part: Part) -> NDArray[np.bool_]:
    here = np.ones(len(answers["ok"]), bool)
    for name, value in part._asdict().items():
        if value:
            here &= answers[name] == value
    return here


def _chosen(answers: Columns, here: NDArray[np.bool_]) -> Columns:
    return {name: column[here] for name, column in answers.items()}


def _part_rows(whole: Whole, part: Part, answers: Columns) -> Iterator[SwapInterval]:
    """A row per metric and side that was asked, with an estimate where an answer counts."""
    counts, wording = _counts(answers), "\n".join(sorted(set(answers["wording"]) - {""})) or None
    for name, (metric, counted) in _metrics(whole.task).items():
        read = _chosen(answers, answers[counted].astype(bool))
        native = read["native"].astype(bool)
        numerators, denominators = metric(read)
        sizes = _sizes(read, native, np.atleast_2d(denominators).max(axis=0) > 0)
        rated = _rated(read, native, numerators, denominators)
        for side, became in counts.items():
            yield _row(whole, part, name, side, rated.get(side), {**sizes, **became, "wording": wording})


def _metrics(task: str) -> dict[str, tuple[Metric, str]]:
    """The metrics of a task, and the answers that each rests on.

    What cannot be read is no label, and a miss where an entity is asked for; there, a second reading leaves it out.
    """
    if task == "sentiment":
        return {name: (metric, "ok") for name, metric in METRICS[task].items()}
    found: dict[str, tuple[Metric, str]] = {}
    for name, metric in METRICS[task].items():
        found[name], found[f"{READABLE}{name}"] = (metric, "answered"), (metric, "ok")
        found[f"{STRICT}{name}"] = (_strictly(metric), "strict_answered")
        found[f"{READABLE}{STRICT}{name}"] = (_strictly(metric), "strict_ok")
    return found


def _strictly(metric: Metric) -> Metric:
    """A metric of answers that are right by their characters alone."""
    return lambda answers: metric({**answers, "matched": answers["strict"], "predicted": answers["strict_predicted"]})


def _counts(answers: Columns) -> dict[str, dict[str, int]]:
    """What became of the texts of each side that was asked about, and of both."""
    native = answers["native"].astype(bool)
    found: dict[str, dict[str, int]] = {}
    for side, here in zip(SIDES, (native, ~native, np.ones(len(native), bool)), strict=True):
        readable = answers["ok"].astype(bool) & here
        became = {
            "asked": int(here.sum()),
            "answered": int((answers["answered"].astype(bool) & here).sum()),
            "readable": int(readable.sum()),
            "right": int((readable & (answers["matched"] > 0)).sum()),
        }
        if became["asked"]:
            found[side] = {**became, "failed": became["asked"] - became["readable"]}
    return found if len(found) == len(SIDES) else {side: each for side, each in found.items() if side != SIDES[-1]}


def _sizes(read: Columns, native: NDArray[np.bool_], counted: NDArray[np.bool_]) -> dict[str, int]:
    """How many contexts and entities the counted answers are about."""
    return {
        "contexts": len(set(read["context_id"][counted])),
        "native_entities": len(set(read["entity_id"][counted & native])),
        "western_entities": len(set(read["entity_id"][counted & ~native])),
    }


def _rated(
    read: Columns, native: NDArray[np.bool_], numerators: Numbers, denominators: Numbers
) -> dict[str, tuple[Rated, int]]:
    """Each side, and their difference where both have an answer; with the draws that they rest on."""
    if not len(native):
        return {}
    ids, contexts = np.unique(read["context_id"], return_inverse=True)
    _, entities = np.unique(read["entity_id"], return_inverse=True)
    every = SideAnswers(numerators, denominators, contexts, entities, read["draw"].astype(np.int64))
    sides: dict[str, Ratio] = {}
    for side, here in (("native", native), ("western", ~native)):
        found = ratio(every.of(here), len(ids)) if here.any() else None
        if found is not None:
            sides[side] = found
    rated = {side: (rate(found), len(found.draws)) for side, found in sides.items()}
    if len(sides) == 2:
        drawn = min(len(found.draws) for found in sides.values())
        rated["difference"] = (difference(sides["native"], sides["western"]), drawn)
    return rated


def _row(
    whole: Whole, part: Part, metric: str, side: str, found: tuple[Rated, int] | None, sizes: Mapping[str, Any]
) -> SwapInterval:
    rated, draws = found or (None, 0)
    held = rated if metric not in WITHOUT_INTERVAL else None
    low, high = held.estimate.limits(-1.0 if side == "difference" else 0.0, 1.0) if held else (None, None)
    return SwapInterval(
        metric=metric,
        side=side,
        **whole.columns,
        language=part.language or None,
        culture=part.culture or None,
        entity_type=part.entity_type or None,
        estimate=rated.estimate.value if rated else None,
        low=low,
        high=high,
        p=held.p if held else None,
        deviation=rated.deviation if rated else None,
        draws=draws,
        answers=rated.answers if rated else 0,
        **sizes,
    )


def _number(column: NDArray[Any]) -> Numbers:
    return column.astype(np.float64)
