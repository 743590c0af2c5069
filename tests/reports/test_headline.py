"""The foot of the table of metrics: granularity without topics whose specific kinds the study does not define."""

from __future__ import annotations

from typing import Any

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.reports.headline import defined_granularity, why_missing
from polyculture.reports.names import Names
from polyculture.reports.texts import texts
from tests.store_builder import manifest


def row(metric: str, cells: int, value: float | None, language: str | None = None) -> dict[str, Any]:
    limits = {"low": value and value - 0.1, "high": value and value + 0.1, "no_interval": None}
    return {
        "model": "m",
        "metric": metric,
        "language": language,
        "cells": cells,
        "missing": 1,
        "estimate": value,
        **limits,
    }


@pytest.mark.parametrize(("cells", "value", "shown"), [(8, 0.5, True), (12, 0.5, False), (8, None, False)])
def test_it_stands_where_some_topics_are_left_out_and_others_are_not(
    cells: int, value: float | None, shown: bool
) -> None:
    numbers = [row("granularity", 12, 0.4), row("granularity_defined", cells, value), row("granularity", 1, 0.9, "en")]
    found = defined_granularity(numbers, manifest(["m", "n"], ["JP"], 1), Names(read_catalog(), ("m", "n")))
    assert [(name, one.value, one.interval) for name, one in found] == (
        [("m", "0.50", "0.40 to 0.60")] if shown else []
    )


@pytest.mark.parametrize(
    ("conditions", "why"),
    [(["neutral"], "no_explicit"), (["unstated"], "unstated"), (["neutral", "unstated"], "unstated")],
)
def test_texts_of_an_unstated_condition_may_well_name_a_country(conditions: list[str], why: str) -> None:
    told = manifest(["m"], ["JP"], 1).model_copy(update={"conditions": conditions})
    assert why_missing("specificity", {}, told) == why
    assert why in texts().missing
