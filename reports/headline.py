"""What the report opens with: how much there is, and the table of models and languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyculture.cache.manifest import Manifest
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import Estimate, count, estimate, known, lacking, share

METRICS = ("granularity", "diversity", "specificity", "specificity_gain", "consensus")

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: a model over all languages, or in one."""

    label: str
    language: str | None
    estimates: tuple[Estimate, ...]  # in the order of `METRICS`
    responses: str
    mentions: str
    linked: str


@dataclass(frozen=True, slots=True)
class ModelLines:
    """A model's lines: all languages together, then each."""

    model: str
    name: str
    whole: Line
    languages: tuple[Line, ...]


def totals(health: Rows) -> dict[str, int]:
    """The counts of `health`, added up over models and languages."""
    facts = [key for key in (health[0] if health else {}) if key not in ("model", "language")]
    return {fact: sum(int(row[fact]) for row in health) for fact in facts}


def model_lines(numbers: Rows, health: Rows, manifest: Manifest, names: Names) -> list[ModelLines]:
    """The table of the four metrics, from the rows of `sql/headline.sql` and `sql/health.sql`."""
    estimates = {(row["model"], row["language"], row["metric"]): row for row in numbers}
    lines = []
    for model in manifest.models:
        own = [row for row in health if row["model"] == model]
        whole = _line(model, None, "All languages", estimates, totals(own), manifest)
        languages = [
            _line(
                model,
                code,
                names.language(code),
                estimates,
                totals([r for r in own if r["language"] == code]),
                manifest,
            )
            for code in ordered(manifest.languages, [row["language"] for row in own])
        ]
        lines.append(ModelLines(model, names.model(model), whole, tuple(languages)))
    return lines


def _line(
    model: str,
    language: str | None,
    label: str,
    estimates: Mapping[tuple[str, str | None, str], Mapping[str, Any]],
    facts: Mapping[str, int],
    manifest: Manifest,
) -> Line:
    found = [_estimate(metric, estimates.get((model, language, metric)), facts, manifest) for metric in METRICS]
    sizes = [count(facts.get(fact, 0)) for fact in ("extracted", "mentions", "linked")]
    return Line(label, language, tuple(found), *sizes)


def _estimate(metric: str, row: Mapping[str, Any] | None, facts: Mapping[str, int], manifest: Manifest) -> Estimate:
    if row is None or known(row["estimate"]) is None:
        return lacking(why_missing(metric, facts, manifest))
    return estimate(
        metric, row["estimate"], row["low"], row["high"], without=known(row["no_interval"]) or "no_interval"
    )


def why_missing(metric: str, facts: Mapping[str, int], manifest: Manifest) -> str:
    """The key in `words().missing` of the reason why a metric has no value."""
    if metric == "consensus" and len(manifest.languages) < 2:
        return "one_language"
    if metric in ("specificity", "specificity_gain") and "explicit" not in manifest.conditions:
        return "no_explicit"
    if metric == "specificity_gain" and "neutral" not in manifest.conditions:
        return "no_neutral"
    needs = [("answered", "unanswered"), ("extracted", "unread"), ("mentions", "unmentioned")]
    needs += [] if metric == "granularity" else [("linked", "unlinked")]
    for fact, reason in needs:
        if not facts.get(fact):
            return reason
    return "no_pair" if metric == "consensus" else "undefined"


def lead(facts: Mapping[str, int], entities: int) -> dict[str, str | None]:
    """The figures of the opening sentence."""
    return {
        "asked": count(facts.get("asked", 0)),
        "answered": count(facts.get("answered", 0)),
        "answered_share": share(facts.get("answered", 0), facts.get("asked", 0)),
        "mentions": count(facts.get("mentions", 0)),
        "linked": count(facts.get("linked", 0)),
        "linked_share": share(facts.get("linked", 0), facts.get("mentions", 0)),
        "entities": count(entities),
    }
