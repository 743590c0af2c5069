"""The comparisons that a claim is about, made by the machinery of `polyculture compare`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from polyculture.cache.errors import did_you_mean
from polyculture.cache.schema.measured import EVERY
from polyculture.metrics.claims.claim import Claim
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import Row, Terms, compare
from polyculture.metrics.comparison.sides import Sides, group_languages, native_sides, one_against_rest
from polyculture.metrics.places import PER_CONDITION

CONDITION = "condition"


class UntestableError(Exception):
    """The run lacks what a claim is about; the message says what."""


@dataclass(frozen=True)
class ClaimedRun:
    """A run that claims are tested on."""

    run: ComparedRun
    native_pairs: tuple[tuple[str, str], ...]  # languages with the countries whose language they are
    fixed: Mapping[str, str]  # metrics in which no difference can be told, and why

    def rows(self, claim: Claim, selections: Iterable[str]) -> dict[str, list[Row]]:
        """The comparisons of a claim in each selection of texts, in the same order.

        Raises `UntestableError`.
        """
        condition = claim.condition
        if condition is not None and condition not in self.run.values[CONDITION]:
            raise UntestableError(self._lacks(CONDITION, condition))
        sides = self._sides(claim)
        if sides[0].dimension == CONDITION and condition is not None:
            raise UntestableError(f"{sides[0].a!r} and {sides[0].b!r} are conditions: leave condition out")
        if sides[0].dimension != CONDITION and condition is None and claim.metric in PER_CONDITION:
            raise UntestableError(f"{claim.metric} is per condition: add condition, such as 'explicit'")
        by = [] if condition is None else [CONDITION]
        terms = Terms(by, [claim.metric], [claim.target], tuple(selections), self.fixed)
        found: dict[str, list[Row]] = {selection: [] for selection in terms.selections}
        for row in compare([self.run], sides, terms):
            if row.difference.condition in (condition or EVERY, EVERY):
                found[row.difference.selection].append(row)
        if not found[terms.selections[0]]:
            raise UntestableError("no prompt was asked of both sides")
        return found

    def _sides(self, claim: Claim) -> list[Sides]:
        contrast = claim.contrast
        if contrast.native:
            return [native_sides(self.native_pairs)]
        if contrast.within is not None:
            asked = [[code for code in group if code in self.run.values["language"]] for group in contrast.within]
            if sum(map(bool, asked)) < 2:
                raise UntestableError("the run has languages of fewer than two of the groups")
            return [group_languages(contrast.within)]
        if contrast.each is not None:
            values = self._several(contrast.each)
            if len(values) == 2:  # the second against the first says nothing new
                return [Sides(contrast.each, values[0], values[1])]
            return [one_against_rest(contrast.each, value, values) for value in values]
        return self._of_one(contrast.a or "", contrast.against, contrast.named)

    def _of_one(self, a: str, against: str | tuple[str, ...], named: tuple[str, ...]) -> list[Sides]:
        dimension = next((name for name, values in self.run.values.items() if a in values), None)
        if dimension is None:
            raise UntestableError(self._lacks("value", a))
        for other in named:
            if other not in self.run.values[dimension]:
                raise UntestableError(self._lacks(dimension, other))
        if named:
            return [Sides(dimension, a, other) for other in named]
        values = self._several(dimension)
        if against == "rest" and dimension != CONDITION:
            return [one_against_rest(dimension, a, values)]
        return [Sides(dimension, a, other) for other in values if other != a]

    def _several(self, dimension: str) -> list[str]:
        values = sorted(self.run.values[dimension])
        if len(values) < 2:
            raise UntestableError(f"the run has only one {dimension}")
        return values

    def _lacks(self, what: str, value: str) -> str:
        near = did_you_mean(value, sorted(set().union(*self.run.values.values())))
        return f"the run has no {what} {value!r}{'. ' + near if near else ''}"
