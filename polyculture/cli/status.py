"""`polyculture status`: the progress of a run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from polyculture.cache.log import get_logger
from polyculture.cache.text.sanitize import escape_control_chars
from polyculture.cli.options import ExperimentFile, Format, OutputFile, OutputFormat, Runs
from polyculture.cli.tables import print_table, write_values
from polyculture.experiment.imported import origin_line
from polyculture.experiment.workspace import Workspace
from polyculture.running.batching import waiting_line
from polyculture.running.changes import changed_lines
from polyculture.running.opening import open_workspace
from polyculture.running.reasons import failures_query
from polyculture.running.run_status import JobStatus, RunStatus, run_status
from polyculture.running.taken_answers import taken_lines

_log = get_logger(__name__)

FEW_JOBS = 12  # that are listed one by one without being asked for
MOST_MODELS = 8  # lines of a summary
StatusTable = tuple[Sequence[str], Sequence[Sequence[str]]]  # the columns of a table, and its rows
BY_JOB = ("stage", "model", "language", "topic", "progress")
ROWS = ("model", "language", "topic", "stage", "total", "done", "failed", "failed_to_retry", "left", "running")


def status(
    experiment: ExperimentFile,
    runs: Runs = None,
    jobs: Annotated[
        bool,
        typer.Option("--jobs", help="A line per job, however many there are; else a large run is summed up by model."),
    ] = False,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Print what is done, running, failed and left, per stage and job.

    A run of more than 12 jobs is summed up in a line per model; --jobs lists all.

    Reads only: it works before the first run, while others write, and on a full disk. As CSV or JSON it is a row per
    job and stage.
    """
    workspace = open_workspace(experiment, runs)
    for line in changed_lines(workspace, "what is done and left is of the file as it is now"):
        _log.warning(line)
    if format is Format.TABLE and output is None:
        print_standing(workspace, jobs)
    else:
        write_values(ROWS, [_row(one) for one in run_status(workspace).jobs], format, output)


def print_standing(workspace: Workspace, all_jobs: bool = False) -> None:
    """Prints the jobs or their sums by model, the stages over all jobs, and the command that continues the run."""
    status = run_status(workspace)
    summed = not all_jobs and len({one.job for one in status.jobs}) > FEW_JOBS
    columns, lines = _by_model(status.jobs) if summed else (BY_JOB, list(map(_by_job, status.jobs)))
    print_table(columns, lines, title=str(workspace.run.root))
    rows = _whole(workspace, status)
    rows += [("to go on", command) for command in _to_go_on(workspace, status)]
    if summed:
        rows.append(("all jobs", f"polyculture status {shlex.quote(str(workspace.file))} --jobs"))
    wide = max(len(label) for label, _ in rows)
    for label, value in rows:  # unbroken: paths and commands are copied from here
        sys.stdout.write(f"{label:<{wide}}  {escape_control_chars(value)}\n")


def _to_go_on(workspace: Workspace, status: RunStatus) -> list[str]:
    """The command that does what is left."""
    left = [one for one in status.jobs if one.count.is_open]
    return [f"polyculture run {shlex.quote(str(workspace.file))}"] if left else []


def _by_job(one: JobStatus) -> tuple[object, ...]:
    return (one.stage, one.job.model, one.job.language, one.job.topic, _cell(one))


def _by_model(jobs: Sequence[JobStatus]) -> StatusTable:
    """A line per stage and model with its jobs added up; of very many models the last ones together."""
    models = list(dict.fromkeys(one.job.model for one in jobs))
    alone = len(models) if len(models) <= MOST_MODELS else MOST_MODELS - 1
    shown, others = models[:alone], models[alone:]
    groups = [(model, {model}) for model in shown]
    groups += [(f"{len(others)} other models", set(others))] if others else []
    stages = dict.fromkeys(one.stage for one in jobs)
    rows = [
        (stage, name, _finished(mine), _sum(mine))
        for stage in stages
        for name, of in groups
        if (mine := [one for one in jobs if one.stage == stage and one.job.model in of])
    ]
    return ("stage", "model", "jobs", "progress"), rows


def _finished(jobs: Sequence[JobStatus]) -> str:
    """'72 of 78 done, 1 running'."""
    done, running = sum(not one.count.is_open for one in jobs), sum(one.running for one in jobs)
    return ", ".join([f"{done} of {len(jobs)} done", *([f"{running} running"] if running else [])])


def _sum(jobs: Sequence[JobStatus]) -> str:
    counts = _added(jobs)
    words = [f"{count:,} {name}" for name, count in zip(("done", "failed", "left"), counts, strict=True) if count]
    return ", ".join(words) or "nothing to do"


def _cell(one: JobStatus) -> str:
    """'120 done, 3 failed, 377 left, running': zero counts are omitted."""
    count = one.count
    failed = {"failed": count.failed - count.retryable, "failed, to retry": count.retryable}
    counts = {"done": count.done, **failed, "left": count.left}
    words = [f"{count} {name}" for name, count in counts.items() if count]
    return ", ".join([*words, *(["running"] if one.running else [])]) or "nothing to do"


def _whole(workspace: Workspace, status: RunStatus) -> list[tuple[str, str]]:
    surfaces = "surface" if status.surfaces_linked == 1 else "surfaces"
    link = f"{status.surfaces_linked} {surfaces} done, {status.surfaces_left} left"
    report = str(workspace.run.report) if status.reported else "not written yet"
    waits = waiting_line(workspace.run)
    batches = [("batches", waits)] if waits else []
    imports = (
        [("imported", origin_line(file)) for file in workspace.imports.files] if workspace.experiment.imported else []
    )
    taken = [("answers", line) for line in taken_lines(workspace.run, workspace.jobs)]
    return [
        *imports,
        *_totals(status),
        *taken,
        *batches,
        *(("spent", line) for line in status.money),
        *([("link", link)] if workspace.jobs else []),
        ("report", report),
        *_reasons(workspace, status),
    ]


def _reasons(workspace: Workspace, status: RunStatus) -> list[tuple[str, str]]:
    """The most frequent reasons of failures, and the command that lists all."""
    told = [("failed", f"{one}, {one.retryable} of them asked again") for one in status.reasons]
    return [*told, ("all reasons", failures_query(workspace.file))] if told else []


def _totals(status: RunStatus) -> list[tuple[str, str]]:
    stages = dict.fromkeys(one.stage for one in status.jobs)
    return [(stage, _total([one for one in status.jobs if one.stage == stage])) for stage in stages]


def _total(jobs: list[JobStatus]) -> str:
    done, failed, left = _added(jobs)
    running = sum(one.running for one in jobs)
    every = "1 job" if len(jobs) == 1 else f"{len(jobs)} jobs"
    return f"{done} done, {failed} failed, {left} left, {running} of {every} running"


def _added(jobs: Sequence[JobStatus]) -> tuple[int, int, int]:
    """What is done, failed and left of jobs together."""
    return (
        sum(one.count.done for one in jobs),
        sum(one.count.failed for one in jobs),
        sum(one.count.left for one in jobs),
    )


def _row(one: JobStatus) -> Sequence[object]:
    job, count = one.job, one.count
    return (job.model, job.language, job.topic, one.stage, count.total, count.done, count.failed, count.retryable,
            count.left, one.running)  # fmt: skip
