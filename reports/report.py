"""Writes a run's report: one HTML file that needs nothing else, and is the same bytes for the same store.

The evidence of a large run does not fit into one file. The rest is written in parts to a folder beside it. The page
loads the parts as scripts, so that it works from disk, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import replacing
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store_file import write_store_file
from polyculture.metrics import METRICS_LAYOUT
from polyculture.reports.building import build_sections, open_report
from polyculture.reports.escaping import packed
from polyculture.reports.evidence import read_evidence, read_parts
from polyculture.reports.page import render_page
from polyculture.reports.renewal import keep_made
from polyculture.reports.section import Section
from polyculture.reports.sections import OWN_SECTIONS


def write_report(
    run: RunFolder,
    catalog: Catalog | None = None,
    layout: Layout = METRICS_LAYOUT,
    sections: Sequence[Section] = OWN_SECTIONS,
    to: RunFolder | None = None,
    shown: str = "",
) -> Path:
    """Writes `report.html` from what is in the store, and its parts where it needs any; returns its path. Writes
    `store.duckdb`, too.

    The page holds those of the `sections` that have something to show, in their order. For `catalog` and `layout` see
    `open_report`. With `to`, a temporary folder, all is written there and nothing into the run. `shown`
    (`renewal.shown_id`) is kept, so that an unchanged report is not written again. Raises `StoreError` where there is
    no run, or where the file cannot be written.
    """
    place = to or run
    with open_report(run, catalog, layout, sections) as data:
        evidence = read_evidence(data.reading, data.manifest, data.names)
        page = render_page(data, build_sections(data, sections), evidence)
        written = _write_parts(place.report_data, read_parts(data.reading, evidence, data.names))
        if to is None:
            write_store_file(run, data.reading.store)
    written[place.report.name] = _write(place.report, page)
    if shown:
        keep_made(place, shown, written)
    return place.report


def _write_parts(folder: Path, parts: Iterator[tuple[str, dict[str, Any]]]) -> dict[str, str]:
    """Writes the parts as scripts that set a variable which the page's script reads; removes those of before.

    Returns their hashes by name.
    """
    written = {name: _write(folder / name, f'window.polyculturePart = "{packed(part)}";\n') for name, part in parts}
    for path in folder.glob("*.js"):
        if path.name not in written:
            path.unlink()
    if folder.is_dir() and not written:
        folder.rmdir()
    return written


def _write(file: Path, text: str) -> str:
    """Writes a file; returns the hash of what it wrote, not of a file that another process has put there since."""
    data = text.encode()
    with replacing(file) as temporary:
        temporary.write_bytes(data)
    return hashlib.sha256(data).hexdigest()
