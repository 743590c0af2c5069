"""The report's own sections: about texts that models wrote, leaderboards, and the method.

Sections of instruments are handed in; `with_instruments` puts them in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.reports.section import ReportData, ReportTable, Section

if TYPE_CHECKING:
    import pandas as pd

    from polyculture.reports.claims import Claims
    from polyculture.reports.comparisons import Comparisons
    from polyculture.reports.components import ComponentsFigure
    from polyculture.reports.diversity_estimators import DiversityEstimators
    from polyculture.reports.dominance import Dominance
    from polyculture.reports.figures.figure import Figure
    from polyculture.reports.headline import Headline
    from polyculture.reports.health import Health
    from polyculture.reports.leaderboard import Leaderboards
    from polyculture.reports.method import Method
    from polyculture.reports.text_labels import TextLabels
    from polyculture.reports.texts import Metric

_FOLDER = Path(__file__).parent
_SQL = _FOLDER / "sql"
_TEMPLATES = _FOLDER / "templates"


@dataclass(frozen=True)
class FigureSection:
    """The context of a figure: the metric that it shows, `others` in folds, and diversity's table of estimators."""

    metric: Metric
    figure: Figure
    estimators: DiversityEstimators | None = None
    others: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class EvidenceBrowser:
    """The context of the evidence: an empty table, which the page's script fills."""


def with_instruments(instruments: Sequence[Section]) -> tuple[Section, ...]:
    """The sections of a report, in the order of the page, with those of instruments among the report's own."""
    return (*TEXT_SECTIONS, *instruments, *CLOSING_SECTIONS)


def _comparison_frame(data: ReportData) -> pd.DataFrame:
    from polyculture.reports.comparisons import comparison_frame

    return comparison_frame(data.reading, data.manifest, data.names)


def _claims_frame(data: ReportData) -> pd.DataFrame:
    from polyculture.reports.claims import claims_frame

    return claims_frame(data.reading, data.manifest, data.names)


def _naming_frame(data: ReportData) -> pd.DataFrame:
    from polyculture.reports.naming import naming_frame

    return naming_frame(data)


def _regions_frame(data: ReportData) -> pd.DataFrame:
    from polyculture.reports.text_labels import shares_frame, shown_shares

    return shares_frame(shown_shares(data.reading.connection))


# Tables whose intervals or p-values no SQL gives: Python computes them when they are read.
COMPARISONS = ReportTable(_SQL / "comparisons.sql", computed=_comparison_frame)
CLAIMS = ReportTable(_SQL / "claims.sql", computed=_claims_frame)
NAMING = ReportTable(_SQL / "naming.sql", computed=_naming_frame)
TEXT_REGIONS = ReportTable(_SQL / "text_regions.sql", computed=_regions_frame)
THIN = ReportTable(_SQL / "thin.sql")


def _numbers(data: ReportData) -> Headline | None:
    from polyculture.reports.headline import METRICS, Headline, defined_granularity, model_lines, totals, wordings_notes
    from polyculture.reports.texts import texts

    if not data.about_texts:
        return None
    health = data.reading.rows(_SQL / "health.sql")
    numbers = data.reading.rows(_SQL / "headline.sql")
    return Headline(
        tuple(texts().metrics[metric] for metric in METRICS),
        model_lines(numbers, health, data.manifest, data.names),
        totals(health).get("mentions", 0),
        bool(data.reading.rows(_SQL / "methods.sql")),
        tuple(map(data.names.condition, data.manifest.conditions)),
        defined_granularity(numbers, data.manifest, data.names),
        wordings_notes(numbers),
    )


def _compared(data: ReportData) -> Comparisons | None:
    from polyculture.reports.comparisons import AT_A_GLANCE, Comparisons, comparisons

    found = comparisons(data.frame(COMPARISONS), data.manifest, data.names) if data.about_texts else {}
    lines = {family: "Models" if family == "models" else "Country" for family in found if family != AT_A_GLANCE}
    return Comparisons(tuple((found[family], line) for family, line in lines.items())) if found else None


def _claims(data: ReportData) -> Claims | None:
    from polyculture.reports.claims import claims
    from polyculture.reports.headline import totals

    if not data.about_texts or not totals(data.reading.rows(_SQL / "health.sql")).get("linked"):
        return None
    return claims(data.frame(CLAIMS), data.names)


def _distrust(data: ReportData) -> Health | None:
    from polyculture.reports.headline import totals
    from polyculture.reports.health import Health, frequent_failures, health_table, notices
    from polyculture.reports.limits import limits
    from polyculture.reports.resolution import resolution
    from polyculture.reports.texts import texts
    from polyculture.reports.thin import thin_metrics

    if not data.about_texts:
        return None
    rows = data.reading.rows(_SQL / "health.sql")
    return Health(
        texts().health,
        health_table(rows, data.manifest, data.names),
        notices(rows, data.names),
        totals(rows).get("answered", 0),
        resolution(data.reading.rows(_SQL / "resolution.sql"), data.manifest, data.names),
        frequent_failures(data.reading.lines(_SQL / "failures.sql")),
        bool(limits(data.manifest)),
        thin_metrics(data.frame(THIN).to_dict("records"), data.names),
    )


def _figure(name: str, *beside: ReportTable, first: bool = False) -> Section:
    """The section of a metric's figures, from `sql/<name>.sql` and the tables `beside` it.

    A section that is `first` stands open when the page is opened.
    """

    def build(data: ReportData) -> FigureSection | None:
        from polyculture.reports.figures.of_metric import figures_of
        from polyculture.reports.texts import texts

        if not data.about_texts:
            return None
        frames = {table.name: data.frame(table) for table in section.tables}
        figure, *others = figures_of(name, frames, data.manifest, data.names)
        estimators = _estimators(data) if name == "diversity" else None
        return FigureSection(texts().metrics[name], figure, estimators, tuple(others))

    files = (_TEMPLATES / "figure.html.jinja", _TEMPLATES / f"{name}.toml")
    section = Section(name, build, *files, (*_tables(name), *beside), first=first)
    return section


def topic_table(metric: str) -> ReportTable:
    """The table of a metric by topic and country, means over models."""
    return ReportTable(_SQL / "by_topic.sql", {"metric": metric}, saved_as=f"{metric}_by_topic")


def _estimators(data: ReportData) -> DiversityEstimators | None:
    from polyculture.reports.diversity_estimators import diversity_estimators

    return diversity_estimators(data.reading.rows(_SQL / "companions.sql"), data.manifest, data.names)


def _dominance(data: ReportData) -> Dominance | None:
    from polyculture.reports.dominance import dominance
    from polyculture.reports.texts import texts

    if not data.about_texts:
        return None
    rows = data.reading.rows(_SQL / "dominance.sql")
    return dominance(rows, texts().metrics["dominance"], data.manifest, data.names)


def _text_regions(data: ReportData) -> TextLabels | None:
    from polyculture.reports.text_labels import region_names, text_labels
    from polyculture.reports.texts import section_texts

    shares = data.frame(TEXT_REGIONS)
    if not data.about_texts or shares.empty:
        return None
    words = section_texts(_TEMPLATES / "text_regions.toml")
    return text_labels(shares, region_names(data.reading.connection), words, data.manifest, data.names)


def _components(data: ReportData) -> ComponentsFigure | None:
    from polyculture.reports.components import components
    from polyculture.reports.texts import section_texts

    if not data.about_texts:
        return None
    frame = data.reading.frame(_SQL / "components.sql")
    return components(frame, section_texts(_TEMPLATES / "components.toml"), data.manifest, data.names)


def _leaderboards(data: ReportData) -> Leaderboards | None:
    from polyculture.reports.leaderboard import Leaderboards, boards

    found = boards(data.reading.lines(_SQL / "leaderboard.sql"), data.board_titles, data.names)
    return Leaderboards(found) if found else None


def _evidence(data: ReportData) -> EvidenceBrowser | None:
    return EvidenceBrowser() if data.about_texts else None


def _method(data: ReportData) -> Method:
    from polyculture.reports.headline import METRICS
    from polyculture.reports.method import Method, facts, intervals, store_views
    from polyculture.reports.prompt_review import prompt_reviews
    from polyculture.reports.texts import texts

    manifest = data.manifest
    return Method(
        data.about_texts,
        manifest.n,
        tuple(texts().metrics[metric] for metric in METRICS),
        prompt_reviews(
            data.reading.rows(_SQL / "review_templates.sql"), data.reading.rows(_SQL / "reviews.sql"), data.names
        ),
        intervals(data.reading.rows(_SQL / "methods.sql")),
        facts(manifest, data.names),
        store_views(data.layout),
        manifest.polyculture,
        manifest.experiment,
    )


def _tables(*names: str) -> tuple[ReportTable, ...]:
    return tuple(ReportTable(_SQL / f"{name}.sql") for name in names)


def _section(name: str, build: Callable[[ReportData], object | None], *tables: ReportTable) -> Section:
    return Section(name, build, _TEMPLATES / f"{name}.html.jinja", _TEMPLATES / f"{name}.toml", tables)


# Figures come before tables: what was found, then the numbers behind it, then what they are worth. With the figures of
# all four metrics open, the page of seven models is longer than eight screens: diversity is folded.
TEXT_SECTIONS = (
    _figure("granularity", *_tables("granularity_by_country"), topic_table("granularity"), first=True),
    _figure("diversity", *_tables("companions"), topic_table("diversity")),
    _figure("specificity", topic_table("specificity"), first=True),
    _figure("consensus", *_tables("consensus_by_topic", "voices"), first=True),
    _figure("origins", NAMING),
    _figure("saturation"),
    _section("components", _components, *_tables("components")),
    _section("numbers", _numbers, *_tables("headline")),
    _section("compared", _compared, COMPARISONS),
    _section("claims", _claims, CLAIMS),
    _section("dominance", _dominance, *_tables("dominance")),
    _section("text_regions", _text_regions, TEXT_REGIONS),
    _section("distrust", _distrust, *_tables("health", "failures", "resolution"), THIN),
)
CLOSING_SECTIONS = (
    _section("leaderboards", _leaderboards, *_tables("leaderboard")),
    _section("evidence", _evidence),
    _section("method", _method),
)
OWN_SECTIONS = with_instruments(())
