"""Scores and differences under a rule, ties count and average: the rows that `measure` writes.

The report's scores, ties strict and each context alike, are rows of `numbers`; all others rows of tables of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from polyculture.cache.schema.measured import CELL, EVERY, WITHOUT, Number
from polyculture.instruments.cbs.averages import (
    Average,
    Tally,
    averaged,
    averaged_draws,
    by_type,
    contexts_in,
    entities_in,
)
from polyculture.instruments.cbs.bias import ContextScore, Ties
from polyculture.instruments.cbs.camel_draws import CamelDraws
from polyculture.instruments.cbs.contrasts import Contrast, contexts_of, contrasts_by_type, mean_contrast
from polyculture.instruments.cbs.layout import MEASURE
from polyculture.instruments.cbs.rows import BiasInterval
from polyculture.instruments.cbs.score_matrix import ContextCondition

SCORE, OF_DRAWS, DRAWS_DEVIATION = "cbs", "cbs_of_draws", "cbs_of_draws_deviation"
NO_INTERVAL_OF_DRAWS = "spread over draws"
_METHOD = "jackknife over contexts and entities, crossed; symmetric on the logit scale, or Wilson's where all agree"
_SIZES = (
    *("native_entities", "western_entities", "native_fewest", "native_most", "western_fewest", "western_most"),
    *("tied", "western_won", "columns"),
)


class ScoreGroup(NamedTuple):
    """The entities of one type that were compared, under all conditions; '' stands for all."""

    model: str
    dataset: str
    language: str
    culture: str
    entity_type: str
    form: str


class Reading(NamedTuple):
    """How likelihoods become a score."""

    rule: str
    ties: Ties
    average: Average


def score_row(
    reading: Reading,
    unit: ScoreGroup,
    condition: ContextCondition,
    tallies: Sequence[Tally],
    drawing: CamelDraws,
    gender: str | None = None,
    *,
    apart: bool = False,
) -> BiasInterval:
    """The score of one type, or the average over several: these rest on other contexts and other entities."""
    score = averaged(tallies, reading.average, apart=apart)
    comparisons = [row for tally in tallies for row in tally.compared(reading.average, apart=apart)]
    sampled = averaged_draws(tallies, reading.average, drawing, apart=apart)
    return BiasInterval(
        metric="cbs",
        **_of(reading, unit),
        setting=condition.setting,
        other_setting=None,
        phrasing=condition.phrasing or None,
        other_phrasing=None,
        context_prefix=condition.context_prefix or None,
        plain=False,
        estimate=score.value,
        low=score.low,
        high=score.high,
        p=None,
        contexts=sum(contexts_in(some, reading.average, apart=apart) for some in by_type(tallies)),
        native_entities=sum(entities_in(some, "native") for some in by_type(tallies)),
        western_entities=sum(entities_in(some, "western") for some in by_type(tallies)),
        **_sizes(comparisons),
        sampled_mean=sampled.mean if sampled else None,
        sampled_deviation=sampled.deviation if sampled else None,
        draws=drawing.draws,
        drawn=drawing.entities,
        lacking=score.lacking,
        gender=gender,
        columns=sum(len(tally.parts(reading.average, apart=apart)) for tally in tallies),
    )


def difference_row(
    reading: Reading,
    unit: ScoreGroup,
    conditions: tuple[ContextCondition, ContextCondition],
    contrasts: Sequence[Contrast],
    *,
    apart: bool = False,
) -> BiasInterval:
    """The difference of one type, or the average over several."""
    one, other = conditions
    found = mean_contrast(contrasts, reading.average, apart=apart)
    comparisons = [row for contrast in contrasts for row in contrast.compared(reading.average, apart=apart)]
    ones = [contrast.one for contrast in contrasts]
    return BiasInterval(
        metric="cbs_difference",
        **_of(reading, unit),
        setting=one.setting,
        other_setting=other.setting if other.setting != one.setting else None,
        phrasing=one.phrasing or None,
        other_phrasing=other.phrasing if other.phrasing != one.phrasing else None,
        context_prefix=one.context_prefix or None,
        plain=one.context_prefix != other.context_prefix,
        estimate=found.value,
        low=found.low,
        high=found.high,
        p=found.p,
        contexts=sum(contexts_of(some, reading.average, apart=apart) for some in contrasts_by_type(contrasts)),
        native_entities=sum(entities_in(some, "native") for some in by_type(ones)),
        western_entities=sum(entities_in(some, "western") for some in by_type(ones)),
        **_sizes(comparisons),
        sampled_mean=None,
        sampled_deviation=None,
        draws=None,
        drawn=None,
        lacking=found.lacking,
        columns=sum(len(contrast.parts(reading.average, apart=apart)) for contrast in contrasts),
    )


def numbers_of(row: BiasInterval, inputs: str) -> Iterator[Number]:
    """The score of a type, or over types; then CAMeL's mean over draws of entities and its deviation, where it drew.

    Culture is `country` here, the type of entities `topic`, and the setting `condition`.
    """
    facets = {"form": row.form, "phrasing": row.phrasing, "context_prefix": row.context_prefix}
    score = Number(
        measure=MEASURE.name,
        metric=SCORE,
        level=_level(row),
        model=row.model,
        dataset=row.dataset,
        language=row.language or EVERY,
        country=row.culture or EVERY,
        topic=row.entity_type or EVERY,
        condition=row.setting,
        wording=WITHOUT,
        method=row.rule,
        reader=WITHOUT,
        facets={name: value for name, value in sorted(facets.items()) if value},
        estimate=row.estimate,
        no_estimate=None,
        low=row.low,
        high=row.high,
        no_interval=row.lacking,
        wide_low=None,
        wide_high=None,
        no_wide="one wording",
        unit="context",
        units=row.contexts,
        n=row.pairs,
        sizes={name: value for name in _SIZES if (value := getattr(row, name)) is not None},
        cells=row.columns or 1,
        missing=0,
        method_of_interval=_METHOD,
        inputs=inputs,
    )
    yield score
    for metric, value in ((OF_DRAWS, row.sampled_mean), (DRAWS_DEVIATION, row.sampled_deviation)):
        if value is not None:
            sizes = {"draws": row.draws or 0, "drawn": row.drawn or 0}
            yield replace(
                score,
                metric=metric,
                estimate=value,
                low=None,
                high=None,
                no_interval=NO_INTERVAL_OF_DRAWS,
                sizes=sizes,
                method_of_interval=None,
            )


def _level(row: BiasInterval) -> str:
    if row.entity_type:
        return CELL
    return "model, dataset, language, country, condition" if row.language else "model, dataset, condition"


def _of(reading: Reading, unit: ScoreGroup) -> dict[str, Any]:
    place = {name: value or None for name, value in unit._asdict().items()}
    return {"rule": reading.rule, "ties_count": reading.ties, "average": reading.average, **place}


def _sizes(comparisons: Sequence[ContextScore]) -> dict[str, Any]:
    """The pairs, those that tie, those that the Western entity wins; the entities of each side that a context has."""
    native, western = [row.native for row in comparisons], [row.western for row in comparisons]
    pairs, tied = sum(row.pairs for row in comparisons), sum(row.tied for row in comparisons)
    return {
        "native_fewest": min(native),
        "native_most": max(native),
        "western_fewest": min(western),
        "western_most": max(western),
        "pairs": pairs,
        "ties": tied / pairs,
        "tied": tied,
        "western_won": sum(row.won for row in comparisons),
    }
