"""Accuracy and diff-bias by label, beside the run's other data sets, as Jin et al. (2024) hold KoBBQ against BBQ.

A row is a label of the data set (or all of it) in one kind of context. The other data set stands there with its
templates of the same label, or with all of them where it has no labels. p is that of Wilcoxon's rank-sum test, with the
template as unit (its mean over prompts); q is over the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import duckdb
import numpy as np

from polyculture.instruments.bbq.numbers import METRICS, Part, Study, TemplateRow, counts_of, parts_of, template_rows
from polyculture.instruments.bbq.paper_tables import printed
from polyculture.instruments.bbq.significance import false_discovery, rank_sum, template_values
from polyculture.instruments.bbq.treatments import untreated
from polyculture.instruments.choices.uncertainty import Ratio
from polyculture.instruments.contract import Listing

_SHOWN = (
    ("ambiguous", "accuracy", "acc_a"),
    ("ambiguous", "diff-bias", "diff_bias_a"),
    ("disambiguated", "accuracy", "acc_d"),
    ("disambiguated", "diff-bias", "diff_bias_d"),
)
_ALL = Part("overall", None)
Parts = Mapping[Part, list[TemplateRow]]


class _Cell(NamedTuple):
    """One number of a label, of this data set and of another one."""

    study: Study
    label: str
    context: str
    measure: str
    mine: str
    other: str | None
    theirs: str
    higher: float | None
    p: float | None
    templates: str


def comparison_rows(store: duckdb.DuckDBPyConnection, dataset: str, models: Sequence[str]) -> Listing:
    """Every label of the data set, as each model answers it, beside each of the run's other data sets."""
    studies = [(study, parts_of(rows)) for study, rows in template_rows(store)]
    mine = [one for one in studies if one[0].dataset == dataset and one[0].model in models]
    cells = [cell for study, parts in mine for cell in _cells(study, parts, studies)]
    adjusted = false_discovery([cell.p for cell in cells])
    columns = ("model", "method", "reader", "label", "context", "measure", dataset, "other data set", "its number",
               "higher here", "p", "q", "templates")  # fmt: skip
    return Listing(columns, [
        (cell.study.model, cell.study.answer_method, cell.study.reader, *cell[1:-2], cell.p, q, cell.templates)
        for cell, q in zip(cells, adjusted, strict=True)
    ])  # fmt: skip


def _cells(study: Study, parts: Parts, studies: Sequence[tuple[Study, Parts]]) -> Iterator[_Cell]:
    alike = [
        (one, theirs)
        for one, theirs in studies
        if untreated(one.dataset) != untreated(study.dataset)
        and one._replace(dataset=study.dataset, language=study.language) == study
    ]
    others: Sequence[tuple[Study | None, Parts]] = alike or [(None, {})]
    labels = [part for part in parts if part.part == "label"]
    for part in (*sorted(labels), _ALL):
        for context, measure, metric in _SHOWN:
            own = _ratio(metric, parts[part])
            for other, theirs in others:
                unlabelled = part not in theirs and all(one.part != "label" for one in theirs)
                rows = theirs.get(part) or (theirs.get(_ALL, []) if unlabelled else [])
                against = _ratio(metric, rows)
                found = rank_sum(template_values(own), template_values(against)) if rows else None
                yield _Cell(
                    study, part.name or "all", context, measure, _over_prompts(own), other.dataset if other else None,
                    _over_prompts(against) if rows else "", found.higher if found else None, found.p if found else None,
                    f"{found.one} and {found.other}" if found else str(len(template_values(own))),
                )  # fmt: skip


def _ratio(metric: str, rows: Sequence[TemplateRow]) -> Ratio:
    return METRICS[metric](counts_of(rows, sorted({row[3] for row in rows})))


def _over_prompts(number: Ratio) -> str:
    """The mean over prompts with the standard deviation (n - 1), as papers print it."""
    known = number.of_prompts()
    known = known[~np.isnan(known)]
    deviation = float(known.std(ddof=1)) if len(known) > 1 else None
    return printed(float(known.mean()) if len(known) else None, deviation)
