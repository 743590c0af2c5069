"""Outcomes of pairs in corpora, for the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polyculture.cache.manifest import Manifest
from polyculture.reports.groups import Group, Row, groups, place_label
from polyculture.reports.names import Names
from polyculture.reports.numbers import FormattedEstimate, count, decimal, estimate, known

SIDES = ("western", "native")


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """The outcomes of a type's pairs in one setting: wins of either side, ties, and ties of what is not there."""

    label: str
    setting: str
    cells: tuple[FormattedEstimate, ...]
    sizes: tuple[str, ...]  # contexts, pairs


def outcome_groups(rows: Sequence[Row], manifest: Manifest, names: Names) -> tuple[Group[OutcomeLine], ...]:
    """A group per corpus, data set and form from the rows of `corpus_outcomes.sql`."""
    return groups(rows, "form", manifest, names, lambda own: [_line(row, names) for row in own])


def _line(row: Row, names: Names) -> OutcomeLine:
    ties = (FormattedEstimate(decimal(row[name], "rate"), None, None) for name in ("tied", "tied_unseen"))
    cells = (*(_won(row, side) for side in SIDES), *ties)
    return OutcomeLine(
        place_label(row, names), row["setting"], cells, tuple(count(row[name]) for name in ("contexts", "pairs"))
    )


def _won(row: Row, side: str) -> FormattedEstimate:
    limits = row[f"{side}_low"], row[f"{side}_high"]
    return estimate("rate", row[f"{side}_more"], *limits, without=known(row["lacking"]) or "no_interval")
