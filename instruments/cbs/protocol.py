"""A protocol: how likelihoods become a Cultural Bias Score. One is computed when it is asked; ours stands in `numbers`.

A protocol names the likelihood of an entity (`rule`), what counts alike in a mean (`average`), and the draws of
entities, if any. The score of a table's column is the mean over its contexts, that of a line the average over columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.store import open_store
from polyculture.instruments.cbs.averages import Average, Tally, averaged, averaged_draws, by_type, contexts_in
from polyculture.instruments.cbs.camel_draws import ENTITIES, CamelDraws
from polyculture.instruments.cbs.gender_columns import lacking_columns
from polyculture.instruments.cbs.layout import CBS
from polyculture.instruments.cbs.score_interval import MeanScore
from polyculture.instruments.datasets.selection import Tell

if TYPE_CHECKING:
    from polyculture.instruments.cbs.bias_rows import ScoreGroup
    from polyculture.instruments.cbs.score_matrix import ContextCondition

COLUMNS = ("model", "place", "setting", "cbs", "95 %", "sd", "contexts", "tied", "ours")
ALL = "all types"


@dataclass(frozen=True, slots=True)
class Protocol:
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


def protocol_score(tallies: Sequence[Tally], protocol: Protocol, seed: int) -> ProtocolScore | None:
    """The score over types of one language, culture and setting; None where a draw leaves nothing to compare."""
    every = averaged(tallies, protocol.average)
    contexts = sum(contexts_in(some, protocol.average) for some in by_type(tallies))
    drawing = protocol.drawing(seed)
    if drawing is None:
        return ProtocolScore(every.value, None, every, contexts)
    drawn = averaged_draws(tallies, protocol.average, drawing)
    return ProtocolScore(drawn.mean, drawn.deviation, every, contexts) if drawn else None


def columns_of(tallies: Sequence[Tally], protocol: Protocol) -> dict[str, Tally]:
    """The columns of a table by name: types, or genders of types where the protocol averages over these."""
    found = {}
    for one in tallies:
        apart = one.genders if protocol.average == "columns" else {}
        found.update({f"{one.entity_type}, {gender}": part for gender, part in apart.items()} or {one.entity_type: one})
    return found


def protocol_rows(run: RunFolder, protocol: Protocol, seed: int, tell: Tell) -> Iterator[tuple[object, ...]]:
    """The rows of `COLUMNS`: of each column, then over several, in each language and culture; ours beside.

    `tell` gets a line about each gender of a type that has no column. Raises `StoreError` where there is no run.
    """
    from polyculture.instruments.cbs.measure import scored_types

    ours = Protocol()
    rules = tuple(dict.fromkeys((protocol.rule, ours.rule)))
    with open_store(run, compose(CORE, CBS)) as store:
        types = list(scored_types(store, rules))
    places: dict[tuple[ScoreGroup, ContextCondition], dict[str, list[Tally]]] = {}
    for one in types:
        for condition, found in one.tallies.items():
            place = one.group._replace(entity_type=""), condition
            places.setdefault(place, {}).setdefault(one.rule, []).append(found)
    for (group, condition), by_rule in sorted(places.items()):
        tallies, own = by_rule.get(protocol.rule, []), by_rule.get(ours.rule, [])
        where = f"{group.model}: {group.dataset} {group.language} {group.culture} ({group.form}), {condition.setting}"
        for one_tally in tallies if protocol.average == "columns" else ():
            for gender, reason in lacking_columns(one_tally.matrix).items():
                tell(f"{where}: no column '{one_tally.entity_type}, {gender}': {reason}")
        setting = ", ".join(filter(None, condition))
        mine = {one.entity_type: averaged([one], ours.average).value for one in own}
        columns = columns_of(tallies, protocol)
        lines = [(name, [column]) for name, column in columns.items()]
        lines += [(ALL, tallies)] if len(columns) > 1 else []
        for name, some in lines:
            kept = protocol if name == ALL else Protocol(protocol.rule, "contexts", protocol.draws, protocol.entities)
            score = protocol_score(some, kept, seed)
            beside = averaged(own, ours.average).value if name == ALL and own else mine.get(name)
            named = f"{group.language} {group.culture}, {name}"
            yield (group.model, named, setting, *_numbers(score, some, kept.average), beside)


def _numbers(score: ProtocolScore | None, tallies: Sequence[Tally], average: Average) -> tuple[object, ...]:
    tied = sum(row.tied for one in tallies for part in one.parts(average) for row in part.comparisons)
    if score is None:
        return (None, None, None, 0, tied)
    low, high = score.every.low, score.every.high
    limits = score.every.lacking if low is None or high is None else f"[{low:.3f}, {high:.3f}]"
    return (score.value, limits, score.deviation, score.contexts, tied)
