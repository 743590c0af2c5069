"""What a run's store comes to: its numbers and its report. Loads no engine, and nothing that asks."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import StoreError
from polyculture.cache.files import scratch_folder, store_faults
from polyculture.cache.log import get_logger
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.metrics import METRICS_LAYOUT
from polyculture.progress import watch
from polyculture.reports.limits import limit_line
from polyculture.running.layout import layout_of, report_sections, store_layout

if TYPE_CHECKING:
    from polyculture.reports.section import Section

_log = get_logger(__name__)


def measure_run(run: RunFolder, catalog: Catalog) -> None:
    """Computes all metrics, their intervals and differences over what a run's store holds."""
    from polyculture.metrics.measure import measure

    with watch("measure", 0) as progress:
        outcome = measure(run, progress, catalog)
    if outcome.done:
        _log.info(f"measure: {outcome.done} numbers with their intervals, {outcome.reused} of them before")
    else:
        _log.warning("measure: no text of this run has been extracted, so there is no number of texts")


def report_run(run: RunFolder, catalog: Catalog, to: RunFolder | None = None, more: Sequence[Section] = ()) -> Path:
    """Writes a run's report from what its store holds, where that has changed since; returns its path.

    With `to` it is written into that folder alone, and with `more` sections in any case: these are no part of the run.
    """
    from polyculture.reports.renewal import is_written, shown_id

    # Papers read what instruments measured, and so does the section that shows several of them side by side.
    layout = METRICS_LAYOUT if not more and layout_of(run) == METRICS_LAYOUT else store_layout()
    shown = "" if to or more else shown_id(run, catalog, layout)
    if shown and is_written(run, shown):
        return run.report

    from polyculture.reports.report import write_report  # pandas, which an unchanged report does not need

    return write_report(run, catalog, layout, (*report_sections(layout), *more), to, shown)


def report_copy(run: RunFolder, catalog: Catalog, path: Path) -> Path:
    """Writes a run's report to a file outside it, and nothing into the run; returns `path`.

    A large report has a folder `report-data` beside it. Raises `StoreError` where that cannot be written.
    """
    with scratch_folder("report") as folder:
        written = RunFolder(folder)
        report_run(run, catalog, to=written)
        data = path.parent / written.report_data.name
        if written.report_data.exists() and data.exists():
            remedy = "Write this report into a folder of its own."
            raise StoreError("is there already, and this report needs one, too", where=data, remedy=remedy)
        with store_faults(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if written.report_data.exists():
                shutil.copytree(written.report_data, data)
            shutil.copyfile(written.report, path)
    return path


def tell_limits(manifest: Manifest, place: str) -> None:
    """Says in one line what a run's sources rule out, and where a reader finds the rest of it."""
    line = limit_line(manifest, place)
    if line:
        _log.warning(line)
