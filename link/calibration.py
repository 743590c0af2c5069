"""How sure a link is: the share of links of its kind that were right on gold data.

What tells how sure a link is: the kind of match, whether it is ambiguous, and which other items bear the name, too. A
mention of blues linked to blue by a rule of inflection is another matter where blues is a name of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import duckdb
import pyarrow as pa

MATCHES = ("label", "alias", "normalised", "english", "variant", "inflected", "fuzzy")  # strongest first
AMBIGUOUS, ANY = "ambiguous", "any"  # stand for the kind of match, whatever that is; `ANY` for those without a line

# Which other items bear the name: none; some in the topic, which lost; some outside it.
Company: TypeAlias = Literal["alone", "rivals", "shared"]
COMPANIES: tuple[Company, ...] = get_args(Company)


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
def bases() -> Mapping[tuple[str, Company], Basis]:
    """The basis by kind of match, `AMBIGUOUS` or `ANY`, and by which other items bear the name."""
    counts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {(match, company): Basis(*count) for company in COMPANIES for match, count in counts[company].items()}


def basis_of(link: Mapping[str, Any]) -> Basis | None:
    """The basis of a row of `links`; None where nothing is linked."""
    if link["qid"] is None:
        return None
    return bases()[key_of(link["status"], link["match"], link["candidates"], link["survivors"])]


def key_of(status: str, match: str, candidates: int, survivors: int) -> tuple[str, Company]:
    """What the confidence of a link goes by."""
    return _counted(AMBIGUOUS if status == AMBIGUOUS else match, company_of(candidates, survivors))


def company_of(candidates: int, survivors: int) -> Company:
    """Which other items bear the name, of so many that do and so many of these in the topic."""
    if candidates > survivors:
        return "shared"
    return "rivals" if survivors > 1 else "alone"


def lay_out_confidences(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the table `confidences`: match (or 'ambiguous'), company, confidence."""
    keys = [(match, company) for match in (*MATCHES, AMBIGUOUS) for company in COMPANIES]
    rows = [
        {"match": match, "company": company, "confidence": basis.confidence}
        for match, company in keys
        if (basis := bases().get(_counted(match, company)))
    ]
    connection.from_arrow(pa.Table.from_pylist(rows)).create("confidences")


def _counted(match: str, company: Company) -> tuple[str, Company]:
    """Where a kind of link is counted: in a line of its own, or with others."""
    return (match if match == AMBIGUOUS or (match, company) in bases() else ANY), company
