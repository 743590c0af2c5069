"""How sure a link is: the share of links of its kind that were right on gold data.

What tells how sure a link is: the kind of match, whether it is ambiguous, and whether an item outside the topic bears
the name, too. A mention of blues linked to blue by a rule of inflection is another matter where blues is a name of its
own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

AMBIGUOUS = "ambiguous"  # stands for the kind of match, whatever that is


@dataclass(frozen=True, slots=True)
class Basis:
    """What a confidence rests on: links of that kind on gold data, and how many of them were right."""

    right: int
    of: int

    @property
    def confidence(self) -> float:
        """The mean of the posterior under a uniform prior: few cases do not make certainty."""
        return (self.right + 1) / (self.of + 2)


@cache
def bases() -> Mapping[tuple[str, bool], Basis]:
    """The basis by kind of match (or `AMBIGUOUS`), and by whether items outside the topic bear the name."""
    counts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        (match, shared): Basis(*count)
        for shared, table in ((False, "alone"), (True, "shared"))
        for match, count in counts[table].items()
    }


def basis_of(link: Mapping[str, Any]) -> Basis | None:
    """The basis of a row of `links`; None where nothing is linked."""
    if link["qid"] is None:
        return None
    match = AMBIGUOUS if link["status"] == AMBIGUOUS else link["match"]
    return bases()[match, link["candidates"] > link["survivors"]]


def lay_out_confidences(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the table `confidences`: match, shared, confidence."""
    rows = [
        {"match": match, "shared": shared, "confidence": basis.confidence} for (match, shared), basis in bases().items()
    ]
    connection.from_arrow(pa.Table.from_pylist(rows)).create("confidences")
