"""Method: settings, versions and provenance from the manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.schema import PromptReview
from polyculture.metrics.declared import COMPARED, METRICS
from polyculture.metrics.limits import PUBLISHED
from polyculture.metrics.prompt_review import ReviewStanding, review_standing
from polyculture.reports.names import Names
from polyculture.reports.numbers import count
from polyculture.reports.reading import RUN_FACTS
from polyculture.reports.section import ReportData
from polyculture.reports.texts import Metric, texts


@dataclass(frozen=True, slots=True)
class PromptReviews:
    """The languages that somebody has reviewed, and those that nobody has."""

    reviewed: tuple[ReviewStanding, ...]  # with the languages' names
    unreviewed: tuple[str, ...]
    changed: int  # judgements of templates that changed since, or are not asked


@dataclass(frozen=True, slots=True)
class Facts:
    """A table of settings with its caption."""

    caption: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Method:
    """The context of the section."""

    about_texts: bool
    imported: bool
    found_here: bool  # the mentions; others came with imported texts
    linked_here: bool  # the same of their items
    samples: int
    metrics: tuple[Metric, ...]
    reviews: PromptReviews
    intervals: tuple[str, ...]  # how those of a metric were computed, and how many
    facts: tuple[Facts, ...]
    version: str
    experiment: str


def build(data: ReportData) -> Method:
    """The context from the manifest and the reviews of prompts."""
    manifest, reading = data.manifest, data.reading
    return Method(
        data.about_texts,
        bool(manifest.imported),
        manifest.extractor.get("with") != PUBLISHED,
        manifest.linker.get("source") != PUBLISHED,
        manifest.n,
        tuple(texts().metrics[metric] for metric in COMPARED),
        prompt_reviews(reading.rows(RUN_FACTS["review_templates"]), reading.rows(RUN_FACTS["reviews"]), data.names),
        intervals(reading.rows(RUN_FACTS["methods"])),
        facts(manifest, data.names, about_texts=data.about_texts),
        manifest.polyculture,
        manifest.experiment,
    )


def prompt_reviews(
    templates: Sequence[Mapping[str, Any]], reviews: Sequence[Mapping[str, Any]], names: Names
) -> PromptReviews:
    """From the rows of `review_templates.sql` and `reviews.sql`."""
    asked = {row["template_id"]: row["language"] for row in templates if row["template_id"] is not None}
    found = review_standing(asked, [PromptReview(**row) for row in reviews])
    lines = [replace(one, language=names.language(one.language)) for one in found if one.reviewed]
    known = {one.language for one in found if one.reviewed}
    languages = dict.fromkeys(row["language"] for row in templates)
    unreviewed = [names.language(language) for language in languages if language not in known]
    return PromptReviews(tuple(lines), tuple(unreviewed), sum(one.changed for one in found))


def intervals(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """'Diversity: bootstrap (120 intervals)', from the rows of `sql/methods.sql`."""
    return tuple(f"{_named(row['metric'])}: {row['method']} ({count(row['intervals'])} intervals)" for row in rows)


def _named(metric: str) -> str:
    """A metric's name for people: of a metric of texts its title."""
    return METRICS[metric].title if metric in METRICS else metric.replace("_", " ")


def facts(manifest: Manifest, names: Names, *, about_texts: bool) -> tuple[Facts, ...]:
    """The settings behind the numbers; a table without rows is left out.

    An experiment file has settings of texts, whether or not any were asked: without texts they are not shown. How an
    instrument asked is said in its own section.
    """
    tables = {
        "Models": {
            names.model(m): f"{m}, {manifest.model_versions.get(m, 'version not known')}" for m in manifest.models
        },
        "Imported texts": {f"file {number}": line for number, line in enumerate(manifest.imported, 1)},
        "Sampling": {"n": manifest.n, **manifest.sampling},
        "Setups": dict(manifest.setups),
        "Extraction": {**manifest.extractor, "extractor id": list(dict.fromkeys(manifest.extractor_ids.values()))},
        "Linking": {**manifest.linker, "linker id": manifest.linker_id},
        "Wikidata snapshot": manifest.snapshot,
        "Culture packs": {
            pack["name"]: f"version {pack['version']}, SHA-256 {pack['sha256']}" for pack in manifest.packs
        },
        "Versions": {"polyculture": manifest.polyculture, **manifest.packages},
    }
    if manifest.imported or not about_texts:
        del tables["Sampling"]  # nobody knows it, or nobody used it
    if not about_texts:
        del tables["Extraction"]
    found = [Facts(caption, tuple(_flat(rows))) for caption, rows in tables.items()]
    return tuple(table for table in found if table.rows)


def _flat(rows: Mapping[str, Any], prefix: str = "") -> Sequence[tuple[str, str]]:
    flat: list[tuple[str, str]] = []
    for key, value in rows.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat.extend(_flat(value, f"{name}."))
        elif value not in (None, "", [], ()):
            flat.append((name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)))
    return flat
