"""The standing of a run as a matrix for people, live or once, and as rows for programs."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from polyculture.cache.database import connect
from polyculture.cache.run_folder import Job
from polyculture.cli.options import Format
from polyculture.cli.tables import make_table, print_rich, print_table, write_rows
from polyculture.console import say
from polyculture.experiment.workspace import Workspace, open_workspace
from polyculture.running.batching import waiting_line
from polyculture.running.run_status import STAGES, RunStanding, Standing, take_standing

if TYPE_CHECKING:
    from rich.table import Table

LIVE_EVERY = 2.0  # seconds between two looks
COLUMNS = ("model", "language", "topic", *STAGES)
ROWS = ("model", "language", "topic", "stage", "total", "done", "failed", "failed_to_retry", "left", "running")


def print_standing(workspace: Workspace) -> None:
    """The matrix, what became of the stages that take all jobs at once, and the command that goes on."""
    standing = take_standing(workspace)
    print_rich(_matrix(workspace, standing))
    others = [one for one in standing.jobs if one.stage not in STAGES]
    if others:
        print_table(("stage", "model", "language", "of", "what"), [_instrument_row(one) for one in others])
    print_table(("stage", "standing"), _whole(workspace, standing))
    if any(one.open for one in standing.jobs):
        print_table(("to go on",), [(f"polyculture run {workspace.file}",)])


def watch_standing(workspace: Workspace) -> None:
    """The matrix, again and again until nothing is left or Ctrl-C; a line each time where there is no terminal."""
    try:
        if sys.stdout.isatty():
            _watch_on_terminal(workspace)
        else:
            _watch_in_lines(workspace)
    except KeyboardInterrupt:
        say("polyculture: the watch is over; what runs goes on")


def write_standing(workspace: Workspace, format: Format, output: Path | None) -> None:
    """A row per job and stage."""
    rows = [dict(zip(ROWS, _row(one), strict=True)) for one in take_standing(workspace).jobs]
    with connect() as connection:
        write_rows(connection.from_arrow(pa.Table.from_pylist(rows)), format, output)


def _watch_on_terminal(workspace: Workspace) -> None:
    from rich.live import Live

    standing = take_standing(workspace)
    with Live(_matrix(workspace, standing), auto_refresh=False) as live:
        while not standing.finished:
            time.sleep(LIVE_EVERY)
            standing = take_standing(_again(workspace))
            live.update(_matrix(workspace, standing), refresh=True)


def _watch_in_lines(workspace: Workspace) -> None:
    said = ""
    while True:
        standing = take_standing(_again(workspace))
        line = "; ".join(f"{stage}: {words}" for stage, words in _totals(standing))
        if line != said:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        if standing.finished:
            return
        said = line
        time.sleep(LIVE_EVERY)


def _again(workspace: Workspace) -> Workspace:
    """The same, read anew: its first run may have begun meanwhile."""
    return open_workspace(workspace.file, workspace.run.root.parent)


def _matrix(workspace: Workspace, standing: RunStanding) -> Table:
    by_job: dict[Job, list[Standing]] = {}
    for one in standing.jobs:
        if one.stage in STAGES:
            by_job.setdefault(one.job, []).append(one)
    rows = [(job.model, job.language, job.topic, *map(_cell, stages)) for job, stages in by_job.items()]
    return make_table(COLUMNS, rows, title=str(workspace.run.root))


def _cell(one: Standing) -> str:
    """'120 done, 3 failed, 377 left, running': what is nought is left out."""
    counts = {"done": one.done, "failed": one.failed - one.again, "failed, to retry": one.again, "left": one.left}
    words = [f"{count} {name}" for name, count in counts.items() if count]
    return ", ".join([*words, *(["running"] if one.running else [])]) or "nothing to do"


def _instrument_row(one: Standing) -> tuple[object, ...]:
    return (one.stage, one.job.model, one.job.language, one.job.topic, _cell(one))


def _whole(workspace: Workspace, standing: RunStanding) -> list[tuple[str, str]]:
    link = f"{standing.surfaces_linked} surfaces done, {standing.surfaces_left} left"
    report = str(workspace.run.report) if standing.reported else "not written yet"
    waits = waiting_line(workspace.run)
    batches = [("batches", waits)] if waits else []
    return [*_totals(standing), *batches, ("link", link), ("report", report)]


def _totals(standing: RunStanding) -> list[tuple[str, str]]:
    stages = dict.fromkeys((*STAGES, *(one.stage for one in standing.jobs)))
    return [(stage, _total([one for one in standing.jobs if one.stage == stage])) for stage in stages]


def _total(jobs: list[Standing]) -> str:
    done, failed, left = (sum(getattr(one, name) for one in jobs) for name in ("done", "failed", "left"))
    running = sum(one.running for one in jobs)
    return f"{done} done, {failed} failed, {left} left, {running} of {len(jobs)} jobs running"


def _row(one: Standing) -> tuple[object, ...]:
    job = one.job
    return (job.model, job.language, job.topic, one.stage, one.total, one.done, one.failed, one.again, one.left,
            one.running)  # fmt: skip
