"""Writes the study's tables (Zhao et al. 2025, MAKIEval) from what a run has stored, as CSV and LaTeX."""

from __future__ import annotations

from pathlib import Path

from polyculture.reports.paper_tables.paper import PaperAsked, ReportPaper, WrittenPaper, paper_folder

NAME = "makieval"
CELLS = "cells"


def _write(asked: PaperAsked) -> WrittenPaper:
    from polyculture.cache.manifest import read_manifest
    from polyculture.published.cells import published, read_published
    from polyculture.reports.names import Names
    from polyculture.reports.paper_tables.study_beside import Beside
    from polyculture.reports.paper_tables.study_files import table_files
    from polyculture.reports.paper_tables.study_tables import MEASURES, study_cells, study_tables
    from polyculture.reports.reading import read_store

    own = [one for one in read_published(asked.published) if one.paper == NAME] if asked.published else []
    # What the text says of diversity again differs from the table: the table's numbers stand.
    printed = [one for one in published(NAME) if one.metric in MEASURES and one.table != "text"]
    with read_store(asked.run, asked.layout) as reading:
        cells = study_cells(reading)
    manifest = read_manifest(asked.run.manifest)
    tables, folder = study_tables(cells), paper_folder(asked.run, NAME)
    names = Names(asked.catalog, tuple(manifest.models) if manifest else ())
    beside = Beside([*own, *printed], cells, manifest)
    texts = {f"{CELLS}.csv": beside.text()}
    for table in tables:
        texts |= table_files(table, beside, names)
    _write_texts(folder, texts)
    return WrittenPaper(
        folder, len(tables), len(texts), tuple(_notes(asked, len(tables), len(own), beside.matched(own)))
    )


def _write_texts(folder: Path, texts: dict[str, str]) -> None:
    from polyculture.cache.files import replacing

    for name, text in texts.items():
        with replacing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="")


def _notes(asked: PaperAsked, tables: int, own: int, matched: int) -> list[str]:
    notes = []
    if not tables:
        notes.append(f"Nothing of the study's metrics is measured yet: polyculture run {asked.experiment}")
    if asked.published:
        notes.append(f"{asked.published}: {own} cells of {NAME}, {matched} of them beside a number of this run")
    return notes


STUDY = ReportPaper(NAME, "MAKIEval", _write, of_data_set=False)
