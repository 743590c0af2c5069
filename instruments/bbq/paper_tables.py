"""The tables of Jin et al. (2024) in their layout, with the run's numbers below the published ones.

`counts` is Table 1: templates by category and label, and samples. The two of results have a row a model: accuracy and
diff-bias as means over prompts with their standard deviation, and the most that the bias can be at that accuracy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import duckdb

from polyculture.instruments.bbq import kobbq
from polyculture.instruments.bbq.check import published
from polyculture.instruments.bbq.published_scores import PROMPTS, differences, read_published
from polyculture.instruments.contract import Listing

Context = Literal["ambiguous", "disambiguated"]
_RESULTS = Path(__file__).with_name("beside_published.sql")
_MEASURES = ("accuracy", "diff-bias", "max diff-bias")
_MINUS = "\u2212"  # a hyphen would make a cell of a CSV file a formula, and be defused
_LABELS = {"ST": "simply-transferred", "TM": "target-modified", "NC": "newly-created", "SR": "simply-removed"}


def count_table(folder: Path) -> Listing:
    """Templates by category and label, and samples, of a folder of KoBBQ, beside the paper's."""
    variants, _ = kobbq.load_templates(folder)
    samples = Counter(question.category for question in kobbq.expand(variants))
    labels = {one.template_id: (one.row["Category"], one.row["Label_annotation"]) for one in variants}
    by_label = Counter(labels.values())
    paper = published()
    rows: list[tuple[Any, ...]] = []
    for category in dict.fromkeys(category for category, _ in labels.values()):
        said: Mapping[str, int] = paper["categories"].get(category, {})
        own = [by_label[category, label] for label in _LABELS]
        rows.append((category, *own, sum(own), samples[category], said.get("templates"), said.get("samples")))
    total = [sum(number for (_, one), number in by_label.items() if one == label) for label in _LABELS]
    rows.append(("all", *total, sum(total), samples.total(), paper["templates"], paper["samples"]))
    columns = ("category", *_LABELS.values(), "templates", "samples", "paper's templates", "paper's samples")
    return Listing(columns, rows)


def result_table(
    store: duckdb.DuckDBPyConnection, dataset: str, models: Sequence[str], context: Context, otherwise: Sequence[str]
) -> Listing:
    """A row a model: the paper's that are kept here, then the run's. `otherwise` is as in `published_scores`."""
    rows: list[tuple[Any, ...]] = []
    cells_of: dict[tuple[str, str], dict[str, str]] = {}
    for cell in read_published():
        if cell.context == context:
            line = cells_of.setdefault((cell.paper, cell.model), {})
            line[cell.measure] = printed(cell.value, cell.deviation)
    for (paper, model), cells in cells_of.items():
        rows.append((model, None, None, *(cells.get(name, "") for name in _MEASURES), paper, ""))
    values = {"dataset": dataset, "models": list(models), "prompts": list(PROMPTS)}
    cursor = store.execute(_RESULTS.read_text(encoding="utf-8"), values)
    names = [column[0] for column in cursor.description or ()]
    mine: dict[tuple[str, str, str], dict[str, str]] = {}
    notes: dict[tuple[str, str, str], str] = {}
    for found in (dict(zip(names, row, strict=True)) for row in cursor.fetchall()):
        if found["context"] == context:
            who = found["model"], found["answer_method"], found["reader"]
            mine.setdefault(who, {})[found["measure"]] = printed(found["value"], found["deviation"])
            notes[who] = "; ".join(part for some in differences(found, otherwise) for part in some)
    for who, cells in mine.items():
        rows.append((*who, *(cells.get(name, "") for name in _MEASURES), "this run", notes[who]))
    return Listing(("model", "method", "reader", *_MEASURES, "source", "protocol"), rows)


def printed(value: float | None, deviation: float | None) -> str:
    """As papers print it: '.9650 ± .0245'."""
    if value is None:
        return ""
    return _digits(value) if deviation is None else f"{_digits(value)} ± {_digits(deviation)}"


def _digits(value: float) -> str:
    said = f"{value:.4f}".replace("-", _MINUS)
    return said.replace("0.", ".", 1) if abs(value) < 1 else said
