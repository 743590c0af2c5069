"""Writes a run's report: one HTML file that needs nothing else, and is the same bytes for the same store.

The evidence of a large run does not fit into one file. The rest is written in parts to a folder beside it. The page
loads the parts as scripts, so that it works from disk, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import replacing
from polyculture.cache.layout import Layout
from polyculture.cache.run_folder import RunFolder
from polyculture.metrics import METRICS
from polyculture.reports.building import build_sections, open_report
from polyculture.reports.escaping import packed
from polyculture.reports.evidence import read_evidence, read_parts
from polyculture.reports.page import render_page
from polyculture.reports.section import Section
from polyculture.reports.sections import OWN_SECTIONS


def write_report(
    run: RunFolder,
    catalog: Catalog | None = None,
    layout: Layout = METRICS,
    sections: Sequence[Section] = OWN_SECTIONS,
    to: RunFolder | None = None,
) -> Path:
    """Writes `report.html` from what is in the store, and its parts where it needs any; returns its path.

    The page holds those of the `sections` that have something to show, in their order. For `catalog` and `layout` see
    `open_report`. With `to`, a temporary folder, all is written there and nothing into the run. Raises `StoreError`
    where there is no run, or where the file cannot be written.
    """
    place = to or run
    with open_report(run, catalog, layout, sections, None if to is None else to.store) as data:
        evidence = read_evidence(data.reading, data.manifest, data.names)
        page = render_page(data, build_sections(data, sections), evidence)
        _write_parts(place.report_data, read_parts(data.reading, evidence, data.names))
    with replacing(place.report) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return place.report


def _write_parts(folder: Path, parts: Iterator[tuple[str, dict[str, Any]]]) -> None:
    """Writes the parts as scripts that set a variable which the page's script reads; removes those of before."""
    written = set()
    for name, part in parts:
        with replacing(folder / name) as temporary:
            temporary.write_text(f'window.polyculturePart = "{packed(part)}";\n', encoding="utf-8")
        written.add(name)
    for path in folder.glob("*.js"):
        if path.name not in written:
            path.unlink()
    if folder.is_dir() and not written:
        folder.rmdir()
