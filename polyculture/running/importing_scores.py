"""Imports scores of items from the logs of other harnesses: experiment file, run and numbers. No model is asked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import orjson

from polyculture.cache.errors import ExperimentError, UserError
from polyculture.cache.log import get_logger
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.parquet import present_rows, read_rows
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.experiment.file import read_experiment
from polyculture.experiment.own import add_models
from polyculture.experiment.workspace import Workspace
from polyculture.instruments.contract import PrintedTable, Study
from polyculture.instruments.declared import Inquiry
from polyculture.instruments.questions.asking import AskJob
from polyculture.instruments.questions.instrument import ASK
from polyculture.instruments.questions.layout import ANSWERS, QUESTIONS, READINGS, SCORED, WANTED_ANSWERS, QuestionRow
from polyculture.instruments.questions.numbers.measure import measure_questions
from polyculture.instruments.questions.reading_step import ImportStep
from polyculture.instruments.questions.scored import BETTER, ImportedScores, scored_rows
from polyculture.instruments.questions.shown import SCORES
from polyculture.metrics.declared import Range
from polyculture.running.calls import ExperimentAsked
from polyculture.running.importing_answers import take_in
from polyculture.running.layout import layout_of
from polyculture.running.opening import open_workspace
from polyculture.sources.item_scores import ItemScore, Log, LogReader

_log = get_logger(__name__)
_STORED = """
SELECT model, topic, language, list(DISTINCT question_id), list_distinct(flatten(list(json_keys(raw))))
FROM answers WHERE method = $method AND raw IS NOT NULL GROUP BY ALL ORDER BY ALL
"""
_READERS = """
SELECT DISTINCT a.model, a.topic, a.language, r.reader, r.reader_id
FROM answers AS a INNER JOIN answer_readings AS r USING (answer_id) WHERE a.method = $method ORDER BY ALL
"""
_UNITS = """
SELECT a.model, a.topic, a.language, q.question_id, q.unit
FROM answers AS a INNER JOIN questions AS q USING (question_id) WHERE a.method = $method ORDER BY ALL
"""
_INSTRUMENT = "questions"
RANGE = "range="  # begins an argument that says from where to where a metric goes: 'range=judge=1..10'


def import_scores(
    logs: Sequence[Path],
    experiment: Path,
    runs: Path | None,
    reader: LogReader,
    ranges: Mapping[str, Range],
) -> tuple[Workspace, Study]:
    """Takes the scores of logs into a run, and measures them; returns what to show.

    Raises `UserError` where a log cannot be read, or has no score that can be taken.
    """
    if experiment.exists():
        known = read_experiment(experiment)
        if known.languages and known.topics and not known.imported:
            what = "generates texts of its own: imported scores need an experiment without"
            raise ExperimentError(what, where=experiment, remedy="Name another file with --as.")
    scores, remarks, better = _read(logs, reader)
    scored = scored_rows(scores, ranges, better)
    for line in (*remarks, *scored.lines):
        _log.info(line)
    if experiment.exists():  # what is refused changes no file
        for line in _beside_stored(open_workspace(experiment, runs), scored):
            _log.info(line)
    add_models(experiment, scored.models)
    workspace = open_workspace(experiment, runs)
    asked = ExperimentAsked(workspace)

    def derive() -> None:
        measure_questions(workspace.run)

    found = Inquiry[AskJob](
        (),
        lambda _jobs: [ImportStep(ANSWERS, scored.answers, scored.ids), ImportStep(READINGS, scored.readings)],
        lambda _jobs: present_rows(workspace.run, QUESTIONS, _with_stored(workspace, scored)),
        requests=lambda _jobs: present_rows(workspace.run, WANTED_ANSWERS, scored.wanted),
        derive=derive,
        shown=[PrintedTable(SCORES, {"dataset": scored.datasets, "metric": list(scored.metrics)})],
        reason=f"{', '.join(scored.datasets)}: not all items are among the questions now",
    )
    study = ASK.study_of(asked, found)
    take_in(workspace, study)
    return workspace, study


def read_ranges(words: Sequence[str]) -> dict[str, Range]:
    """`judge=1..10` as the range of a metric. Raises `UserError` of what is none."""
    ranges = {}
    for word in words:
        metric, _, span = word.rpartition("=")
        low, dots, high = span.partition("..")
        try:
            ends = float(low), float(high)
        except ValueError:
            ends = math.nan, math.nan
        if not metric or not dots or not -math.inf < ends[0] < ends[1] < math.inf:
            raise UserError(f"{RANGE}{word} is no range=METRIC=LOW..HIGH", remedy="Write it so: range=judge=1..10.")
        ranges[metric] = ends
    return ranges


def _read(logs: Sequence[Path], reader: LogReader) -> tuple[list[ItemScore], list[str], dict[tuple[str, str], str]]:
    """The scores of all logs, lines on what of them is none, and what is good by data set and metric."""
    scores: list[ItemScore] = []
    remarks: list[str] = []
    better: dict[tuple[str, str], str] = {}
    said_by: dict[tuple[str, str], Path] = {}
    for path in logs:
        if not path.exists():
            raise UserError(
                "there is no such file", where=path, remedy="Name the log of a harness, or a folder of logs."
            )
        for one in reader.read(path):
            if isinstance(one, Log):
                scores += one.scores
                for key, good in one.better.items():
                    if better.setdefault(key, good) != good:
                        raise _contradiction(*key, good, better[key], said_by[key], one.path)
                    said_by.setdefault(key, one.path)
                remarks += [f"{one.path}: {number} x left out: {why}" for why, number in one.left_out.items()]
                if one.broken_off:
                    said = f"the evaluation did not end (status {one.broken_off!r})"
                    remarks.append(f"{one.path}: {said}, so that its items are a part of those that it should ask")
            else:
                remarks.append(one)
    return scores, remarks, better


def _contradiction(dataset: str, metric: str, good: str, other: str, by: Path | str, where: Path | None) -> UserError:
    what = f"{dataset}: {good}er {metric} is better here, and {other}er in {by}"
    remedy = "One of the logs is wrong, or they mean two metrics: import them into experiments of their own."
    return UserError(what, where=where, remedy=remedy)


def _beside_stored(workspace: Workspace, scored: ImportedScores) -> list[str]:
    """A line for each model and data set whose earlier scores have items or metrics that the new ones lack.

    Raises `UserError` where scores of other models in a data set are stored that the new ones cannot stand beside:
    items that are grouped in another way, a metric of another range, or one in which the opposite is good.
    """
    layout = layout_of(workspace.run)
    if not workspace.run.manifest.exists() or ANSWERS not in layout.tables:
        return []
    now = {
        (job.model, job.topic, job.language): (
            {row.question_id for row in rows if row.raw},
            {metric for row in rows for metric in orjson.loads(row.raw or "{}")},
        )
        for job, rows in scored.answers.items()
    }
    _keep_directions(workspace.run, scored)
    with open_store(workspace.run, layout) as store:
        stored = store.execute(_STORED, {"method": SCORED}).fetchall()
        readers = store.execute(_READERS, {"method": SCORED}).fetchall()
        units = store.execute(_UNITS, {"method": SCORED}).fetchall()
    _check_stored(scored, [row for row in readers if row[:3] not in now], [row for row in units if row[:3] not in now])
    lines = []
    for model, dataset, language, items, metrics in stored:
        own_items, own_metrics = now.get((model, dataset, language), (set(items), set(metrics)))
        no_more = sorted(set(metrics) - own_metrics)
        if number := len(set(items) - own_items):
            no_more.insert(0, f"{number} of {len(items)} items")
        if no_more:
            what = f"{model}, {dataset}: these scores replace the earlier ones, which also had {', '.join(no_more)}"
            lines.append(f"{what}; name both logs in one command to keep both")
    return lines


def _keep_directions(run: RunFolder, scored: ImportedScores) -> None:
    """Says of new scores what is good in a metric, where only earlier logs said it."""
    stored = {one.what: one for one in require_run(run).asked.get(_INSTRUMENT, ()) if one.reads}
    for at, one in enumerate(scored.ids):
        known = stored[one.what].settings.get(BETTER) if one.reads and one.what in stored else None
        if known and one.settings.get(BETTER, known) != known:
            dataset = max((name for name in scored.datasets if one.what.startswith(f"{name} ")), key=len)
            metric = one.what.removeprefix(f"{dataset} ")
            raise _contradiction(dataset, metric, one.settings[BETTER], known, "the scores that are there", None)
        if known:
            scored.ids[at] = one.model_copy(update={"settings": {**one.settings, BETTER: known}})


def _check_stored(scored: ImportedScores, readers: Iterable[Sequence[str]], units: Iterable[Sequence[str]]) -> None:
    remedy = "Name the logs of all models of the data set in one command."
    own = {(job.topic, row.reader): row.reader_id for job, rows in scored.readings.items() for row in rows}
    for model, dataset, _, metric, reader_id in readers:
        if own.get((dataset, metric), reader_id) != reader_id:
            raise UserError(f"{dataset}: {metric} of {model} was imported with another range", remedy=remedy)
    for model, dataset, _, question_id, unit in units:
        question = scored.questions.get(question_id)
        if question is not None and question.unit != unit:
            what = f"{dataset}: item {question.name} belongs to {question.unit} here, and to {unit} for {model}"
            raise UserError(what, remedy=f"{remedy} The groups are then the same for all.")


def _with_stored(workspace: Workspace, scored: ImportedScores) -> list[QuestionRow]:
    """The items of the logs, with those of the same data sets that other models have."""
    stored = workspace.run.table(QUESTIONS.name)
    rows = [QuestionRow(**row) for row in read_rows(stored, QUESTIONS).to_pylist()] if stored.exists() else []
    names = {(row.set, row.language) for row in scored.questions.values()}
    known = {row.question_id: row for row in rows if (row.set, row.language) in names}
    return list({**known, **scored.questions}.values())
