"""The rows of `numbers` and `differences` of Cultural Bias Scores by our protocol: ties strict, each context alike.

What is compared:
- model: two models, over the contexts and entities that both have.
- language: a language and English, over the contexts and entities that stand in both.
- condition: grounded less neutral contexts, which meet the same entities.
- context_prefix, phrasing: the same contexts asked in two ways.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from polyculture.cache.store.schema.measured import CELL, EVERY, Difference, Number
from polyculture.cache.store.store import Store
from polyculture.instruments.cbs.averages import (
    ScoreContrast,
    TypeScores,
    averaged,
    by_type,
    contexts_in,
    contexts_of,
    contrasts_by_type,
    entities_in,
    mean_contrast,
    paired,
)
from polyculture.instruments.cbs.layout import MEASURE
from polyculture.instruments.cbs.score_matrix import ContextCondition
from polyculture.instruments.cbs.uncertainty import ContextScore
from polyculture.instruments.datasets.english import ENGLISH
from polyculture.instruments.differences import ComparedFacets, SharedCell, difference_rows

SCORE = "cbs"
_METHOD = "jackknife over contexts and entities, crossed; symmetric on the logit scale, or Wilson's where all agree"


class ScoreGroup(NamedTuple):
    """The entities of one type that were compared, under all conditions; '' stands for all."""

    model: str
    dataset: str
    language: str
    culture: str
    entity_type: str
    form: str


def score_number(
    rule: str, unit: ScoreGroup, condition: ContextCondition, tallies: Sequence[TypeScores], inputs: str
) -> Number:
    """The score of one type, or the average over several: these rest on other contexts and other entities."""
    score = averaged(tallies, "contexts")
    comparisons = [row for tally in tallies for row in tally.placed.comparisons]
    facets = {"form": unit.form, "phrasing": condition.phrasing, "context_prefix": condition.context_prefix}
    return Number(
        measure=MEASURE.name,
        metric=SCORE,
        level=_level(unit),
        model=unit.model,
        dataset=unit.dataset,
        language=unit.language or EVERY,
        country=unit.culture or EVERY,
        topic=unit.entity_type or EVERY,
        condition=condition.setting,
        method=rule,
        facets={name: value for name, value in sorted(facets.items()) if value},
        estimate=score.value,
        low=score.low,
        high=score.high,
        no_interval=score.lacking,
        no_wide="one wording",
        unit="context",
        units=sum(contexts_in(some, "contexts") for some in by_type(tallies)),
        n=sum(row.pairs for row in comparisons),
        sizes={
            "native_entities": sum(entities_in(some, "native") for some in by_type(tallies)),
            "western_entities": sum(entities_in(some, "western") for some in by_type(tallies)),
            **_sizes(comparisons),
        },
        cells=len(tallies),
        method_of_interval=_METHOD,
        inputs=inputs,
    )


def _level(unit: ScoreGroup) -> str:
    if unit.entity_type:
        return CELL
    return "model, dataset, language, country, condition" if unit.language else "model, dataset, condition"


def _sizes(comparisons: Sequence[ContextScore]) -> dict[str, int]:
    """The pairs that tie, those that the Western entity wins; the entities of each side that a context has."""
    native, western = [row.native for row in comparisons], [row.western for row in comparisons]
    return {
        "native_fewest": min(native),
        "native_most": max(native),
        "western_fewest": min(western),
        "western_most": max(western),
        "tied": sum(row.tied for row in comparisons),
        "western_won": sum(row.won for row in comparisons),
    }


PLAIN = "plain"  # the second side of a contrast with contexts that have a prefix
UNIT = "context x entity"


@dataclass(frozen=True, slots=True)
class ScoredType:
    """A type of entities under a rule."""

    rule: str
    group: ScoreGroup
    again: bool  # its contexts are translations of others that were scored, too
    tallies: Mapping[ContextCondition, TypeScores]

    @property
    def levels(self) -> tuple[ScoreGroup, ...]:
        """Over all types of a language and culture, and over all of a data set; no context counts twice there."""
        over_types = self.group._replace(entity_type="")
        return (over_types,) if self.again else (over_types, over_types._replace(language="", culture=""))


class TypeCell(NamedTuple):
    """A type of a model under a condition."""

    group: ScoreGroup
    condition: ContextCondition


class _ComparisonKey(NamedTuple):
    """What is compared, and where; '' in the facet that is compared, and for all."""

    dimension: str
    a: str
    b: str
    group: ScoreGroup
    condition: ContextCondition


class _CellPair(NamedTuple):
    """The two cells that a difference of a type is of."""

    place: _ComparisonKey
    one: TypeCell
    other: TypeCell


@dataclass
class _RowContrasts:
    """What a row is made of."""

    contrasts: list[ScoreContrast] = field(default_factory=list)
    missing: list[int] = field(default_factory=lambda: [0, 0])  # of either side: asked, and without a number
    left_out: int = 0  # only one side was asked


def scored_cells(store: Store) -> set[TypeCell]:
    """The cells that were asked, whether or not they have a score."""
    names = ", ".join(ScoreGroup._fields)
    query = f"SELECT DISTINCT {names}, setting, coalesce(phrasing, ''), coalesce(context_prefix, '') FROM scores"  # noqa: S608
    size = len(ScoreGroup._fields)
    return {TypeCell(ScoreGroup(*row[:size]), ContextCondition(*row[size:])) for row in store.sql(query).fetchall()}


def bias_differences(types: Sequence[ScoredType], asked: set[TypeCell], inputs: str) -> Iterator[Difference]:
    """The differences of each type, over the types of a language and culture, and over all, still without q."""
    again = {one.group for one in types if one.again}
    pairs = [*_of_models(asked), *_of_conditions(asked), *_of_languages(asked)]
    for rule in dict.fromkeys(one.rule for one in types):
        of_rule = [one for one in types if one.rule == rule]
        tallies = {TypeCell(one.group, condition): found for one in of_rule for condition, found in one.tallies.items()}
        places: dict[_ComparisonKey, _RowContrasts] = {}
        for pair in pairs:
            contrast = _contrast(tallies, pair)
            for place in _levels(pair, again):
                _add(places.setdefault(place, _RowContrasts()), pair, contrast, asked, tallies)
        for place, found in places.items():
            if found.contrasts:
                yield from _rows(rule, place, found, inputs)


def _contrast(tallies: Mapping[TypeCell, TypeScores], pair: _CellPair) -> ScoreContrast | None:
    """Settings have contexts of their own, and share the entities; all else is compared context by context."""
    one, other = tallies.get(pair.one), tallies.get(pair.other)
    if one is None or other is None:
        return None
    culture = pair.one.group.culture
    return ScoreContrast(one, other, culture) if pair.place.dimension == "condition" else paired(one, other, culture)


def _add(
    found: _RowContrasts,
    pair: _CellPair,
    contrast: ScoreContrast | None,
    asked: set[TypeCell],
    tallies: Mapping[TypeCell, TypeScores],
) -> None:
    if contrast is not None:
        found.contrasts.append(contrast)
    elif pair.one in asked and pair.other in asked:
        for side, cell in enumerate((pair.one, pair.other)):
            found.missing[side] += cell not in tallies
    else:
        found.left_out += 1


def _of_models(asked: set[TypeCell]) -> Iterator[_CellPair]:
    models: dict[str, set[str]] = {}
    for group, _ in asked:
        models.setdefault(group.dataset, set()).add(group.model)
    for group, condition in sorted({TypeCell(cell.group._replace(model=""), cell.condition) for cell in asked}):
        for one, other in combinations(sorted(models[group.dataset]), 2):
            cells = [TypeCell(group._replace(model=model), condition) for model in (one, other)]
            if any(cell in asked for cell in cells):
                yield _CellPair(_ComparisonKey("model", one, other, group, condition), *cells)


def _of_conditions(asked: set[TypeCell]) -> Iterator[_CellPair]:
    """Settings; a prefix and none; two phrasings."""
    for group, condition in sorted(asked):
        others = [name for _, name, _ in (cell.condition for cell in asked if cell.group == group)]
        ways = {
            "condition": (condition._replace(setting="grounded"), condition._replace(setting="neutral")),
            "context_prefix": (condition, condition._replace(context_prefix="")),
        }
        ways |= {
            f"phrasing {name}": (condition, condition._replace(phrasing=name))
            for name in others
            if condition.phrasing > name > ""
        }
        for way, (one, other) in ways.items():
            dimension = way.partition(" ")[0]
            facet = "setting" if dimension == "condition" else dimension
            if condition == one != other or (condition == other and dimension == "condition"):
                a, b = (getattr(each, facet) or PLAIN for each in (one, other))
                place = _ComparisonKey(dimension, a, b, group, one._replace(**{facet: ""}))
                yield _CellPair(place, TypeCell(group, one), TypeCell(group, other))


def _of_languages(asked: set[TypeCell]) -> Iterator[_CellPair]:
    """Each language that was asked in English, too, and English."""
    languages = sorted({group.language for group, _ in asked} - {ENGLISH})
    for group, condition in sorted(cell for cell in asked if cell.group.language == ENGLISH):
        for language in languages:
            native = TypeCell(group._replace(language=language), condition)
            if native in asked:
                place = _ComparisonKey("language", language, ENGLISH, group._replace(language=""), condition)
                yield _CellPair(place, native, TypeCell(group, condition))


def _levels(pair: _CellPair, again: Collection[ScoreGroup]) -> list[_ComparisonKey]:
    """The type, all types of its language and culture, and all of the data set, where no context counts twice."""
    place, group = pair.place, pair.place.group
    over_types = group._replace(entity_type="")
    levels = [group, over_types]
    if place.dimension != "language" and not {pair.one.group, pair.other.group} & set(again):
        levels.append(over_types._replace(language="", culture=""))
    return [place._replace(group=level) for level in levels]


def _rows(rule: str, place: _ComparisonKey, found: _RowContrasts, inputs: str) -> Iterator[Difference]:
    group, condition, contrasts = place.group, place.condition, found.contrasts
    shared = {"model": group.model, "dataset": group.dataset, "language": group.language, "country": group.culture}
    shared |= {"topic": group.entity_type, "condition": condition.setting, "method": rule}
    facets = {"form": group.form, "phrasing": condition.phrasing, "context_prefix": condition.context_prefix}
    of_both = {name: value or EVERY for name, value in shared.items()}
    sides = ComparedFacets(MEASURE.name, SCORE, place.dimension, place.a, place.b, of_both, facets)
    yield from difference_rows(
        sides,
        mean_contrast(contrasts),
        unit=UNIT,
        units=sum(contexts_of(some) for some in contrasts_by_type(contrasts)),
        inputs=inputs,
        parts=[_part(contrast) for contrast in contrasts],
        missing=(found.missing[0], found.missing[1]),
        left_out=found.left_out,
    )


def _part(contrast: ScoreContrast) -> SharedCell:
    found, weight = contrast.alone
    return SharedCell(contrast.entity_type, contrast.culture, found.difference.value, weight)
