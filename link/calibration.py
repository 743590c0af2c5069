"""The confidence of a link: the share of correct links of its kind on gold data.

The kind is the match, whether the link is ambiguous, and the competition: the other items with the same name. A mention
"blues" that inflection links to "blue" is less certain where "blues" is itself the name of an item.
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

MATCHES = ("label", "alias", "normalised", "english", "variant", "inflected", "within", "fuzzy")  # strongest first
AMBIGUOUS, ANY = "ambiguous", "any"  # stand for any kind of match; `ANY` for kinds without a line of their own

# Which other items have the name: none, lower-ranked ones of the topic, or items outside the topic.
Competition: TypeAlias = Literal["alone", "rivals", "shared"]
COMPETITIONS: tuple[Competition, ...] = get_args(Competition)


@dataclass(frozen=True, slots=True)
class Basis:
    """The evidence for a confidence: `of` links of that kind on gold data, `right` of them correct."""

    right: int
    of: int

    @property
    def confidence(self) -> float:
        """The posterior mean under a uniform prior, so that few cases do not give certainty."""
        return (self.right + 1) / (self.of + 2)


@cache
def bases() -> Mapping[tuple[str, Competition], Basis]:
    """The basis by match kind (or `AMBIGUOUS`, `ANY`) and competition."""
    counts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        (match, competition): Basis(*count)
        for competition in COMPETITIONS
        for match, count in counts[competition].items()
    }


def basis_of(link: Mapping[str, Any]) -> Basis | None:
    """The basis of a row of `links`; None where nothing is linked."""
    if link["qid"] is None:
        return None
    return bases()[key_of(link["status"], link["match"], link["candidates"], link["survivors"])]


def key_of(status: str, match: str, candidates: int, survivors: int) -> tuple[str, Competition]:
    """The key of a link's basis."""
    return _counted(AMBIGUOUS if status == AMBIGUOUS else match, competition_of(candidates, survivors))


def competition_of(candidates: int, survivors: int) -> Competition:
    """The competition among so many candidates, of which `survivors` are in the topic."""
    if candidates > survivors:
        return "shared"
    return "rivals" if survivors > 1 else "alone"


def create_confidences(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the table `confidences`: match (or 'ambiguous'), competition, confidence."""
    keys = [(match, competition) for match in (*MATCHES, AMBIGUOUS) for competition in COMPETITIONS]
    rows = [
        {"match": match, "competition": competition, "confidence": basis.confidence}
        for match, competition in keys
        if (basis := bases().get(_counted(match, competition)))
    ]
    connection.from_arrow(pa.Table.from_pylist(rows)).create("confidences")


def _counted(match: str, competition: Competition) -> tuple[str, Competition]:
    """The line of a kind of link: its own, or `ANY`."""
    return (match if match == AMBIGUOUS or (match, competition) in bases() else ANY), competition
