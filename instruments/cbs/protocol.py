"""A protocol: how likelihoods become a Cultural Bias Score. One is computed when it is asked; ours stands in `numbers`.

A protocol names the likelihood of an entity (`rule`), what counts alike in a mean (`average`), and the draws of
entities, if any. The score of a table's column is the mean over its contexts, that of a line the average over columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.cache.log import Tell
from polyculture.cache.store.layout import compose
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.schema.measured import EVERY
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store, open_store
from polyculture.instruments.cbs.averages import Average, TypeScores, averaged, averaged_draws, by_type, contexts_in
from polyculture.instruments.cbs.camel_draws import ENTITIES, CamelDraws, lacking_columns
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.cbs.measure import scored_types
from polyculture.instruments.cbs.score_interval import MeanScore

if TYPE_CHECKING:
    from polyculture.instruments.cbs.bias_rows import ScoredType, ScoreGroup
    from polyculture.instruments.cbs.score_matrix import ContextCondition

COLUMNS = ("model", "place", "setting", "cbs", "95 %", "sd", "contexts", "tied", "ours", "incomplete")
ALL = "all types"


@dataclass(frozen=True, slots=True)
class ScoreProtocol:
    """How a score is made of likelihoods."""

    rule: str = "sum"
    average: Average = "contexts"
    draws: int = 0  # of entities of each culture; 0: all are compared
    entities: int | None = None  # so many in a draw

    def drawing(self, seed: int) -> CamelDraws | None:
        """Its draws; None of one that compares all."""
        if not self.draws:
            return None
        return CamelDraws(self.draws, self.entities or ENTITIES, seed, self.average == "columns")


@dataclass(frozen=True, slots=True)
class ProtocolScore:
    """A score under a protocol."""

    value: float  # the mean over draws, or the score over all pairs
    deviation: float | None  # over draws (n - 1); None without, and where every draw took all there are
    every: MeanScore  # over all pairs, with its interval
    contexts: int  # each counted once


def protocol_score(tallies: Sequence[TypeScores], protocol: ScoreProtocol, seed: int) -> ProtocolScore | None:
    """The score over types of one language, culture and setting; None where a draw leaves nothing to compare."""
    every = averaged(tallies, protocol.average)
    contexts = sum(contexts_in(some, protocol.average) for some in by_type(tallies))
    drawing = protocol.drawing(seed)
    if drawing is None:
        return ProtocolScore(every.value, None, every, contexts)
    drawn = averaged_draws(tallies, protocol.average, drawing)
    return ProtocolScore(drawn.mean, drawn.deviation, every, contexts) if drawn else None


def columns_of(tallies: Sequence[TypeScores], protocol: ScoreProtocol) -> dict[str, TypeScores]:
    """The columns of a table by name: types, or genders of types where the protocol averages over these."""
    found = {}
    for one in tallies:
        apart = one.genders if protocol.average == "columns" else {}
        found.update({f"{one.entity_type}, {gender}": part for gender, part in apart.items()} or {one.entity_type: one})
    return found


@dataclass(frozen=True, slots=True)
class PlaceScore:
    """A column's score in a language, culture, setting and form, or that over all columns (`ALL`)."""

    group: ScoreGroup  # `entity_type` is '' over all columns
    condition: ContextCondition
    column: str
    gender: str  # '' where the column is of no gender
    score: ProtocolScore | None  # None where a draw leaves nothing to compare
    tallies: Sequence[TypeScores]
    types: int  # columns in this place


def place_scores(types: Sequence[ScoredType], protocol: ScoreProtocol, seed: int) -> Iterator[PlaceScore]:
    """The scores of each column of each place, then of all its columns, under the protocol's rule."""
    places: dict[tuple[ScoreGroup, ContextCondition], list[TypeScores]] = {}
    for one in types:
        for condition, found in one.tallies.items() if one.rule == protocol.rule else ():
            places.setdefault((one.group._replace(entity_type=""), condition), []).append(found)
    of_column = replace(protocol, average="contexts")
    for (group, condition), tallies in sorted(places.items(), key=lambda place: place[0]):
        columns = columns_of(tallies, protocol)
        for name, one_tally in columns.items():
            place = group._replace(entity_type=one_tally.entity_type)
            gender = name.removeprefix(one_tally.entity_type).removeprefix(", ")
            score = protocol_score([one_tally], of_column, seed)
            yield PlaceScore(place, condition, name, gender, score, [one_tally], len(columns))
        yield PlaceScore(group, condition, ALL, "", protocol_score(tallies, protocol, seed), tallies, len(columns))


def unscored(store: Store) -> Mapping[tuple[str, ...], str]:
    """What of the contexts that are asked has no score, in words; for `lacking`."""
    return {tuple(row[:-1]): row[-1] for row in store.execute(read_sql(Path(__file__).parent, "unscored")).fetchall()}


def lacking(one: PlaceScore, unscored: Mapping[tuple[str, ...], str]) -> str:
    """What a score lacks; '' where every context has been scored. Prefixes are not counted by context."""
    group, condition = one.group, one.condition
    place = (group.model, group.dataset, group.language, group.culture, group.form, condition.setting)
    return "" if condition.context_prefix else unscored.get((*place, group.entity_type or EVERY), "")


def protocol_rows(run: RunFolder, protocol: ScoreProtocol, seed: int, tell: Tell) -> Iterator[tuple[object, ...]]:
    """The rows of `COLUMNS`: of each column, then over several, in each language and culture; ours beside.

    `tell` gets a line about each gender of a type that has no column. Raises `StoreError` where there is no run.
    """
    ours = ScoreProtocol()
    with open_store(run, compose(CORE, CBS)) as store:
        types = list(scored_types(store, tuple(dict.fromkeys((protocol.rule, ours.rule)))))
        without = unscored(store)
    mine = {(one.group, one.condition): one.score for one in place_scores(types, ours, seed)}
    for one in place_scores(types, protocol, seed):
        group, whole = one.group, one.column == ALL
        if protocol.average == "columns" and whole:
            _tell_lacking(one, tell)
        if whole and one.types == 1:
            continue
        named = f"{group.language} {group.culture}, {one.column}"
        beside = mine.get((group, one.condition)) if not one.gender else None
        average = protocol.average if whole else "contexts"
        numbers = _numbers(one.score, one.tallies, average)
        setting = ", ".join(filter(None, one.condition))
        yield (group.model, named, setting, *numbers, beside.value if beside else None, lacking(one, without) or None)


def _tell_lacking(one: PlaceScore, tell: Tell) -> None:
    group = one.group
    where = f"{group.model}: {group.dataset} {group.language} {group.culture} ({group.form}), {one.condition.setting}"
    for of_type in one.tallies:
        for gender, reason in lacking_columns(of_type.matrix).items():
            tell(f"{where}: no column '{of_type.entity_type}, {gender}': {reason}")


def _numbers(score: ProtocolScore | None, tallies: Sequence[TypeScores], average: Average) -> tuple[object, ...]:
    tied = sum(row.tied for one in tallies for part in one.parts(average) for row in part.placed.comparisons)
    if score is None:
        return (None, None, None, 0, tied)
    low, high = score.every.low, score.every.high
    limits = score.every.lacking if low is None or high is None else f"[{low:.3f}, {high:.3f}]"
    return (score.value, limits, score.deviation, score.contexts, tied)
