"""How sure a link is: the share of links of its kind that were right on gold data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa


@cache
def confidences() -> Mapping[str, float]:
    """The probability that a link is right, by kind of match, and of an `ambiguous` one.

    The mean of the posterior under a uniform prior, (right + 1) / (all + 2): few cases do not make certainty.
    """
    counts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {match: (right + 1) / (of + 2) for match, (right, of) in counts.items()}


def lay_out_confidences(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the table `confidences`: match, confidence."""
    rows = [{"match": match, "confidence": confidence} for match, confidence in confidences().items()]
    connection.from_arrow(pa.Table.from_pylist(rows)).create("confidences")
