"""The report's section on corpora: which entity of a pair they make the more probable."""

from __future__ import annotations

from pathlib import Path

from polyculture.reports.section import ReportTable
from polyculture.reports.table_section import Column, counted, measured, number, table_section, written

_FOLDER = Path(__file__).parent
SECTIONS = (
    table_section(
        "corpora",
        ReportTable(_FOLDER / "corpus_outcomes.sql"),
        _FOLDER / "section.toml",
        (
            Column("Contexts", written("setting"), is_number=False),
            Column("Western more", measured("rate", "western_more")),
            Column("Native more", measured("rate", "native_more")),
            Column("Tied", number("rate", "tied")),
            Column(
                "Unseen",
                number("rate", "unseen"),
                "of all pairs: the corpus holds neither entity behind the context",
            ),
            Column("Contexts", counted("contexts")),
            Column("Pairs", counted("pairs")),
        ),
    ),
)
