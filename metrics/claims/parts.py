"""The comparisons that a claim is about, made by the machinery of `polyculture compare`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from polyculture.cache.errors import did_you_mean
from polyculture.metrics.claims.claim import Claim
from polyculture.metrics.comparison.compare import (
    NATIVE,
    WITHIN,
    Sides,
    compare,
    lay_out_native,
    values_of,
)
from polyculture.metrics.comparison.effect import Effect
from polyculture.metrics.comparison.groups import REST
from polyculture.metrics.intervals.estimate import PER_CONDITION

_COMPARED = ("model", "language", "country", "wording")  # of which the others, together, are a side
_GROUPS = Sides(WITHIN, "languages of a group", "languages of different groups")


@dataclass(frozen=True, slots=True)
class Part:
    """A comparison of a claim; without an effect where no prompt was asked of both sides."""

    dimension: str  # as of `Sides`
    a: str
    b: str
    effect: Effect | None


class UntestableError(Exception):
    """The run lacks what a claim is about; the message says what."""


class Store:
    """A run that claims are tested on: its connection, and what it asked."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, native_pairs: Iterable[tuple[str, str]]) -> None:
        """`native_pairs` are languages with the countries whose language they are."""
        self.connection = connection
        self.values: Mapping[str, set[str]] = values_of(connection)
        lay_out_native(connection, native_pairs)

    def parts(self, claim: Claim) -> list[Part]:
        """The comparisons of a claim. Raises `UntestableError`."""
        condition = claim.condition
        if condition is not None and condition not in self.values["condition"]:
            raise UntestableError(self._lacks("condition", condition))
        return [self._part(sides, claim) for sides in self._sides(claim)]

    def _part(self, sides: Sides, claim: Claim) -> Part:
        by = ["condition"] if claim.condition is not None or claim.metric in PER_CONDITION else []
        by = [] if sides.dimension == "condition" else by
        rows = compare(self.connection, sides, by, [claim.metric], claim.blocks)
        found = [row for row in rows if row.metric == claim.metric and row.group.get("condition") in _asked(claim, by)]
        return Part(sides.dimension, sides.a, sides.b, found[0].effect if found else None)

    def _sides(self, claim: Claim) -> list[Sides]:
        contrast = claim.contrast
        if contrast.native:
            return [NATIVE]
        if contrast.within is not None:
            self._lay_out_groups(contrast.within)
            return [_GROUPS]
        if contrast.each is not None:
            values = sorted(self.values[contrast.each])
            if len(values) < 2:
                raise UntestableError(f"the run has only one {contrast.each}")
            if len(values) == 2:  # the second against the first says nothing new
                return [Sides(contrast.each, values[0], values[1])]
            return [_against(contrast.each, value, values) for value in values]
        return self._of_one(contrast.a or "", contrast.against)

    def _of_one(self, a: str, against: str) -> list[Sides]:
        dimension = next((name for name, values in self.values.items() if a in values), None)
        if dimension is None:
            raise UntestableError(self._lacks("value", a))
        values = sorted(self.values[dimension])
        if against not in ("rest", "each"):
            if against not in values:
                raise UntestableError(self._lacks(dimension, against))
            return [Sides(dimension, a, against)]
        if len(values) < 2:
            raise UntestableError(f"the run has only one {dimension}")
        if against == "rest" and dimension in _COMPARED:
            return [_against(dimension, a, values)]
        return [Sides(dimension, a, other) for other in values if other != a]

    def _lacks(self, what: str, value: str) -> str:
        near = did_you_mean(value, sorted(set().union(*self.values.values())))
        return f"the run has no {what} {value!r}{'. ' + near if near else ''}"

    def _lay_out_groups(self, groups: Iterable[Iterable[str]]) -> None:
        rows = [(language, place) for place, group in enumerate(groups) for language in group]
        if len({place for language, place in rows if language in self.values["language"]}) < 2:
            raise UntestableError("the run has languages of fewer than two of the groups")
        table = pa.table({"language": [row[0] for row in rows], "place": [row[1] for row in rows]})
        self.connection.register("claim_groups", table)


def _asked(claim: Claim, by: list[str]) -> tuple[str | None, ...]:
    return (claim.condition,) if by else (None, "")


def _against(dimension: str, value: str, values: list[str]) -> Sides:
    return Sides(dimension, value, REST, (value,), tuple(other for other in values if other != value))
