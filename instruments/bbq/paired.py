"""Two arms asked the same questions: two models, generated answers and likelihoods, or a prompt with and without a
treatment. Answers are paired by question, prompt and order; differences are rows of `differences` over templates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np

from polyculture.cache.schema.measured import EVERY, Difference
from polyculture.instruments.choices.uncertainty import Numbers, Ratio, estimate, paired
from polyculture.instruments.contract import Listing
from polyculture.instruments.differences import Sides, difference_rows, with_verdicts
from polyculture.metrics.inference.family import OTHERS

MEASURE_NAME = "bbq"
DIMENSIONS = {"models": "model", "methods": "method", "treatments": "treatment"}
_QUERY = Path(__file__).with_name("pairs.sql")
Counts = Mapping[str, Numbers]  # name of a count -> (templates, prompts)


class Arms(NamedTuple):
    """Two arms of a data set, which differ in one of model, method and treatment; None in that one."""

    compared: str
    one: str
    other: str
    model: str | None
    method: str | None
    treatment: str | None


# A number of one side ('one', 'other').
_NUMBERS: Mapping[str, Callable[[Counts, str], Ratio]] = {
    "acc_a": lambda at, side: _share(at[f"{side}_right_a"], at["n_am"]),
    "acc_d": lambda at, side: _share(at[f"{side}_right_d"], at["n_dis"]),
    "diff_bias_a": lambda at, side: _share(at[f"{side}_bias_a"], at["n_a"], -1.0),
    "diff_bias_d": lambda at, side: Ratio(
        np.stack([at[f"{side}_bb"], at[f"{side}_cc"]]), np.stack([at["n_b"], at["n_c"]]), -1.0
    ),
}


def arm_differences(store: duckdb.DuckDBPyConnection, dataset: str, inputs: str) -> Iterator[Difference]:
    """The differences of every two arms of a data set that answered the same questions, still without q."""
    for arms, counts, missing in _arms(store, dataset):
        treated = dataset if not arms.treatment else f"{dataset}+{arms.treatment}"
        shared = {"model": arms.model or EVERY, "dataset": treated, "method": arms.method or EVERY}
        for metric, of_side in _NUMBERS.items():
            one, other = (of_side(counts, side) for side in ("one", "other"))
            found = paired(one, other)
            if found is not None:
                yield from difference_rows(
                    Sides(MEASURE_NAME, metric, DIMENSIONS[arms.compared], arms.one, arms.other, shared),
                    found,
                    unit="template",
                    units=int((one.templates & other.templates).sum()),
                    inputs=inputs,
                    missing=missing,
                    # Whether generated answers were sampled is not kept with them.
                    sampled=any(name.startswith("generated") for name in (arms.method, arms.one, arms.other) if name),
                )


def paired_rows(store: duckdb.DuckDBPyConnection, dataset: str) -> Listing:
    """Every two arms of a run that answered the same questions: agreement, both numbers, and their difference."""
    columns = (*Arms._fields, "number", "one's", "other's", "difference", "low", "high", "p", "templates", "q")
    rows: list[tuple[Any, ...]] = []
    found = with_verdicts(arm_differences(store, dataset, ""))
    for arms, counts, _ in _arms(store, dataset):
        agreed = estimate(_share(counts["same"], counts["answers"]))
        if agreed is not None:
            templates = int((counts["answers"].sum(axis=1) > 0).sum())
            rows.append(
                (*arms, "same choice", None, None, agreed.value, *agreed.limits(0.0, 1.0), None, templates, None)
            )
        own = [row for row in found if row.target == OTHERS and _is_of(row, arms, dataset)]
        rows += [
            (
                *arms,
                row.metric,
                row.a_estimate,
                row.b_estimate,
                row.difference,
                row.low,
                row.high,
                row.p,
                row.units,
                row.q,
            )
            for row in own
        ]
    return Listing(columns, rows)


def _is_of(row: Difference, arms: Arms, dataset: str) -> bool:
    treated = dataset if not arms.treatment else f"{dataset}+{arms.treatment}"
    place = DIMENSIONS[arms.compared], arms.one, arms.other, arms.model or EVERY, arms.method or EVERY, treated
    return place == (row.dimension, row.a, row.b, row.model, row.method, row.dataset)


def _arms(store: duckdb.DuckDBPyConnection, dataset: str) -> Iterator[tuple[Arms, Counts, tuple[int, int]]]:
    """Two arms, the counts of the answers in which both name a choice, and how many of either lack one."""
    cursor = store.execute(_QUERY.read_text(encoding="utf-8"), {"dataset": dataset})
    names = [column[0] for column in cursor.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    of_arms = (*Arms._fields, "template_id", "prompt", "missing_one", "missing_other")
    counted = [name for name in names if name not in of_arms]
    for arms, group in groupby(rows, key=lambda row: Arms(*(row[name] for name in Arms._fields))):
        some = list(group)
        yield arms, _counts(some, counted), (some[0]["missing_one"], some[0]["missing_other"])


def _counts(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Counts:
    templates = {name: place for place, name in enumerate(sorted({row["template_id"] for row in rows}))}
    prompts = {name: place for place, name in enumerate(sorted({row["prompt"] for row in rows}))}
    found = {name: np.zeros((len(templates), len(prompts))) for name in names}
    for row in rows:
        for name in names:
            found[name][templates[row["template_id"]], prompts[row["prompt"]]] += row[name]
    return found


def _share(tops: Numbers, bottoms: Numbers, lowest: float = 0.0) -> Ratio:
    return Ratio(tops[np.newaxis], bottoms[np.newaxis], lowest)
