"""The variance components of each metric: a line per component, a column per condition, and what cannot be told."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from polyculture.reports.names import ordered
from polyculture.reports.numbers import FormattedEstimate, share
from polyculture.reports.reading import SQL
from polyculture.reports.section import ReportData
from polyculture.reports.sections import SAID
from polyculture.reports.table_section import Column, PageTable, plain_table
from polyculture.reports.texts import section_texts, texts


def build(data: ReportData) -> PageTable | None:
    """The table from the rows of `sql/components.sql`; None where no share is known."""
    rows = data.reading.rows(SQL / "components.sql")
    if all(row["share"] is None for row in rows):
        return None
    said = section_texts(SAID, "components").words
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        line = found.setdefault((row["metric"], row["component"]), {"metric": row["metric"], "name": row["component"]})
        line[f"under {row['condition']}"] = row
    metrics = ordered(list(texts().metrics), [metric for metric, _ in found])
    components = ordered(said["order"], [component for _, component in found])
    lines = sorted(found.values(), key=lambda row: (metrics.index(row["metric"]), components.index(row["name"])))
    conditions = ordered(data.manifest.conditions, [row["condition"] for row in rows])
    return plain_table(
        lines,
        [Column(data.names.condition(one), partial(_share, f"under {one}")) for one in conditions],
        title=said["title"],
        line_head="Metric: component",
        label=lambda row: str(row["name"]),
        head=lambda row: texts().metrics[row["metric"]].name,
    )


def _share(condition: str, line: Mapping[str, Any]) -> FormattedEstimate | str:
    """The share of a component with its interval; or the reason why the design cannot tell it."""
    row = line.get(condition)
    if row is None:
        return "–"
    if row["share"] is None:
        return FormattedEstimate(None, None, row["reason"] or "all values are alike")
    if row["share_low"] is None:
        return FormattedEstimate(share(row["share"], 1), None, row["reason"] and f"no interval: {row['reason']}")
    limits = (share(row[end], 1) or "" for end in ("share_low", "share_high"))
    return FormattedEstimate(share(row["share"], 1), " to ".join(limits), None)
