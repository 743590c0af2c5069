"""The rows of `numbers` of Cultural Bias Scores by our protocol: ties strict, each context alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from polyculture.cache.schema.measured import CELL, EVERY, Number
from polyculture.instruments.cbs.averages import Tally, averaged, by_type, contexts_in, entities_in
from polyculture.instruments.cbs.bias import ContextScore
from polyculture.instruments.cbs.layout import MEASURE
from polyculture.instruments.cbs.score_matrix import ContextCondition

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
    rule: str, unit: ScoreGroup, condition: ContextCondition, tallies: Sequence[Tally], inputs: str
) -> Number:
    """The score of one type, or the average over several: these rest on other contexts and other entities."""
    score = averaged(tallies, "contexts")
    comparisons = [row for tally in tallies for row in tally.comparisons]
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
