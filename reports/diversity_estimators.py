"""Estimators of diversity that allow for sample size: Hill numbers, coverage, rarefied counts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import groupby
from typing import Any

from polyculture.metrics.declared import METRICS, OF_DIVERSITY
from polyculture.reports.numbers import FormattedEstimate, count, estimate_of, known, lacking
from polyculture.reports.reading import SQL
from polyculture.reports.section import ReportData
from polyculture.reports.table_section import Column, PageTable, whole_table
from polyculture.reports.texts import texts

EstimatorRows = Mapping[str, Mapping[str, Any]]  # its rows by metric


def diversity_estimators(data: ReportData) -> PageTable | None:
    """A line per model and per model and language, from `sql/companions.sql`; None where no number is known."""
    rows = data.reading.rows(SQL / "companions.sql")
    found = [row for row in rows if row["estimate"] is not None]
    metrics = [metric for metric in OF_DIVERSITY if any(metric == row["metric"] for row in found)]
    if not metrics:
        return None
    size = count(next((row["rarefied_to"] for row in rows if row["metric"] == "rarefied"), None) or 0)
    titles = {metric: texts().diversity_estimators.get(metric, METRICS[metric].title) for metric in metrics}
    heads = {metric: title.format(size=size) for metric, title in titles.items()}
    lines = {
        place: {row["metric"]: row for row in own}
        for place, own in groupby(found, key=lambda row: (row["model"], row["language"]))
    }
    columns = (
        *(Column(head, partial(_number, metric)) for metric, head in heads.items()),
        Column("Responses", lambda line: count(line["diversity"]["responses"]), is_size=True),
        Column("Characters", _length, is_size=True),
    )
    title = "Counts that can be compared"
    caption = f"{title}, by model and language, with 95 % intervals"
    return whole_table(
        data,
        {place: line for place, line in lines.items() if "diversity" in line},
        columns,
        title=title,
        caption=caption,
    )


def _number(metric: str, line: EstimatorRows) -> FormattedEstimate:
    return estimate_of(line[metric], thin=False) if metric in line else lacking("undefined")


def _length(line: EstimatorRows) -> str:
    """Of a response, on average; '–' over all languages."""
    value = known(line["diversity"]["characters"])
    return "–" if value is None else count(round(value))
