"""The comparisons that a claim is about: those of texts, made by the machinery of `polyculture compare`; those that
instruments wrote; and numbers of the run against a stated one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from polyculture.cache.errors import ExperimentError, Mistakes
from polyculture.cache.store.schema.measured import EVERY, WITHOUT, Difference
from polyculture.cache.text.suggestions import did_you_mean, near_words
from polyculture.metrics import MEASURE
from polyculture.metrics.claims.claim import Claim
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import ComparisonRow, Terms, compare
from polyculture.metrics.comparison.sides import Sides, group_languages, native_sides, one_against_rest
from polyculture.metrics.comparison.stored import StoredDifferences, facet_of, stated, turn
from polyculture.metrics.declared import is_per_country
from polyculture.metrics.responses import ALL

CONDITION = "condition"
_NEARLY = 80  # of 100: data sets have values that are alike


class UntestableClaimError(Exception):
    """The run lacks what a claim is about; the message says what."""


def check_values(run: ComparedRun, stated: Iterable[Claim], known: Mapping[str, Collection[str]]) -> None:
    """Raises `ExperimentError`, a line a claim, for values of texts that neither the run has nor what is `known`, by
    dimension. What instruments write is theirs: a value that the run lacks may be that of another data set."""
    mistakes = Mistakes()
    for claim in (one for one in stated if one.measure == MEASURE.name):
        for name, value in claim.where.items():
            if name in known and value != WITHOUT:
                with mistakes:
                    _check_value(claim, name, value, {*known[name], *run.values.get(name, ())})
        contrast = claim.contrast
        everything = {value for values in (*known.values(), *run.values.values()) for value in values}
        sides = (contrast.a, *contrast.named, *(language for group in contrast.within or () for language in group))
        for side in filter(None, sides):
            # A model that was not asked is no mistake: its name says that it is one.
            if ":" not in side:
                with mistakes:
                    _check_value(claim, "value", side, everything)
    mistakes.tell()


def _check_value(claim: Claim, name: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        what = f"claim {claim.name!r}: there is no {name} {value!r}"
        raise ExperimentError(what, remedy=did_you_mean(value, known, otherwise=""))


@dataclass(frozen=True)
class ClaimedRun:
    """A run that claims are tested on."""

    run: ComparedRun
    native_pairs: tuple[tuple[str, str], ...]  # languages with the countries whose language they are
    fixed: Mapping[str, str]  # metrics in which no difference can be told, and why

    @property
    def selections(self) -> list[str]:
        """Those that leave texts out."""
        return [name for name in self.run.selections if name != ALL]

    def rows(self, claim: Claim, selections: Iterable[str]) -> dict[str, list[ComparisonRow]]:
        """The comparisons of a claim in each selection of texts, in the same order; of what stands in the store of all.

        Raises `UntestableClaimError`.
        """
        if claim.contrast.than is None and claim.measure == MEASURE.name:
            return self._of_texts(claim, selections)
        found = self._numbers(claim, claim.contrast.than) if claim.contrast.than is not None else self._stored(claim)
        if claim.measure == MEASURE.name and claim.metric in self.fixed:
            found = [
                ComparisonRow(replace(row.difference, low=None, high=None, reason=self.fixed[claim.metric]), None)
                for row in found
            ]
        return {ALL: found}

    def _numbers(self, claim: Claim, than: float) -> list[ComparisonRow]:
        return self._chosen(claim, self._kept.numbers(claim.measure, claim.metric, than), "number")

    def _stored(self, claim: Claim) -> list[ComparisonRow]:
        contrast = claim.contrast
        every = [row for row in self._kept.rows if (row.measure, row.metric) == (claim.measure, claim.metric)]
        if contrast.each is not None:
            found = [row for row in every if row.dimension == contrast.each]
        else:
            turned = [turn(row) if row.b == contrast.a else row for row in every]
            found = [row for row in turned if row.a == contrast.a and row.b in (contrast.named or (row.b,))]
        return self._chosen(claim, found, "comparison")

    def _chosen(self, claim: Claim, rows: Sequence[Difference], what: str) -> list[ComparisonRow]:
        """The coarsest rows that are as the claim says, of each data set, method and reader."""
        found = stated(rows, claim.target, claim.where, claim.by)
        if not found:
            facets = "".join(f", {name} {value}{self._meant(name, value)}" for name, value in claim.where.items())
            each = f" by {' and '.join(claim.by)}" if claim.by else ""
            name = " ".join(dict.fromkeys((claim.measure, claim.metric)))
            raise UntestableClaimError(f"the run has no such {what} of {name}{facets}{each}")
        return found

    def _meant(self, facet: str, value: str) -> str:
        """The value that an absent one is nearly: it may be misspelt, or of what the run did not ask."""
        there = {facet_of(row, facet) for row in self._kept.rows} - {EVERY, WITHOUT}
        near = [] if value in there else near_words(value, there, alike=_NEARLY)
        return f" (did you mean {near[0]!r}?)" if near else ""

    @cached_property
    def _kept(self) -> StoredDifferences:
        return StoredDifferences(self.run.store)

    def _of_texts(self, claim: Claim, selections: Iterable[str]) -> dict[str, list[ComparisonRow]]:
        for name, value in claim.where.items():
            if name in self.run.values and value not in self.run.values[name]:
                raise UntestableClaimError(f"the run has no {name} {value!r}")
        sides = self._sides(claim)
        by = tuple(dict.fromkeys((*claim.where, *claim.by)))
        dimension = sides[0].dimension if sides[0].dimension in self.run.values else "language"
        if dimension in by:
            raise UntestableClaimError(
                f"{sides[0].a!r} and {sides[0].b!r} are each a {dimension}: leave {dimension} out"
            )
        if dimension != CONDITION and CONDITION not in by and is_per_country(claim.metric):
            raise UntestableClaimError(f"{claim.metric} is per condition: add where = {{ condition = 'explicit' }}")
        terms = Terms(by, [claim.metric], [claim.target], tuple(selections), self.fixed)
        found: dict[str, list[ComparisonRow]] = {selection: [] for selection in terms.selections}
        for row in compare([self.run], sides, terms):
            if all(getattr(row.difference, name) == value for name, value in claim.where.items()):
                found[row.difference.selection].append(row)
        if not found[terms.selections[0]]:
            raise UntestableClaimError("no prompt was asked of both sides")
        return found

    def _sides(self, claim: Claim) -> list[Sides]:
        contrast = claim.contrast
        if contrast.native:
            return [native_sides(self.native_pairs)]
        if contrast.within is not None:
            asked = [[code for code in group if code in self.run.values["language"]] for group in contrast.within]
            if sum(map(bool, asked)) < 2:
                raise UntestableClaimError("the run has languages of fewer than two of the groups")
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
            raise UntestableClaimError(f"the run has no value {a!r}")
        for other in named:
            if other not in self.run.values[dimension]:
                raise UntestableClaimError(f"the run has no {dimension} {other!r}")
        if named:
            return [Sides(dimension, a, other) for other in named]
        values = self._several(dimension)
        if against == "rest" and dimension != CONDITION:
            return [one_against_rest(dimension, a, values)]
        return [Sides(dimension, a, other) for other in values if other != a]

    def _several(self, dimension: str) -> list[str]:
        values = sorted(self.run.values[dimension])
        if len(values) < 2:
            raise UntestableClaimError(f"the run has only one {dimension}")
        return values
