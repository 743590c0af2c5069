"""The Cultural Bias Scores of the report as rows of `numbers`: ties strict, each context counts alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyculture.cache.schema.numbers import CELL, EVERY, WITHOUT, Number
from polyculture.instruments.cbs.layout import MEASURE
from polyculture.instruments.cbs.rows import BiasInterval

SCORE, OF_DRAWS, DRAWS_DEVIATION = "cbs", "cbs_of_draws", "cbs_of_draws_deviation"
NO_INTERVAL_OF_DRAWS = "spread over draws"
_METHOD = "jackknife over contexts and entities, crossed; symmetric on the logit scale, or Wilson's where all agree"
_SIZES = (
    *("native_entities", "western_entities", "native_fewest", "native_most", "western_fewest", "western_most"),
    *("tied", "western_won", "columns"),
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
