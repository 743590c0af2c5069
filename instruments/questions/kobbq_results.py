"""KoBBQ's results in the layout of its paper, and what of a run's protocol differs from the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from polyculture.published.cells import published

if TYPE_CHECKING:
    from polyculture.reports.section import ReportData

FILE = Path(__file__).with_suffix(".sql")
CONTEXTS = {"a": "ambiguous", "d": "disambiguated"}
_PAPER = "Jin et al. 2024"
_TABLES = ("3a", "3b")
_NUMBERS = ("acc", "diff_bias", "max_bias")
_COLUMNS = (
    "model",
    "method",
    "reader",
    "context",
    "accuracy",
    "diff_bias",
    "max_bias",
    "source",
    "same_protocol",
    "note",
)
# The paper's section 4.1: five prompts, three orders, the evaluation set.
PROMPTS, ORDERS, QUESTIONS = ["1", "2", "3", "4", "5"], [[0, 2, 1], [1, 0, 2], [2, 1, 0]], 2144
TEMPERATURE, MAX_TOKENS = 0.0, 30
_MINUS = "\u2212"  # a hyphen would make a cell of a CSV file a formula, and be defused


def results(data: ReportData) -> pd.DataFrame:
    """The run's rows, then the paper's; none where KoBBQ was not measured."""
    own = list(_own(data.reading.rows(FILE)))
    return pd.DataFrame([*own, *_printed()] if own else [], columns=list(_COLUMNS))


def _own(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for who, some in groupby(rows, key=lambda row: (row["model"], row["method"], row["reader"])):
        numbers = {row["metric"]: row for row in some}
        first = next(iter(numbers.values()))
        protocol, size = differences(first)
        for end, context in CONTEXTS.items():
            cells = [numbers.get(f"{name}_{end}") for name in _NUMBERS]
            values = [written(cell["estimate"], cell["sd"]) if cell else "" for cell in (*cells[:2],)]
            most = written(cells[2]["estimate"], None) if cells[2] else ""
            note = "; ".join([*protocol, *size])
            yield (*who, context, *values, most, "this run", not protocol, note)


def _printed() -> Iterator[tuple[Any, ...]]:
    cells = [cell for cell in published("kobbq") if cell.table in _TABLES]
    for (_, model), some in groupby(cells, key=lambda cell: (cell.table, cell.model)):
        found = {cell.metric: cell for cell in some}
        end = next(iter(found)).rpartition("_")[2]
        values = [
            written(cell.number, None if cell.spread is None else float(cell.spread)) if cell else ""
            for cell in (found.get(f"{name}_{end}") for name in _NUMBERS)
        ]
        yield (model, "generated", "publisher", CONTEXTS[end], *values, _PAPER, True, "")


def differences(asked: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """What a run has otherwise than the paper: in its protocol, and in the number of questions."""
    found = []
    if asked["method"] != "generated":
        found.append("by likelihood")
    elif asked["reader"] != "publisher":
        found.append("not read by the publisher's rules")
    if asked["prompts"] != PROMPTS:
        found.append(f"prompts {' '.join(asked['prompts'])}")
    if asked["orders"] != ORDERS:
        found.append(f"orders {' '.join(''.join(map(str, order)) for order in asked['orders'])}")
    if asked["method"] == "generated" and asked["unknown"]:
        found.append("temperature and length of answers are not known")
    elif asked["method"] == "generated" and (asked["temperatures"], asked["max_tokens"]) != (
        [TEMPERATURE],
        [MAX_TOKENS],
    ):
        said = ["/".join(f"{one:g}" for one in asked[name]) for name in ("temperatures", "max_tokens")]
        found.append(f"temperature {said[0]}, {said[1]} tokens")
    if asked["questions"] < QUESTIONS:
        found.append("a part of the questions")
    size = f"{asked['questions']:,} questions, {QUESTIONS:,} in the paper"
    return found, [] if asked["questions"] == QUESTIONS else [size]


def written(value: float | None, deviation: float | None) -> str:
    """As papers print it: '.9650 ± .0245'."""
    if value is None:
        return ""
    return _digits(value) if deviation is None else f"{_digits(value)} ± {_digits(deviation)}"


def _digits(value: float) -> str:
    said = f"{value:.4f}".replace("-", _MINUS)
    return said.replace("0.", ".", 1) if abs(value) < 1 else said
