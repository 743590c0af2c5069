"""Method: settings, versions and provenance from the manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from polyculture.cache.catalog.facts import measured_languages
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.schema import PromptReview
from polyculture.metrics.declared import COMPARED, METRICS
from polyculture.metrics.limits import PUBLISHED
from polyculture.metrics.prompt_review import ReviewStanding, review_standing
from polyculture.reports.names import Names
from polyculture.reports.numbers import count
from polyculture.reports.reading import RUN_FACTS
from polyculture.reports.section import ReportData
from polyculture.reports.template_origin import template_origin
from polyculture.reports.texts import MetricText, texts

ENGLISH_WORDS = 50  # whose length in other languages was measured
# The built-in wordings that ask for the same number of words in each language; `plain` asks for what is as long.
SAME_NUMBER = ("write", "describe", "imagine")


@dataclass(frozen=True, slots=True)
class PromptReviews:
    """The languages that somebody has reviewed, and those that nobody has."""

    reviewed: tuple[ReviewStanding, ...]  # with the languages' names
    unreviewed: tuple[str, ...]  # in which sentences of ours are asked
    own: tuple[str, ...]  # the same of sentences in the study's culture packs
    of_file: tuple[str, ...]  # the same of prompts that a file of the study has, which are asked as they are
    changed: int  # judgements of templates that changed since, or are not asked


@dataclass(frozen=True, slots=True)
class AskedLength:
    """How long a wording with a length asks texts to be in a language."""

    language: str
    asked: str  # "50 words"
    equal: str  # what 50 English words are by the Universal Declaration of Human Rights: "39 words"
    english: int  # words of English that are as long as what is asked


@dataclass(frozen=True, slots=True)
class Facts:
    """A table of settings with its caption."""

    caption: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MethodContext:
    """The context of the section."""

    about_texts: bool
    imported: bool
    found_here: bool  # the mentions; others came with imported texts
    linked_here: bool  # the same of their items
    samples: int
    metrics: tuple[MetricText, ...]
    reviews: PromptReviews
    lengths: tuple[AskedLength, ...]
    intervals: tuple[str, ...]  # how those of a metric were computed, and how many
    facts: tuple[Facts, ...]
    version: str
    experiment: str


def build(data: ReportData) -> MethodContext:
    """The context from the manifest and the reviews of prompts."""
    manifest, reading = data.manifest, data.reading
    return MethodContext(
        data.about_texts,
        bool(manifest.imported),
        manifest.extractor.get("with") != PUBLISHED,
        manifest.linker.get("source") != PUBLISHED,
        manifest.n,
        tuple(texts().metrics[metric] for metric in COMPARED),
        prompt_reviews(reading.rows(RUN_FACTS["review_templates"]), reading.rows(RUN_FACTS["reviews"]), data.names),
        asked_lengths(reading.rows(RUN_FACTS["neutral_prompts"]), data.names),
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
    by_origin: dict[str, dict[str, None]] = {"ours": {}, "own": {}, "of file": {}}
    for row in templates:
        if row["language"] not in known:
            by_origin[template_origin(row, names.catalog)][names.language(row["language"])] = None
    ours, own, of_file = map(tuple, by_origin.values())
    return PromptReviews(tuple(lines), ours, own, of_file, sum(one.changed for one in found))


def asked_lengths(prompts: Sequence[Mapping[str, Any]], names: Names) -> tuple[AskedLength, ...]:
    """From the rows `neutral_prompts`: what the number in a prompt of `SAME_NUMBER` is in each language.

    Languages of which nobody measured that, and texts with other numbers, are left out.
    """
    rows: dict[str, AskedLength] = {}
    for row in prompts:
        measured, numbers = measured_languages().get(row["language"]), re.findall(r"\d+", row["text"])
        if row["wording"] in SAME_NUMBER and len(numbers) == 1 and measured and measured.amount:
            asked, name = int(numbers[0]), names.language(row["language"])
            english, unit = round(ENGLISH_WORDS * asked / measured.amount), measured.unit
            rows[name] = AskedLength(name, f"{asked} {unit}", f"{measured.amount} {unit}", english)
    return tuple(rows.values())


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
