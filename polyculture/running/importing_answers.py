"""Imports answers to a question set into an experiment: its file, its run, its numbers. No model is asked."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.cache.errors import DataSetError, ExperimentError, UserError
from polyculture.cache.identity import content_id
from polyculture.cache.log import get_logger
from polyculture.cache.store.parquet import present_rows
from polyculture.experiment.file import read_experiment
from polyculture.experiment.own import add_models, own_file
from polyculture.experiment.workspace import Workspace
from polyculture.imports.count import Count
from polyculture.imports.mapping import check_told
from polyculture.imports.places import outward
from polyculture.imports.shapes import LOOKED_AT, PLAIN, find_source
from polyculture.imports.taking import digest_of
from polyculture.instruments.contract import Study
from polyculture.instruments.questions.given import AnswerFile, GivenAnswers
from polyculture.instruments.questions.instrument import ASK
from polyculture.instruments.questions.layout import ANSWERS, WANTED_ANSWERS
from polyculture.instruments.questions.matching import UnknownOrderError, likelihoods_of
from polyculture.instruments.questions.options import AskOptions
from polyculture.instruments.questions.reading_step import ImportStep
from polyculture.instruments.questions.selection import tell_remarks
from polyculture.instruments.questions.study import read_inquiry
from polyculture.running.calls import ExperimentAsked
from polyculture.running.importing import ImportRequest
from polyculture.running.opening import open_workspace
from polyculture.running.steps import StepRunner
from polyculture.running.validity import Proposal, make_valid
from polyculture.sources.record import Record, known_names

if TYPE_CHECKING:
    from polyculture.imports.shapes import ShapedFile
    from polyculture.instruments.questions.model import QuestionSet
    from polyculture.sources.record import ReadRecords

_log = get_logger(__name__)


def import_answers(
    path: Path, named: str, folder: Path | None, experiment: Path | None, runs: Path | None, wanted: ImportRequest
) -> tuple[Workspace, Study]:
    """Takes a file of answers to the set `named` into a run, reads and measures them; returns what to show.

    Raises `UserError` where the file has no answer to its questions, or one in an order that is none.
    """
    if not path.exists():
        raise UserError("there is no such file", where=path, remedy="Name a file, or a folder, of answers.")
    if experiment is not None and experiment.exists():
        known = read_experiment(experiment)
        if known.languages and known.topics and not known.imported:
            what = "generates texts of its own: imported answers need an experiment without"
            raise ExperimentError(what, where=experiment, remedy="Name another file with --as.")
    sets = AskOptions(set=named, folder=folder).opened()
    if len(sets) != 1 or sets[0].kind not in ("choice", "open"):
        what = f"--set {named}: answers are imported to one set of choices or open questions"
        raise DataSetError(what, remedy="Name one.")
    taken = _taken(path, sets[0], wanted)
    for line in taken.lines():
        _log.info(f"{path.name}: {line}")
    models = sorted({row.model for row in taken.answers.values()})
    experiment = experiment or own_file("ask", named)
    add_models(experiment, models)
    workspace = open_workspace(experiment, runs)
    asked = ExperimentAsked(workspace)
    tell_remarks(sets[0], _log.warning)
    ids = list(taken.ids.values())
    found = read_inquiry(asked, sets, lambda _jobs: [ImportStep(ANSWERS, list(taken.answers.values()), ids)])
    study = ASK.study_of(
        asked,
        replace(found, requests=lambda _jobs: present_rows(workspace.run, WANTED_ANSWERS, taken.wanted)),
    )
    take_in(workspace, study)
    return workspace, study


def take_in(workspace: Workspace, study: Study) -> None:
    """Takes the answers of a study, which somebody has already, into a run, and measures them."""
    make_valid(Proposal(workspace, "questions", study.validity, study.steps), accept_changes=False)
    runner = StepRunner(workspace=workspace)
    for step in study.steps:
        runner.run_step(step, tell_settled=False)
    study.derive()


def _taken(path: Path, of: QuestionSet, wanted: ImportRequest) -> GivenAnswers:
    source = find_source(path, wanted.format, wanted.inputs, wanted.columns)
    told = {name: column for name, column in wanted.columns.items() if not (name == "text" and source.shape.at)}
    columns = {**(source.shape.columns if source.shape.name != PLAIN or source.shape.finds_texts else {}), **told}
    if "id" not in wanted.columns:
        columns.pop("id", None)  # the one that a shape makes tells texts apart, not questions
    head = [row for row in islice(_rows(source), LOOKED_AT) if isinstance(row, Record)]
    if (among := next((row for row in head if row.at), None)) is not None and not source.shape.is_harness:
        usual = known_names()["names"]
        columns |= outward(among, {name: usual[name] for name in ("model", "language") if name not in told})
    check_told(head, wanted.columns, path)
    contents = content_id(digest_of(path), source.format, dict(wanted.columns))
    file = AnswerFile(of, columns, contents, path.stem, source.shape.finds_texts, wanted.skip_rows)
    count = Count()
    try:
        taken = file.take(_rows(source, count))
    except UnknownOrderError as fault:
        remedy = "Correct its column `order`, or leave such rows out with --skip-rows."
        raise UserError(str(fault), where=path, remedy=remedy) from fault
    count.check(path)
    if not taken.answers:
        first = next(iter((*taken.left_out, *taken.unmatched)), "it has no row")
        remedy = "Name its columns: id=, text=, prompt=, language=. See docs/question-sets.md."
        raise UserError(f"has no answer to a question of {of.name}: {first}", where=path, remedy=remedy)
    return taken


def _rows(source: ShapedFile, count: Count | None = None) -> ReadRecords:
    """A record per text; those of likelihoods as they are, behind all others.

    `count` sees each record, and what is made of it.
    """
    scored: list[Record] = []

    def texts() -> ReadRecords:
        for row in source.records():
            if isinstance(row, Record) and likelihoods_of(row) is not None:
                scored.append(row)
            else:
                yield row

    yield from source.shape.texts(texts(), count)
    yield from scored
