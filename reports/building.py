"""Builds the sections of a report from a run's store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.run_folder import RunFolder
from polyculture.metrics.declared import COMPARED
from polyculture.metrics.limits import disqualified
from polyculture.reports.headline import totals
from polyculture.reports.metric_figures import FigureSection
from polyculture.reports.names import Names
from polyculture.reports.reading import SQL, read_store
from polyculture.reports.section import ReportData, Section
from polyculture.reports.texts import SectionTexts, section_texts


@dataclass(frozen=True)
class BuiltSection:
    """A section that has something to show."""

    section: Section
    texts: SectionTexts
    context: object


@contextmanager
def open_report(
    run: RunFolder,
    catalog: Catalog | None,
    layout: Layout,
    sections: Sequence[Section],
) -> Iterator[ReportData]:
    """What the sections are built from, while the block lasts. Raises `StoreError` where there is no run.

    `catalog` names languages, countries and topics; the default is the one that Polyculture ships. `layout` has the
    tables and views of the store that the sections read.
    """
    _check_names(sections)
    manifest = require_run(run)
    names = Names(catalog or read_catalog(), tuple(manifest.models))
    titles = {
        key: title for section in sections for key, title in section_texts(section.texts, section.name).boards.items()
    }
    with read_store(run, layout) as reading:
        data = ReportData(reading, manifest, names, layout, board_titles=titles)
        yield replace(data, about_texts=_about_texts(data, sections))


def build_sections(data: ReportData, sections: Sequence[Section]) -> list[BuiltSection]:
    """Those of the sections that have something to show, in their order.

    Of a metric that the run's sources fix, the section stands behind those of the other metrics, folded. One whose
    figure shows nothing is folded where it stands.
    """
    fixed = disqualified(data.manifest)
    behind = max((at for at, section in enumerate(sections) if section.name in COMPARED), default=0)
    moved = [replace(section, first=False) for section in sections if section.name in fixed]
    others = [section for section in sections[: behind + 1] if section.name not in fixed]
    contexts = ((section, section.build(data)) for section in (*others, *moved, *sections[behind + 1 :]))
    return [
        BuiltSection(
            replace(section, first=False) if _shows_nothing(context) else section,
            section_texts(section.texts, section.name),
            context,
        )
        for section, context in contexts
        if context is not None
    ]


def _shows_nothing(context: object) -> bool:
    return isinstance(context, FigureSection) and not context.figure.rows


def _about_texts(data: ReportData, sections: Sequence[Section]) -> bool:
    """Is the report about texts? True where models wrote some, and where no other section has anything to show."""
    written = totals(data.reading.rows(SQL / "health.sql")).get("answered", 0)
    return bool(written) or all(section.build(data) is None for section in sections if not section.needs_texts)


def _check_names(sections: Sequence[Section]) -> None:
    anchors = [section.name for section in sections]
    tables = [table.name for section in sections for table in section.tables]
    for what, names in (("sections", anchors), ("tables", tables)):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two {what} of the report have the same name: {', '.join(twice)}")
