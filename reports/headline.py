"""The metrics by model and language, with the counts that they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from polyculture.cache.store.manifest import UNSTATED, Manifest
from polyculture.cache.store.model_facts import ModelFacts
from polyculture.metrics.declared import COMPARED, is_gain, is_overlap, is_per_country
from polyculture.metrics.limits import disqualified
from polyculture.metrics.means import TOO_FEW_IN_COMMON
from polyculture.reports.numbers import FEWEST, FormattedEstimate, Rows, count, estimate_of, known, lacking
from polyculture.reports.reading import RUN_FACTS, SQL
from polyculture.reports.section import ReportData
from polyculture.reports.table_section import Column, PageTable, whole_table
from polyculture.reports.texts import texts


@dataclass(frozen=True, slots=True)
class Headline:
    """The context of the section."""

    table: PageTable
    mentions: int
    measured: bool  # the numbers are of the present data
    conditions: tuple[str, ...]  # names of those that granularity, diversity and consensus are means over
    others: tuple[str, ...]  # sentences on the intervals of new prompts like these
    shared: str | None  # what is said where models lack numbers that others have
    fewest: int = FEWEST  # linked items: numbers that rest on fewer are grey


def build(data: ReportData) -> Headline:
    """The table of the four metrics, from the rows of `sql/headline.sql` and `sql/health.sql`."""
    numbers, health = data.reading.rows(SQL / "headline.sql"), data.reading.rows(SQL / "health.sql")
    is_measured = bool(data.reading.rows(RUN_FACTS["methods"]))
    fixed = disqualified(data.manifest)
    columns = (
        *(_metric_column(name, fixed.get(name), is_measured=is_measured) for name in shown_metrics(data.manifest)),
        Column("Responses", partial(_size, "extracted"), is_size=True),
        Column("Mentions", partial(_size, "mentions"), is_size=True),
        Column("Linked", partial(_size, "linked"), is_size=True),
    )
    title = "Metrics by model and language"
    return Headline(
        whole_table(
            data,
            model_lines(numbers, health, data.manifest),
            columns,
            title=title,
            caption=f"{title}, with 95 % intervals",
            note=partial(_note, data),
        ),
        totals(health).get("mentions", 0),
        is_measured,
        tuple(map(data.names.condition, data.manifest.conditions)),
        others_notes(numbers),
        shared_note(numbers),
    )


def shown_metrics(manifest: Manifest) -> tuple[str, ...]:
    """The metrics in the order of the page: those that the run's sources fix stand last."""
    return tuple(sorted(COMPARED, key=disqualified(manifest).__contains__))


def _metric_column(name: str, fixed: str | None, *, is_measured: bool) -> Column:
    metric = texts().metrics[name]

    def cell(line: Mapping[str, Any]) -> FormattedEstimate:
        found: FormattedEstimate = line[name]
        # Before anything is measured the page says so once, and not in each cell.
        return found if is_measured or found.value is None else replace(found, missing=None)

    return Column(metric.name, cell, unit=texts().missing[fixed] if fixed else metric.unit)


def _size(fact: str, line: Mapping[str, Any]) -> str:
    return count(line["facts"].get(fact, 0))


def _note(data: ReportData, model: str) -> str:
    """What the experiment file says of a model, 'US, 8B, open', and in which languages it was asked."""
    facts = ModelFacts(**data.manifest.model_facts.get(model, {})).described
    languages = data.manifest.languages
    return "; ".join(filter(None, (facts, data.names.language(*languages) if len(languages) == 1 else "All languages")))


def totals(health: Rows) -> dict[str, int]:
    """The counts of `health`, added up over models and languages."""
    facts = [key for key in (health[0] if health else {}) if key not in ("model", "language")]
    return {fact: sum(int(row[fact]) for row in health) for fact in facts}


def model_lines(numbers: Rows, health: Rows, manifest: Manifest) -> dict[tuple[str, str | None], dict[str, Any]]:
    """By model and language, None for all: what was counted (`facts`), and each of the metrics as printed."""
    found = {(row["model"], row["language"], row["metric"]): row for row in numbers}
    lines: dict[tuple[str, str | None], dict[str, Any]] = {}
    for model in manifest.models:
        own = [row for row in health if row["model"] == model]
        for language in (None, *(row["language"] for row in own)):
            facts = totals([row for row in own if language in (None, row["language"])])
            printed = {name: _estimate(found.get((model, language, name)), name, facts, manifest) for name in COMPARED}
            if len(own) == 1:  # a model may have fewer languages than the run
                printed |= {name: lacking("one_language") for name in printed if is_overlap(name)}
            lines[model, language] = {"facts": facts, **printed}
    return lines


def _estimate(
    row: Mapping[str, Any] | None, metric: str, facts: Mapping[str, int], manifest: Manifest
) -> FormattedEstimate:
    if row is None or known(row["estimate"]) is None:
        reason = why_missing(metric, facts, manifest)
        if reason not in ("no_pair", "undefined"):
            return lacking(reason)
        if row is None:
            return lacking("not_measured")
        return lacking(TOO_FEW_IN_COMMON if known(row["no_estimate"]) == TOO_FEW_IN_COMMON else reason)
    found = estimate_of(row)
    all_of = row["cells"] + row["missing"]
    return replace(found, cells=f"{count(row['cells'])} of {count(all_of)} cells") if row["shared"] else found


def others_notes(numbers: Rows) -> tuple[str, ...]:
    """What is to be said of the intervals of new prompts: what they are, and why some or all numbers have none.

    And of specificity, where nobody knows whether prompts name the country.
    """
    known_rows = [row for row in numbers if known(row["estimate"]) is not None]
    given = any(known(row["wide_low"]) is not None for row in known_rows)
    reasons = sorted({why for row in known_rows if (why := known(row["no_wide"]))})
    keys = (["given"] if given else []) + [reason for reason in reasons if reason in texts().others]
    unstated = any(is_per_country(row["metric"]) and row["condition"] == UNSTATED for row in known_rows)
    return tuple(texts().others[key] for key in (*keys, *([UNSTATED] if unstated else [])))


def shared_note(numbers: Rows) -> str | None:
    """A sentence where numbers are over the cells that all models have; None where all have all."""
    return texts().shared["note"] if any(row.get("shared") for row in numbers) else None


def why_missing(metric: str, facts: Mapping[str, int], manifest: Manifest) -> str:
    """The key in `texts().missing` of the reason why a metric has no value."""
    if is_overlap(metric) and len(manifest.languages) < 2:
        return "one_language"
    needed = [*(["explicit"] if is_per_country(metric) else []), *(["neutral"] if is_gain(metric) else [])]
    if absent := next(filter(None, map(manifest.why_without, needed)), None):
        return absent
    needs = [("answered", "unanswered"), ("extracted", "unread"), ("mentions", "unmentioned"), ("linked", "unlinked")]
    for fact, reason in needs:
        if not facts.get(fact):
            return reason
    return "no_pair" if is_overlap(metric) else "undefined"
