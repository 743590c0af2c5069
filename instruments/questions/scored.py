"""Scores of items that another harness gave, as answers to open questions that are read already.

An item is a question, what a model scored in it an answer, and each metric a reader, which reads the mean over the
item's repeats: models are paired by item, however often each of them answered. What groups items, as a document or a
template, is their unit of sampling. A score is from 0 to 1; a metric with another range is left out, or scaled by the
range that the user states.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import orjson

from polyculture.cache.errors import UserError
from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import CurrentId
from polyculture.cache.store.run_folder import Job
from polyculture.cache.text.quantity import quantity
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.instruments.questions.layout import SCORED, AnswerRow, QuestionRow, ReadingRow, WantedAnswer
from polyculture.instruments.questions.numbers.families import SCORE
from polyculture.metrics.declared import Range
from polyculture.metrics.inference.ratios import FEWEST_UNITS
from polyculture.sources.item_scores import NO_LANGUAGE, NO_SCORE, ItemScore

BETTER = "better"  # of the settings of a metric: what is good, where a log says it
PREFIX = "imported:"  # how the names of models begin whose scores came in a log
_PROMPT = ""  # no log says by which prompt of several an item was asked
_ScoreKey = tuple[str, ...]


@dataclass
class ImportedScores:
    """The rows that scores become, and what is to be said of them."""

    questions: dict[str, QuestionRow] = field(default_factory=dict)
    answers: dict[Job, list[AnswerRow]] = field(default_factory=lambda: defaultdict(list))
    readings: dict[Job, list[ReadingRow]] = field(default_factory=lambda: defaultdict(list))
    wanted: list[WantedAnswer] = field(default_factory=list)
    ids: list[CurrentId] = field(default_factory=list)
    metrics: dict[str, None] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    @property
    def models(self) -> list[str]:
        """The models that have scores."""
        return sorted({job.model for job in self.answers})

    @property
    def datasets(self) -> list[str]:
        """The data sets."""
        return sorted({job.topic for job in self.answers})


def scored_rows(
    scores: Iterable[ItemScore],
    ranges: Mapping[str, Range],
    better: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> ImportedScores:
    """The rows of all scores; `better` is what is good, by data set and metric: 'low' or 'high'.

    Raises `UserError` where no metric is left, and where a stated range is wrong.
    """
    found = ImportedScores()
    kept = list(_each_once(scores, found.lines))
    metrics = _metrics(kept, ranges, found.lines)
    units = _Units(kept)
    items: dict[_ScoreKey, dict[_ScoreKey, list[ItemScore]]] = defaultdict(lambda: defaultdict(list))
    for one in kept:
        items[one.dataset, one.language, one.model][one.item, one.same, one.version].append(one)
    for (dataset, language, model), own in items.items():
        if not metrics[dataset] and any(one.metric for some in own.values() for one in some):
            continue  # its scores were left out, with a line: these items did not fail
        _add(found, Job(f"{PREFIX}{model}", language, dataset), own, metrics[dataset], units)
    found.metrics = dict.fromkeys(metric for named in metrics.values() for metric in named)
    for dataset, named in metrics.items():
        for metric, span in named.items():
            good = better.get((dataset, metric))
            reader = CurrentId(
                what=f"{dataset} {metric}", id=_reader_id(dataset, metric, span), reads=True,
                settings={BETTER: good} if good else {},
            )  # fmt: skip
            found.ids.append(reader)
    found.lines += [*units.lines(), *_shared(found)]
    return found


def _each_once(scores: Iterable[ItemScore], lines: list[str]) -> Iterator[ItemScore]:
    """The scores without those of an answer that another row has, too."""
    first: dict[_ScoreKey, ItemScore] = {}
    same, others = 0, list[str]()
    for one in scores:
        key = (one.dataset, one.language, one.model, one.item, one.same, one.version, one.repeat, one.metric)
        known = first.setdefault(key, one)
        if known is one:
            yield one
        elif known.value == one.value:
            same += 1
        else:
            others.append(f"{one.row} (item {one.item}, {one.metric or 'no score'}; {known.row} has {known.value})")
    if same:
        lines.append(f"{same} x the same score of the same answer again")
    if others:
        more = "; ..." if len(others) > 1 else ""
        lines.append(f"{len(others)} x left out, as another row scores the same answer otherwise: {others[0]}{more}")


def _metrics(scores: Sequence[ItemScore], ranges: Mapping[str, Range], lines: list[str]) -> dict[str, dict[str, Range]]:
    """The metrics of each data set that are taken, with their ranges."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in scores:
        values[one.dataset][one.metric] += [] if one.value is None else [one.value]
    known = sorted({metric for named in values.values() for metric in named} - {""})
    for metric in ranges:
        if metric not in known:
            remedy = did_you_mean(metric, known, otherwise=f"There are {', '.join(known)}.")
            raise UserError(f"range={metric}: no log has this metric", remedy=remedy)
    taken: dict[str, dict[str, Range]] = {dataset: {} for dataset in values}
    left: dict[str, list[str]] = defaultdict(list)  # data sets by the reason
    for dataset, named in values.items():
        for metric, some in named.items():
            low, high = ranges.get(metric, (0.0, 1.0))
            if not metric:
                continue
            if not some:
                left[f"{metric}: it is not one number for each item"].append(dataset)
            elif min(some) >= low and max(some) <= high:
                taken[dataset][metric] = (low, high)
            elif metric in ranges:
                what = f"range={metric}={low:g}..{high:g}: in {dataset} it is {min(some):g} to {max(some):g}"
                raise UserError(what, remedy="State the range of all scores that the metric can have.")
            else:
                span = f"{min(some):g} to {max(some):g}"
                left[f"{metric}: its scores are {span}, outside 0 to 1; 'range={metric}=LOW..HIGH' scales them"].append(
                    dataset
                )
    for reason, datasets in left.items():
        lines.append(f"left out: {reason} ({', '.join(datasets[:3])}{', ...' if len(datasets) > 3 else ''})")
    if not any(taken.values()):
        failed = next((one.reason for one in scores if one.reason), "")
        why = "; ".join(f"left out: {reason}" for reason in left) or f"every item failed: {failed}"
        raise UserError(f"no score can be taken: {why}", remedy="Name the column of scores from 0 to 1: score=COLUMN.")
    return taken


class _Units:
    """What groups the items of each data set: the first column that says it of all of them, and joins some."""

    def __init__(self, scores: Sequence[ItemScore]) -> None:
        items: dict[str, set[str]] = defaultdict(set)
        said: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
        for one in scores:
            items[one.dataset].add(one.item)
            for column, value in one.clusters.items():
                said[one.dataset][column].setdefault(one.item, value)
        self._of: dict[str, tuple[str, Mapping[str, str]]] = {}
        self._partly: list[str] = []
        for dataset, columns in said.items():
            for column, own in columns.items():
                if not 1 < len(set(own.values())) < len(own):
                    continue
                if len(own) == len(items[dataset]):
                    self._of[dataset] = (column, own)
                    break
                some = f"{column} is known of {len(own)} of {len(items[dataset])} items"
                self._partly.append(f"{dataset}: {some}, so that it does not group them")

    def unit(self, one: ItemScore) -> str:
        """The unit of an item; itself where nothing groups it."""
        column, own = self._of.get(one.dataset, ("", {}))
        return f"{column} {own[one.item]}" if column else one.item

    def lines(self) -> Iterator[str]:
        """What the units are, where they are not the items, and which columns could not group the items."""
        yield from self._partly
        for dataset, (column, own) in self._of.items():
            number = len(set(own.values()))
            few = ", too few for intervals" if number < FEWEST_UNITS else ""
            remedy = "; cluster==item takes each item as one of its own"
            yield f"{dataset}: {quantity(len(own), 'item')} in {quantity(number, 'cluster')}, by {column}{few}{remedy}"


@dataclass(frozen=True, slots=True)
class _ScoredItem:
    """What a model scored in an item: by each metric a score of every repeat; without any, the reason."""

    rows: Sequence[ItemScore]
    scores: Mapping[str, Sequence[float | None]]

    @property
    def came(self) -> bool:
        return any(value is not None for values in self.scores.values() for value in values)

    def reason(self, metric: str) -> str:
        """Why it has no score by a metric."""
        own = [one.reason for one in self.rows if one.metric in (metric, "") and one.reason]
        return next(iter(own), f"{NO_SCORE} by {metric}")

    def failed_repeats(self) -> Iterator[str]:
        """The reason of each repeat that no metric scores."""
        scored = {one.repeat for one in self.rows if one.value is not None}
        reasons = {one.repeat: one.reason or NO_SCORE for one in self.rows if one.repeat not in scored}
        return iter(reasons.values())

    @property
    def failed(self) -> str:
        """Why it has no score at all."""
        return next((one.reason for one in self.rows if one.reason), "no metric that is taken scores it")


def _add(
    found: ImportedScores,
    job: Job,
    rows: Mapping[_ScoreKey, Sequence[ItemScore]],
    metrics: Mapping[str, Range],
    units: _Units,
) -> None:
    """Adds the rows of one model's scores in one data set."""
    own = sorted({one.metric for some in rows.values() for one in some if one.value is not None} & metrics.keys())
    items = {
        key: _ScoredItem(some, {one: _repeats(some, one, metrics[one]) for one in own}) for key, some in rows.items()
    }
    contents = content_id("scores", sorted([*map(list, key), [list(one.scores.items())]] for key, one in items.items()))
    found.ids.append(CurrentId(what=f"{job.topic} {job.language} {SCORED} {job.model}", id=contents))
    lacking, failed = Counter[str](), Counter[str]()
    for key, item in items.items():
        question = _question(job, key, units.unit(item.rows[0]))
        raw = orjson.dumps(item.scores).decode() if item.came else None
        error = None if item.came else item.failed
        made = content_id("scored", job.model, question.question_id, raw, error)
        found.questions[question.question_id] = question
        found.wanted.append(WantedAnswer(made, job.model, None, question.question_id, _PROMPT, 1, "answer", contents))
        found.answers[job].append(AnswerRow(
            answer_id=made, request_id=made, question_id=question.question_id, model=job.model, language=job.language,
            topic=job.topic, method=SCORED, prompt=_PROMPT, order=[], labels=[], shown=[], sample=0, raw=raw,
            status="ok" if item.came else "failed", error=error, retryable=None if item.came else False,
        ))  # fmt: skip
        for metric, values in item.scores.items() if item.came else ():
            reader_id = _reader_id(job.topic, metric, metrics[metric])
            there = [value for value in values if value is not None]
            ground = _ground(metrics[metric], len(there)) if there else item.reason(metric)
            lacking[f"{metric}: {ground}"] += not there
            mean = sum(there) / len(there) if there else None
            reading = ReadingRow(content_id(made, reader_id), made, metric, reader_id, None, ground, mean)
            found.readings[job].append(reading)
        lacking[item.failed] += not item.came
        if item.came:
            failed.update(item.failed_repeats())
    repeats = max(len(values) for item in items.values() for values in (*item.scores.values(), ()))
    times = f", up to {repeats} scores each" if repeats > 1 else ""
    found.lines.append(f"{job.model}, {job.topic}: {len(items)} items{times}, scored by {', '.join(own) or 'nothing'}")
    for reason, number in sorted((+lacking).items()):
        found.lines.append(f"{job.model}, {job.topic}: {quantity(number, 'item')} without a score: {reason}")
    for reason, number in sorted(failed.items()):
        what = f"{number} x no score of an item that has one in another repeat, whose mean is without it"
        found.lines.append(f"{job.model}, {job.topic}: {what}: {reason}")


def _question(job: Job, key: _ScoreKey, unit: str) -> QuestionRow:
    item, same, version = key
    return QuestionRow(
        content_id("scored item", job.topic, job.language, item, same, version), job.topic, job.language, "open",
        f"{item} ({version})" if version else item, unit, "", "", [], [], [], [], [],
        {"condition": version} if version else {}, [SCORE],
    )  # fmt: skip


def _repeats(rows: Sequence[ItemScore], metric: str, span: Range) -> list[float | None]:
    """The scores of an item by a metric, from 0 to 1, in the order of its repeats; None of a repeat that failed."""
    low, high = span
    scored = {one.repeat for one in rows if one.metric == metric}
    own = [one for one in rows if one.metric == metric or (not one.metric and one.repeat not in scored)]
    some = sorted(own, key=lambda one: (len(one.repeat), one.repeat))
    return [None if one.value is None else (one.value - low) / (high - low) for one in some]


def _ground(span: Range, repeats: int) -> str:
    """How a reading came about: a score, or the mean of several, and the range that it was scaled from."""
    mean = f"mean of {repeats}" if repeats > 1 else "score"
    return mean if span == (0.0, 1.0) else f"{mean}, {span[0]:g} to {span[1]:g} as 0 to 1"


def _reader_id(dataset: str, metric: str, span: Range) -> str:
    return content_id("scored", dataset, metric, span)


def _shared(found: ImportedScores) -> Iterator[str]:
    """How many items of each data set every model has, where they differ: the rest is in no comparison."""
    own: dict[str, dict[str, set[str]]] = defaultdict(dict)
    for job, rows in found.answers.items():
        own[f"{job.topic}, {job.language}" if job.language != NO_LANGUAGE else job.topic][job.model] = {
            row.question_id for row in rows
        }
    for where, models in own.items():
        every, shared = set[str]().union(*models.values()), set[str].intersection(*models.values())
        if shared != every:
            yield f"{where}: {len(shared)} of {len(every)} items are the same in the logs of all {len(models)} models"
