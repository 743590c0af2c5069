"""The Cultural Bias Scores of a run with their intervals, from its store into its numbers, differences and variants."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from polyculture.cache.layout import compose
from polyculture.cache.manifest import read_manifest
from polyculture.cache.numbers import inputs_of, write_differences, write_numbers
from polyculture.cache.parquet import objects_to_table, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.sql_file import read_sql
from polyculture.cache.store import open_store
from polyculture.instruments.cbs.averages import AVERAGES, Average, Tally, tally
from polyculture.instruments.cbs.bias import HALF, STRICT
from polyculture.instruments.cbs.bias_differences import Conditions, ScoredType, bias_differences, scored_cells
from polyculture.instruments.cbs.bias_rows import Reading, ScoreGroup, difference_row, numbers_of, score_row
from polyculture.instruments.cbs.camel_draws import CamelDraws
from polyculture.instruments.cbs.contrasts import Contrast, paired
from polyculture.instruments.cbs.gender_columns import lacking_columns
from polyculture.instruments.cbs.layout import CBS, MEASURE
from polyculture.instruments.cbs.rows import BIAS_VARIANTS, BiasInterval
from polyculture.instruments.cbs.score_matrix import ContextCondition, score_matrices
from polyculture.instruments.datasets.selection import Kind, Tell, untold
from polyculture.instruments.differences import with_verdicts

RULES = ("sum", "mean", "probability", "calibrated")
OURS: Average = "contexts"
OF_DIFFERENCES: tuple[Average, ...] = ("contexts", "types", "columns")
CAMEL = CamelDraws()
GROUNDED, NEUTRAL = "grounded", "neutral"
QUERIES = Path(__file__).parent / "queries"


def measure_bias(
    run: RunFolder,
    drawing: CamelDraws = CAMEL,
    left_out: Collection[Kind] = (),
    preset: str | None = None,
    tell: Tell = untold,
) -> list[BiasInterval]:
    """Writes the scores of every type, over types, and over languages, under all rules; returns those of the report.

    The report's count ties strictly and contexts alike: the scores are `numbers`, the differences `differences`.
    `drawing` selects the entity draws that accompany the score over all pairs. `bias_variants` leaves the types
    `left_out` out of averages over types, and names the `preset` that did. `tell` gets a line about each gender of a
    type that has no column. Raises `StoreError` where there is no run or the folder cannot be written.
    """
    with open_store(run, compose(CORE, CBS)) as store:
        types = list(_scored_types(store))
        asked = scored_cells(store)
    for line in dict.fromkeys(line for one in types for line in _without_column(one)):
        tell(line)
    strict = [one for one in types if one.ties == STRICT]
    ours = [row for row in _rows(strict, OURS, drawing, apart=False) if row.gender is None]
    out = [one for one in types if one.is_left_out(left_out)]
    kept = [one for one in types if not one.is_left_out(left_out)]
    variants, apart = [], drawing.genders_apart
    for average in AVERAGES:
        rows = (*_rows(kept, average, drawing, apart=apart), *_type_rows(out, average, drawing, apart=apart))
        variants += [replace(row, preset=preset) for row in rows]
    manifest = read_manifest(run.manifest)
    inputs = inputs_of(run, manifest, MEASURE) if manifest else ""
    scores = [row for row in ours if row.metric == "cbs"]
    write_numbers(run, MEASURE.name, (number for row in scores for number in numbers_of(row, inputs)))
    write_differences(run, MEASURE.name, with_verdicts(bias_differences(strict, asked, inputs)))
    write_parquet(objects_to_table(BIAS_VARIANTS, variants), run.table(BIAS_VARIANTS.name))
    return ours


def _scored_types(store: duckdb.DuckDBPyConnection) -> Iterator[ScoredType]:
    for *names, again, translated in store.execute(read_sql(QUERIES, "units")).fetchall():
        group, sources = ScoreGroup(*names), tuple(translated)
        likelihoods = store.execute(read_sql(QUERIES, "likelihoods"), group._asdict()).fetchnumpy()
        for rule in RULES:
            matrices = score_matrices(likelihoods, rule)
            found = {condition: tally(matrix, group.entity_type) for condition, matrix in matrices.items()}
            strict = {condition: one for condition, one in found.items() if one is not None}
            contrasts = dict(_contrasts(strict, group))
            yield ScoredType(rule, STRICT, group, again, strict, contrasts, sources)
            if any(one.tied for one in strict.values()):
                half = {condition: one.halved for condition, one in strict.items()}
                yield ScoredType(rule, HALF, group, again, half, dict(_contrasts(half, group)), sources)
            else:
                yield ScoredType(rule, HALF, group, again, strict, contrasts, sources)


def _without_column(one: ScoredType) -> Iterator[str]:
    """The genders of a type that have no column, and why."""
    group = one.group
    place = f"{group.model}: {group.dataset} {group.language} {group.culture} {group.entity_type} ({group.form})"
    for condition, found in one.tallies.items():
        for gender, reason in lacking_columns(found.matrix).items():
            yield f"{place}, {condition.setting}: no column '{group.entity_type}, {gender}': {reason}"


def _rows(types: Sequence[ScoredType], average: Average, drawing: CamelDraws, *, apart: bool) -> Iterator[BiasInterval]:
    """Of each type, then over types; `apart`: a context of no gender is compared once for each."""
    yield from _type_rows(types, average, drawing, apart=apart)
    yield from _mean_rows(types, average, drawing, apart=apart)


def _type_rows(
    types: Sequence[ScoredType], average: Average, drawing: CamelDraws, *, apart: bool
) -> Iterator[BiasInterval]:
    for one in types:
        reading = Reading(one.rule, one.ties, average)
        for condition, found in one.tallies.items():
            yield score_row(reading, one.group, condition, [found], drawing, apart=apart)
            for gender, column in found.genders.items():
                yield score_row(reading, one.group, condition, [column], drawing, gender)
        if average in OF_DIFFERENCES:
            for conditions, contrast in one.contrasts.items():
                yield difference_row(reading, one.group, conditions, [contrast], apart=apart)


def _mean_rows(
    types: Sequence[ScoredType], average: Average, drawing: CamelDraws, *, apart: bool
) -> Iterator[BiasInterval]:
    means: dict[tuple[Reading, ScoreGroup, ContextCondition], list[Tally]] = {}
    differences: dict[tuple[Reading, ScoreGroup, Conditions], list[Contrast]] = {}
    for one in types:
        reading = Reading(one.rule, one.ties, average)
        for level in one.levels:
            for condition, found in one.tallies.items():
                means.setdefault((reading, level, condition), []).append(found)
            for conditions, contrast in one.contrasts.items():
                differences.setdefault((reading, level, conditions), []).append(contrast)
    for key, tallies in means.items():
        yield score_row(*key, tallies, drawing, apart=apart)
    if average in OF_DIFFERENCES:
        for place, contrasts in differences.items():
            yield difference_row(*place, contrasts, apart=apart)


def _contrasts(tallies: Mapping[ContextCondition, Tally], group: ScoreGroup) -> Iterator[tuple[Conditions, Contrast]]:
    """Grounded less neutral; with prefix less without; of two phrasings the second by name less the first."""
    for one, found in tallies.items():
        for other, against in tallies.items():
            contrast = None
            if (one.setting, other.setting) == (GROUNDED, NEUTRAL) and one[1:] == other[1:]:
                contrast = Contrast(found, against, False, group.language, group.culture)
            elif (one != other and one._replace(context_prefix="") == other) or (
                one.phrasing > other.phrasing > "" and one._replace(phrasing=other.phrasing) == other
            ):
                contrast = paired(found, against, group.language, group.culture)
            if contrast is not None:
                yield (one, other), contrast
