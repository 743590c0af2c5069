"""The metrics by model and language, and the counts that the report opens with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from polyculture.cache.manifest import Manifest
from polyculture.cache.model_facts import ModelFacts
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FormattedEstimate, count, estimate, known, lacking, wordings_interval
from polyculture.reports.texts import Metric, texts
from polyculture.reports.thin import FEWEST, rests_on

METRICS = ("granularity", "diversity", "specificity", "specificity_gain", "consensus")

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: a model over all languages, or in one."""

    label: str
    language: str | None
    estimates: tuple[FormattedEstimate, ...]  # in the order of `METRICS`
    responses: str
    mentions: str
    linked: str


@dataclass(frozen=True, slots=True)
class ModelLines:
    """A model's lines: all languages together, then each."""

    model: str
    name: str
    facts: str  # what the experiment file says of it: '' or 'US, 8B, open'
    whole: Line
    languages: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Headline:
    """The context of the section: its metrics and its lines."""

    metrics: tuple[Metric, ...]
    models: tuple[ModelLines, ...]
    mentions: int
    measured: bool  # the numbers are of the present data
    conditions: tuple[str, ...]  # names of those that granularity, diversity and consensus are means over
    defined: tuple[tuple[str, FormattedEstimate], ...] = ()  # of models, without topics that the study does not define
    wordings: tuple[str, ...] = ()  # sentences on the intervals of other wordings
    fewest: int = FEWEST  # linked items: numbers that rest on fewer are grey


def totals(health: Rows) -> dict[str, int]:
    """The counts of `health`, added up over models and languages."""
    facts = [key for key in (health[0] if health else {}) if key not in ("model", "language")]
    return {fact: sum(int(row[fact]) for row in health) for fact in facts}


def model_lines(numbers: Rows, health: Rows, manifest: Manifest, names: Names) -> tuple[ModelLines, ...]:
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
        facts = ModelFacts(**manifest.model_facts.get(model, {})).described
        lines.append(ModelLines(model, names.model(model), facts, whole, tuple(languages)))
    return tuple(lines)


def defined_granularity(numbers: Rows, manifest: Manifest, names: Names) -> tuple[tuple[str, FormattedEstimate], ...]:
    """Per model the granularity of the topics that the study defines; nothing where these are all, or none."""
    whole = {(row["model"], row["metric"]): row for row in numbers if row["language"] is None}
    found = []
    for model in manifest.models:
        every, some = (whole.get((model, metric)) for metric in ("granularity", "granularity_defined"))
        if every and some and known(some["estimate"]) is not None and _cells(some) < _cells(every):
            without = known(some["no_interval"]) or "no_interval"
            value = estimate("granularity", some["estimate"], some["low"], some["high"], without=without)
            found.append((names.model(model), value))
    return tuple(found)


def _cells(row: Mapping[str, Any]) -> int:
    return int(row["cells"] + row["missing"])


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


def _estimate(
    metric: str, row: Mapping[str, Any] | None, facts: Mapping[str, int], manifest: Manifest
) -> FormattedEstimate:
    if row is None or known(row["estimate"]) is None:
        reason = why_missing(metric, facts, manifest)
        return lacking("not_measured" if row is None and reason in ("no_pair", "undefined") else reason)
    without = known(row["no_interval"]) or "no_interval"
    found = estimate(metric, row["estimate"], row["low"], row["high"], without=without)
    return replace(found, wordings=wordings_interval(row, metric), thin=rests_on(row["incidences"]))


def wordings_notes(numbers: Rows) -> tuple[str, ...]:
    """What is to be said of the intervals of other wordings: what they are, and why some or all numbers have none."""
    known_rows = [row for row in numbers if known(row["estimate"]) is not None]
    given = any(known(row["wordings_low"]) is not None for row in known_rows)
    reasons = sorted({why for row in known_rows if (why := known(row["no_wordings_interval"]))})
    keys = (["given"] if given else []) + [reason for reason in reasons if reason in texts().wordings]
    return tuple(texts().wordings[key] for key in keys)


def why_missing(metric: str, facts: Mapping[str, int], manifest: Manifest) -> str:
    """The key in `texts().missing` of the reason why a metric has no value."""
    if metric == "consensus" and len(manifest.languages) < 2:
        return "one_language"
    needed = {"specificity": ("explicit",), "specificity_gain": ("explicit", "neutral")}.get(metric, ())
    if absent := next(filter(None, map(manifest.why_without, needed)), None):
        return absent
    needs = [("answered", "unanswered"), ("extracted", "unread"), ("mentions", "unmentioned"), ("linked", "unlinked")]
    for fact, reason in needs:
        if not facts.get(fact):
            return reason
    return "no_pair" if metric == "consensus" else "undefined"
