"""The section's tables of what stands beside: what is said, scored and stored, and correlations with other numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polyculture.instruments.probe.correlations import Beside
from polyculture.instruments.probe.layer_groups import said
from polyculture.reports.names import Names, short
from polyculture.reports.numbers import count, p_value

SHOWN = 40  # correlations on the page; the table has all


@dataclass(frozen=True, slots=True)
class KnowledgeLine:
    """A topic of a model in a language: how many items are said, scored and stored."""

    where: str
    texts: str
    items: str
    said: str
    scored: str
    stored: str
    both: str
    stored_never_said: str
    said_not_stored: str
    stored_examples: str
    said_examples: str


@dataclass(frozen=True, slots=True)
class BesideLine:
    """A correlation of flattening with another number of the model."""

    where: str
    direction: str
    number: str
    countries: int
    spearman: str
    interval: str
    p: str


def knowledge_line(row: Mapping[str, Any], names: Names) -> KnowledgeLine:
    """A row of `knowledge.sql` in words."""
    where = f"{names.model(row['model'])}, {names.language(row['language'])}, {names.topic(row['topic'])}"
    return KnowledgeLine(
        where=where,
        texts=count(row["texts"]),
        items=count(row["items"]),
        said=count(row["said"]),
        scored=count(row["scored"]),
        stored=count(row["stored"]),
        both=count(row["both"]),
        stored_never_said=count(row["stored_never_said"]),
        said_not_stored=count(row["said_not_stored"]),
        stored_examples=row["stored_examples"] or "–",
        said_examples=row["said_examples"] or "–",
    )


def beside_line(one: Beside, names: Names) -> BesideLine:
    """A correlation in words."""
    where = (
        f"{names.model(one.model)}, {names.language(one.language)}, {short(one.dataset)}: {said('filters', one.filter)}"
    )
    interval = "–" if one.low is None or one.high is None else f"{_signed(one.low)} to {_signed(one.high)}"
    rho = "–" if one.spearman is None else _signed(one.spearman)
    return BesideLine(where, one.direction, short(one.number), one.countries, rho, interval, p_value(one.p) or "–")


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
