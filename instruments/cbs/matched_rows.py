"""The rows of `matched_bias`: scores over pairs that are alike, of each type and over types."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from polyculture.cache.layout import compose
from polyculture.cache.parquet import objects_to_table, write_parquet
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.sql_file import read_sql
from polyculture.cache.store import open_store
from polyculture.instruments.cbs.bias import HALF, STRICT
from polyculture.instruments.cbs.bias_rows import ScoreGroup
from polyculture.instruments.cbs.gender_columns import gender_columns, of_gender
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.cbs.matching import MatchedScore, Matching, all_pairs, matched_score, matching_of, width
from polyculture.instruments.cbs.measure import QUERIES, RULES
from polyculture.instruments.cbs.rows import MATCHED_BIAS, MatchedBias
from polyculture.instruments.cbs.score_interval import mean_score
from polyculture.instruments.cbs.score_matrix import ContextCondition, score_matrices
from polyculture.instruments.cbs.uncertainty import ScoreMatrix

NO_PRIOR, NO_PAIR = "no prior", "no pair"
_KEPT = "SELECT DISTINCT matched, caliper FROM stored_matched_bias ORDER BY ALL"


@dataclass(frozen=True)
class MatchedType:
    """A type in a condition, under a rule, a count of ties and a matching; without a score where no pair is alike."""

    matching: Matching
    rule: str
    ties: str
    group: ScoreGroup
    condition: ContextCondition
    score: MatchedScore | None
    nats: float | None
    has_priors: bool
    contexts: int  # with entities of both sides
    pairs: int
    gender: str | None = None  # of one gender of the type


def measure_matched(run: RunFolder, asked: Collection[Matching] = ()) -> list[MatchedBias]:
    """Writes the scores of the matchings that are asked, and of those that were before, after new scores.

    Raises `StoreError` where there is no run or the folder cannot be written.
    """
    with open_store(run, compose(CORE, CBS)) as store:
        before = [matching_of(kind, caliper) for kind, caliper in store.sql(_KEPT).fetchall()]
        wanted = list(dict.fromkeys((*before, *asked)))
        types = list(_matched_types(store, wanted)) if wanted else []
    if not wanted:
        return []
    rows = [_row([one], one.group.entity_type) for one in types]
    places: dict[tuple[Any, ...], list[MatchedType]] = {}
    for one in (one for one in types if one.gender is None):
        level = one.group._replace(entity_type="")
        places.setdefault((one.matching, one.rule, one.ties, level, one.condition), []).append(one)
    rows += [_row(of_types, None) for of_types in places.values()]
    write_parquet(objects_to_table(MATCHED_BIAS, rows), run.table(MATCHED_BIAS.name))
    return rows


def _matched_types(store: duckdb.DuckDBPyConnection, wanted: Sequence[Matching]) -> Iterator[MatchedType]:
    for *names, _, _ in store.execute(read_sql(QUERIES, "units")).fetchall():
        group = ScoreGroup(*names)
        likelihoods = store.execute(read_sql(QUERIES, "likelihoods"), group._asdict()).fetchnumpy()
        tokens, priors = score_matrices(likelihoods, "tokens"), score_matrices(likelihoods, "prior")
        for rule in RULES:
            for condition, matrix in score_matrices(likelihoods, rule).items():
                if not condition.context_prefix:
                    for matching in wanted:
                        yield from _of_ties(matching, rule, group, condition, matrix, tokens[condition], priors)


def _of_ties(
    matching: Matching,
    rule: str,
    group: ScoreGroup,
    condition: ContextCondition,
    matrix: ScoreMatrix,
    tokens: ScoreMatrix,
    priors: Mapping[ContextCondition, ScoreMatrix],
) -> Iterator[MatchedType]:
    """A type's score with ties strict, and with ties half; and those of its genders, whose caliper is the type's."""
    prior = priors.get(condition) if matching.of_priors else None
    nats = None if prior is None else width(prior, matching.caliper)
    known = not matching.of_priors or nats is not None

    for gender, of_all, of_tokens, of_prior in _columns(matrix, tokens, prior):
        alike_in = of_tokens if matching.of_tokens else None, of_prior, nats or 0.0
        strict = matched_score(of_all, *alike_in) if known else None
        half = matched_score(replace(of_all, ties=HALF), *alike_in) if strict is not None and strict.tied else strict
        for ties, score in ((STRICT, strict), (HALF, half)):
            yield MatchedType(matching, rule, ties, group, condition, score, nats, known, *all_pairs(of_all), gender)


def _columns(
    matrix: ScoreMatrix, tokens: ScoreMatrix, prior: ScoreMatrix | None
) -> Iterator[tuple[str | None, ScoreMatrix, ScoreMatrix, ScoreMatrix | None]]:
    """The whole type, and each gender of it, with the numbers by which pairs are matched."""
    yield None, matrix, tokens, prior
    for gender, column in gender_columns(matrix).items():
        own = of_gender(tokens, gender)
        if own is not None:  # the same contexts and entities
            yield gender, column, own, None if prior is None else of_gender(prior, gender)


def _row(types: Sequence[MatchedType], entity_type: str | None) -> MatchedBias:
    """The row of a type, or of several: these count by their contexts, and rest on other ones and other entities."""
    first = types[0]
    scores = [one.score for one in types if one.score is not None]
    group, contexts = first.group, sum(score.estimate.contexts for score in scores)
    found = mean_score([(score.estimate, score.estimate.contexts) for score in scores]) if scores else None
    none = NO_PAIR if any(one.has_priors for one in types) else NO_PRIOR
    of_all = sum(score.unmatched * score.estimate.contexts for score in scores)
    return MatchedBias(
        matched=first.matching.matched,
        caliper=first.matching.caliper if first.matching.of_priors else None,
        caliper_nats=first.nats if entity_type else None,
        rule=first.rule,
        ties_count=first.ties,
        model=group.model,
        dataset=group.dataset,
        language=group.language,
        culture=group.culture,
        entity_type=entity_type,
        setting=first.condition.setting,
        phrasing=first.condition.phrasing or None,
        form=group.form,
        estimate=found.value if found else None,
        low=found.low if found else None,
        high=found.high if found else None,
        lacking=found.lacking if found else none,
        unmatched=of_all / contexts if contexts else None,
        contexts=contexts,
        contexts_without=sum(one.contexts for one in types) - contexts,
        native_entities=sum(score.native for score in scores),
        western_entities=sum(score.western for score in scores),
        pairs=sum(score.pairs for score in scores),
        all_pairs=sum(one.pairs for one in types),
        tied=sum(score.tied for score in scores),
        western_won=sum(score.won for score in scores),
        gender=first.gender,
    )
