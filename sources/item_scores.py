"""Scores of single items in the logs of harnesses: `item_scores.toml` says where they are.

A score is a number, true or false, or a letter of Inspect: C (correct) is 1, P (partial) .5, I (incorrect) and N (no
answer) 0. A row is a score of one metric; an item that failed has a row without a value, and the reason.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

from polyculture.cache.errors import UserError
from polyculture.cache.identity import content_id
from polyculture.cache.text.quantity import quantity
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.sources.cells import is_value
from polyculture.sources.directions import record_of, stated_directions
from polyculture.sources.files import data_files, json_beside, read_file
from polyculture.sources.lm_eval import model_of, older_samples, results_of, task_of
from polyculture.sources.record import FILE, BadRow, Record, shown

FIELDS = ("score", "metric", "model", "dataset", "language", "item", "repeat", "version", "cluster")
NO_LANGUAGE = "und"  # of items whose language no log gives: the code of BCP 47 for an undetermined one
NO_SCORE = "the log has no score"
_LOOKED_AT = 50  # records by which a log is known
_NAMED = 3  # files that a line names
_BROKEN_OFF = ("started", "cancelled", "error")  # the status of an evaluation of Inspect that did not end
_LARGEST_EXACT = 2**53  # a number beyond it is another one than its digits say
_LONGEST = 80  # characters of a name that are kept as they are
# Inspect's letters (scorer/_metric.py, value_to_float), and words that mean the same there.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


@dataclass(frozen=True, slots=True)
class ItemScore:
    """A score of one answer to an item by one metric; without a `value` the reason why there is none."""

    row: str  # the log, and the row in it
    dataset: str
    model: str
    language: str
    item: str
    same: str  # a hash of what the log says of the item; '' where it says nothing
    repeat: str
    version: str  # a variant of the item; '' is the item itself
    metric: str
    value: float | None
    reason: str = ""
    clusters: Mapping[str, str] = field(default_factory=dict)  # what it belongs to, by column


@dataclass
class Log:
    """What one log has."""

    path: Path
    scores: list[ItemScore] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)  # what of its rows is no score, by reason
    broken_off: str = ""  # the status of an evaluation that did not end, of which this is a part
    better: Mapping[tuple[str, str], str] = field(default_factory=dict)  # 'low' or 'high', by data set and metric


@dataclass(frozen=True)
class LogShape:
    """A shape of `item_scores.toml`; the plain one has the columns that a user names."""

    name: str
    scores: str
    needs: Sequence[str] = ()
    rows: Sequence[str] = ()
    beside: str = ""
    within: Sequence[str] = ("",)
    bookkeeping: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)

    def fits(self, record: Record) -> bool:
        """Whether a record is of this shape."""
        return record.has_all(self.needs)

    def records(self, record: Record) -> Iterator[Record]:
        """The records within a record; itself where it has none."""
        return record.within(self.rows)


@dataclass(frozen=True)
class LogReader:
    """Reads logs, by the columns that a user names in the place of those of their shape; `=VALUE` is said of all rows.

    Raises `UserError` for a log that lacks what nobody may invent: a model, an item, or a score.
    """

    told: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None
    skip_rows: bool = False  # leaves out rows that cannot be read

    def read(self, path: Path) -> Iterator[Log | str]:
        """The logs of a file or folder. Of a folder, a line names the files that are no logs."""
        files = data_files(path)
        older = older_samples(files)
        for file, newer in older.items():
            yield f"{file}: left out, as {newer.name} beside it is a later log of the same task"
        found, others, beside = 0, dict[Path, str](), set[Path]()
        for file in (one for one in files if one not in older):
            rows = read_file(file)
            alone = file == path
            try:
                head = list(islice(rows, _LOOKED_AT))
            except UserError as fault:
                if alone:
                    raise
                others[file] = fault.what
                continue
            shape = self._shape(file, [row for row in head if isinstance(row, Record)], forced=alone)
            if shape is None and alone:
                known = ", ".join(known_logs())
                remedy = f"Known are the logs of {known}. Of a table, say: score=COLUMN item=COLUMN model=COLUMN."
                raise UserError("is no log with scores of items", where=file, remedy=remedy)
            if shape is None:
                others[file] = next((f"row {row.row}: {row.reason}" for row in head if isinstance(row, BadRow)), "")
                continue
            found += 1
            beside |= {results_of(file), record_of(file), file.with_name(shape.beside or file.name)}
            self._check_columns(file, shape, head)
            yield self._log(file, shape, chain(head, rows))
        unread = [
            file.relative_to(path).as_posix() + (f" ({why})" if why else "")
            for file, why in others.items()
            if file not in beside
        ]
        if unread and found:
            more = ", ..." if len(unread) > _NAMED else ""
            number = quantity(len(unread), "file")
            yield f"{number} not read, without scores of items: {', '.join(unread[:_NAMED])}{more}"
        if not found:
            what = "holds no log with scores of items"
            raise UserError(what, where=path, remedy=f"Known are the logs of {', '.join(known_logs())}.")

    def _check_columns(self, file: Path, shape: LogShape, head: Sequence[Record | BadRow]) -> None:
        """Raises `UserError` of a column that a user names and none of the first records has."""
        records = [one for row in head if isinstance(row, Record) for one in shape.records(row)]
        beside = ("@", "beside.")  # of files, and not of their records
        for name, column in self.told.items():
            if column.startswith(("=", *beside)) or any(one.has(column) for one in records):
                continue
            known = dict.fromkeys(key for one in records for key in _columns_of(one.values))
            what = f"{name}={column}: no row has this column"
            raise UserError(what, where=file, remedy=did_you_mean(column, list(known)))

    def _shape(self, file: Path, records: Sequence[Record], *, forced: bool) -> LogShape | None:
        """The shape of a log; `forced`: that of the format that a user names, whatever it has."""
        if self.format is not None:
            if self.format not in known_logs():
                remedy = did_you_mean(self.format, list(known_logs()), otherwise=f"Known: {', '.join(known_logs())}.")
                raise UserError(f"--format {self.format}: there is no such log of scores", where=file, remedy=remedy)
            named = known_logs()[self.format]
            return named if forced or any(map(named.fits, records)) else None
        fitting = (shape for shape in known_logs().values() if any(map(shape.fits, records)))
        plain = LogShape("table", "columns") if "score" in self.told and "item" in self.told else None
        return next(fitting, plain)

    def _log(self, file: Path, shape: LogShape, rows: Iterator[Record | BadRow]) -> Log:
        log, stated = Log(file), {} if self._renames_metrics else stated_directions(file, shape.name)
        more: dict[str, Any] = {FILE: file.stem, "@task": task_of(file)}
        if shape.name == "lm-eval":
            more["@model"] = model_of(file)
        if shape.beside:
            more["beside"] = json_beside(file.with_name(shape.beside))
        for row in rows:
            if isinstance(row, BadRow):
                if row.lost and not self.skip_rows:
                    remedy = "Is the file whole? --skip-rows leaves out what cannot be read."
                    raise UserError(f"row {row.row} is {row.reason}", where=file, remedy=remedy)
                log.left_out[f"row {row.reason}"] += 1
                continue
            for one in shape.records(row):
                self._take(log, shape, replace(one, values={**more, **one.values}))
        if not log.scores:
            why = "".join(f": {reason}" for reason in islice(log.left_out, 1))
            raise UserError(f"has no score of an item{why}", where=file, remedy="Name its column: score=COLUMN.")
        if stated:
            metrics = {(one.dataset, one.metric) for one in log.scores}
            found = {(of, name): _stated(stated, of, name) for of, name in metrics}
            log.better = {key: better for key, better in found.items() if better}
        return log

    @property
    def _renames_metrics(self) -> bool:
        """Whether a user says what is scored: what the log says of its own metrics is then of others."""
        return not self.told.keys().isdisjoint(("score", "metric", "dataset"))

    def _take(self, log: Log, shape: LogShape, record: Record) -> None:
        """Adds the scores of a record to its log."""
        row = f"{log.path.name}:{record.row}"
        if "status" in shape.columns and (status := record.get(shape.columns["status"])) in _BROKEN_OFF:
            log.broken_off = status
        said = {name: self._said(name, record, shape) for name in FIELDS}
        for needed in ("model", "item"):
            if said[needed] is None:
                what = f"row {record.row} names no {needed}"
                raise UserError(what, where=log.path, remedy=f"Say it: {needed}=COLUMN, or {needed}==NAME.")
        dataset = _dataset(said["dataset"] or log.path.stem, shape)
        known = (row, dataset, said["model"] or "", said["language"] or NO_LANGUAGE, said["item"] or "")
        same = record.get(shape.columns["same"]) if "same" in shape.columns and "item" not in self.told else None
        own = ItemScore(
            *known,
            content_id(_wording(same)) if same is not None else "",
            said["repeat"] or "",
            said["version"] or "",
            "",
            None,
            clusters=dict(self._clusters(record, shape)),
        )
        scores = list(self._scores(record, shape))
        error = record.get(shape.columns["error"]) if "error" in shape.columns else None
        if is_value(error) or not scores:
            log.scores.append(replace(own, reason=shown(error) if is_value(error) else NO_SCORE))
            return
        for metric, value in scores:
            number, reason = number_of(value), ""
            if number is None:
                is_missing = value is None or value == ""
                reason = f"{NO_SCORE} by {metric}" if is_missing else f"its score is no number: {_kind(value)}"
            log.scores.append(replace(own, metric=metric, value=number, reason=reason))

    def _said(self, name: str, record: Record, shape: LogShape) -> str | None:
        """A field of a record as text; None where it does not say it."""
        path = self.told.get(name, shape.columns.get(name, ""))
        value = path[1:] if path.startswith("=") else record.get(path) if path else None
        if isinstance(value, float) and abs(value) > _LARGEST_EXACT:
            what = f"row {record.row}: {name} is a number too large to be read exactly ({value:g})"
            raise UserError(what, remedy=f"Write it as text, or name another column: {name}=COLUMN.")
        return str(value).strip() or None if is_value(value) else None

    def _clusters(self, record: Record, shape: LogShape) -> Iterator[tuple[str, str]]:
        told = self.told.get("cluster")
        for path in (told,) if told else (f"{within}{name}" for within in shape.within for name in _cluster_names()):
            value = path[1:] if path.startswith("=") else record.get(path)
            if is_value(value):
                yield path, _short(str(value))

    def _scores(self, record: Record, shape: LogShape) -> Iterator[tuple[str, Any]]:
        if (column := self.told.get("score")) is not None:
            yield self._said("metric", record, shape) or column, record.get(column)
            return
        for metric, value in _SCORES[shape.scores](record):
            if not (shape.bookkeeping and re.fullmatch(shape.bookkeeping, metric)):
                yield self._said("metric", record, shape) or metric, value


def _stated(stated: Mapping[tuple[str, str], str], dataset: str, metric: str) -> str:
    """What is good in a metric; one of lm-evaluation-harness may have a filter behind its name."""
    name = metric.partition(",")[0]
    return stated.get((dataset, metric)) or stated.get(("", metric)) or stated.get(("", name), "")


def number_of(value: Any) -> float | None:
    """A score as a number; None where it is none, and of NaN."""
    if isinstance(value, str):
        value = _LETTERS.get(value, _LETTERS.get(value.lower(), value))
    if isinstance(value, str) and "_" in value:  # a number of Python's own notation, and of no log
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


@cache
def known_logs() -> Mapping[str, LogShape]:
    """The shapes of `item_scores.toml`, by name."""
    found = {}
    for name, keys in _declared().items():
        if name != "clusters":
            own = {key: value for key, value in keys.items() if key in LogShape.__dataclass_fields__}
            columns = {key: value for key, value in keys.items() if key not in {*own, "system", "source"}}
            found[name] = LogShape(name, **own, columns=columns)
    return found


@cache
def _declared() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("item_scores.toml").read_text(encoding="utf-8"))


def _cluster_names() -> Sequence[str]:
    names: Sequence[str] = _declared()["clusters"]["names"]
    return names


def _columns(record: Record) -> Iterator[tuple[str, Any]]:
    """Metrics of lm-evaluation-harness: columns that `metrics` names, or numbers; with the filter of answers."""
    filter, named = record.values.get("filter"), record.values.get("metrics")
    after = f",{filter}" if filter not in (None, "none") else ""
    for name, value in record.values.items():
        if name in named if isinstance(named, list) else isinstance(value, bool | int | float):
            yield f"{name}{after}", value


def _scorers(record: Record) -> Iterator[tuple[str, Any]]:
    """Scores of Inspect, each with a value, or with one for each of several names."""
    scores = record.values.get("scores")
    for scorer, score in (scores if isinstance(scores, Mapping) else {}).items():
        value = score.get("value") if isinstance(score, Mapping) else score
        if isinstance(value, Mapping):
            yield from ((f"{scorer}.{name}", one) for name, one in value.items())
        else:
            yield str(scorer), value


def _stats(record: Record) -> Iterator[tuple[str, Any]]:
    """Statistics of HELM, of one answer each; without a mean the sum over the count."""
    stats = record.values.get("stats")
    for stat in stats if isinstance(stats, list) else ():
        one = Record("", stat if isinstance(stat, Mapping) else {})
        mean, total, count = (number_of(one.get(name)) for name in ("mean", "sum", "count"))
        value = mean if mean is not None else total / count if total is not None and count else None
        yield str(one.get("name.name") or one.get("name") or ""), value


def _evaluation(record: Record) -> Iterator[tuple[str, Any]]:
    yield "score", record.get("evaluation.score")


_SCORES: Mapping[str, Callable[[Record], Iterator[tuple[str, Any]]]] = {
    "columns": _columns,
    "scorers": _scorers,
    "stats": _stats,
    "evaluation": _evaluation,
}


def _columns_of(values: Mapping[str, Any]) -> Iterator[str]:
    """The columns of a row, and those of the tables in it."""
    for name, value in values.items():
        yield from (f"{name}.{inner}" for inner in value) if isinstance(value, Mapping) else (name,)


def _wording(content: Any) -> Any:
    """What an item asks, without the ids of messages, which are drawn anew in each evaluation."""
    if not isinstance(content, list):
        return content
    return [[one.get("role"), one.get("content")] if isinstance(one, Mapping) else one for one in content]


def _dataset(name: str, shape: LogShape) -> str:
    """The name of a data set; a run of HELM is called by what it asks, without the model."""
    if shape.name != "helm":
        return name
    task, _, arguments = name.partition(":")
    kept = [one for one in arguments.split(",") if one and not one.startswith(("model=", "model_deployment="))]
    return f"{task}:{','.join(kept)}" if kept else task


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else "a table" if isinstance(value, Mapping) else repr(shown(value))


def _short(name: str) -> str:
    """A name of a group of items; a long text, as a passage is, by its beginning and a hash."""
    return name if len(name) <= _LONGEST else f"{shown(name)[: _LONGEST // 2]}… {content_id(name)[:8]}"
