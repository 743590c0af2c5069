"""The Cultural Bias Scores of a run with their intervals, by our protocol, into `numbers` and `differences`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb

from polyculture.cache.layout import Measure, compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.schema.measured import Difference, Number
from polyculture.cache.sql_file import read_sql
from polyculture.instruments.cbs.averages import Tally, tally
from polyculture.instruments.cbs.bias_differences import ScoredType, bias_differences, scored_cells
from polyculture.instruments.cbs.bias_rows import ScoreGroup, score_number
from polyculture.instruments.cbs.layout import CBS, MEASURE
from polyculture.instruments.cbs.score_matrix import ContextCondition, score_matrices
from polyculture.instruments.differences import with_verdicts
from polyculture.metrics.measured import renew

RULES = ("sum", "mean", "probability", "calibrated")
GROUNDED, NEUTRAL = "grounded", "neutral"
QUERIES = Path(__file__).parent / "queries"
_OF_TYPE = """
FROM model_likelihoods
WHERE dataset = $dataset AND language = $language AND culture = $culture AND entity_type = $entity_type AND form = $form
    AND model = $model
ORDER BY setting, context_id, entity_id
"""


def measure_bias(run: RunFolder) -> None:
    """Writes the scores of every type, over types, and over languages, under all rules, and their differences.

    Only where they are to be renewed. Raises as `renew`.
    """
    renew(run, compose(CORE, CBS), [MEASURE], _measured)


def _measured(store: duckdb.DuckDBPyConnection, _: Measure, inputs: str) -> tuple[list[Number], list[Difference]]:
    types = list(scored_types(store, RULES))
    numbers = [*_of_types(types, inputs), *_of_means(types, inputs)]
    return numbers, with_verdicts(bias_differences(types, scored_cells(store), inputs))


def scored_types(store: duckdb.DuckDBPyConnection, rules: Sequence[str]) -> Iterator[ScoredType]:
    """Every type that was scored, under each rule that has a likelihood."""
    model = None
    for *names, again in store.execute(read_sql(QUERIES, "units")).fetchall():
        group = ScoreGroup(*names)
        if group.model != model:  # all of a model at once: the views below take longer to plan than to read
            model = group.model
            store.execute(read_sql(QUERIES, "likelihoods"), {"model": model})
        likelihoods = store.execute(_OF_TYPE, group._asdict()).fetchnumpy()
        for rule, matrices in score_matrices(likelihoods, rules).items():
            found = {condition: tally(matrix, group.entity_type) for condition, matrix in matrices.items()}
            yield ScoredType(rule, group, again, {name: one for name, one in found.items() if one is not None})


def _of_types(types: Sequence[ScoredType], inputs: str) -> Iterator[Number]:
    for one in types:
        for condition, found in one.tallies.items():
            yield score_number(one.rule, one.group, condition, [found], inputs)


def _of_means(types: Sequence[ScoredType], inputs: str) -> Iterator[Number]:
    means: dict[tuple[str, ScoreGroup, ContextCondition], list[Tally]] = {}
    for one in types:
        for level in one.levels:
            for condition, found in one.tallies.items():
                means.setdefault((one.rule, level, condition), []).append(found)
    for place, tallies in means.items():
        yield score_number(*place, tallies, inputs)
