"""The report's own sections: about texts that models wrote, leaderboards, and the method.

Sections of instruments are handed in; `with_instruments` puts them in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from polyculture.reports.section import ReportData, ReportTable, Section

_FOLDER = Path(__file__).parent
_SQL = _FOLDER / "sql"
_TEMPLATES = _FOLDER / "templates"
SAID = _FOLDER / "sections.toml"  # the texts of all of them, by name


def with_instruments(instruments: Sequence[Section]) -> tuple[Section, ...]:
    """The sections of a report, in the order of the page, with those of instruments among the report's own."""
    return (*TEXT_SECTIONS, *instruments, *CLOSING_SECTIONS)


def _later(name: str, *given: str, without_texts: bool = False) -> Callable[[ReportData], Any]:
    """The function `module.function` of this package, loaded when it is called; None where no text was written.

    What builds sections imports pandas and matplotlib; to list them must stay cheap.
    """
    module, _, function = name.partition(".")

    def build(data: ReportData) -> Any:
        if not (data.about_texts or without_texts):
            return None
        return getattr(import_module(f"polyculture.reports.{module}"), function)(*given, data)

    return build


def _tables(*names: str) -> tuple[ReportTable, ...]:
    return tuple(ReportTable(_SQL / f"{name}.sql") for name in names)


def _section(
    name: str, build: Callable[[ReportData], Any], *tables: ReportTable, template: str = "", first: bool = False
) -> Section:
    """A section with its template, where it shares none; one that is `first` stands open."""
    body = _TEMPLATES / f"{template or name}.html.jinja"
    return Section(name, build, body, SAID, tables, needs_texts=True, first=first)


def _figures(name: str, *tables: ReportTable, first: bool = False) -> Section:
    """The section of a metric's figures."""
    return _section(name, _later("metric_figures.build", name), *tables, template="figure", first=first)


# Tables whose intervals or p-values no SQL gives: Python computes them when they are read.
HEADLINE = ReportTable(_SQL / "headline.sql")
CLAIMS = ReportTable(_SQL / "claims.sql", computed=_later("claims.claims_frame", without_texts=True))
TEXTS = ReportTable(_SQL / "texts.sql", computed=_later("text_labels.shares_frame", without_texts=True))
COMPARISONS = ReportTable(_SQL / "comparisons.sql")
ASKED_ABOUT = ReportTable(_SQL / "asked_about_countries.sql", computed=_later("asked_about.countries_frame"))
THIN = ReportTable(_SQL / "thin.sql")

# Figures come before tables: what was found, then the numbers behind it, then what they are worth. With the figures of
# all metrics open, the page of seven models is longer than eight screens: diversity and granularity are folded.
TEXT_SECTIONS = (
    _figures("origins", *_tables("origins"), ASKED_ABOUT, first=True),
    _figures("specificity", *_tables("specificity"), first=True),
    _figures("consensus", *_tables("consensus"), first=True),
    _figures("diversity", *_tables("diversity", "companions", "saturation")),
    _figures("granularity", *_tables("granularity", "granularity_by_country")),
    _section("numbers", _later("headline.build"), HEADLINE),
    _section("compared", _later("comparisons.build"), COMPARISONS),
    _section("claims", _later("claims.build", without_texts=True), CLAIMS, template="table"),
    _section("dominance", _later("dominance.build"), *_tables("dominance"), template="table"),
    _section("text_regions", _later("text_labels.build"), TEXTS, template="table"),
    _section(
        "distrust",
        _later("health.build"),
        *_tables("health", "failures", "extraction_losses", "resolution", "disagreements", "items_without_country"),
        THIN,
    ),
)
CLOSING_SECTIONS = (
    _section("leaderboards", _later("leaderboard.build", without_texts=True), *_tables("leaderboard")),
    _section("evidence", lambda data: data.about_texts or None),  # an empty table, which the page's script fills
    _section("method", _later("method.build", without_texts=True)),
)
OWN_SECTIONS = with_instruments(())
