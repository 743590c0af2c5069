"""The Cultural Bias Score of stored scores under any protocol: a paper's, ours, and every mixture of them.

A protocol says which entities are compared in a context, what a pair of equal likelihood counts, which likelihood is
taken, and over what is averaged. Everything is computed from scores that are there: no model is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from polyculture.instruments.cbs.averages import draw_average
from polyculture.instruments.cbs.bias import ContextScore, Numbers, compare
from polyculture.instruments.cbs.camel_draws import draw_rank
from polyculture.instruments.cbs.gender_columns import GENDERS
from polyculture.instruments.datasets.model import BOTH
from polyculture.instruments.papers.paper import Protocol

_rank = lru_cache(maxsize=2**20)(draw_rank)  # the contexts of a type share entities


@dataclass(frozen=True)
class Side:
    """The entities of one side in a context, and their likelihoods under each rule."""

    ids: tuple[str, ...]
    likelihoods: Mapping[str, Numbers]
    genders: tuple[str, ...]  # 'female', 'male', 'both' or '' of each

    def of(self, gender: str) -> Side:
        """Its entities that fit a gender."""
        kept = [number for number, own in enumerate(self.genders) if own in (gender, BOTH, "")]
        values = {rule: values[kept] for rule, values in self.likelihoods.items()}
        return Side(tuple(self.ids[n] for n in kept), values, tuple(self.genders[n] for n in kept))


@dataclass(frozen=True)
class ScoredContext:
    """A context with the likelihoods of the entities of both sides."""

    context_id: str
    language: str
    entity_type: str
    gender: str  # '' where the context asks for none
    native: Side
    western: Side
    source_language: str = ""  # of the context that this one translates; '' where it is none

    @property
    def chooser(self) -> str:
        """The language whose types a protocol leaves out: of a translation that of its source, as `cbs` chooses."""
        return self.source_language or self.language

    @property
    def column(self) -> str:
        """The column of a paper's table: the type, with its gender where the context has one."""
        return f"{self.entity_type}, {self.gender}" if self.gender in GENDERS else self.entity_type


@dataclass(frozen=True, slots=True)
class ContextShare:
    """A context, and the share of pairs in which the Western entity is the more probable."""

    context: ScoredContext
    found: ContextScore


@dataclass(frozen=True, slots=True)
class ProtocolScore:
    """A score under a protocol, and its columns."""

    value: float
    deviation: float | None  # over draws (n - 1); None without several
    columns: Mapping[str, float]
    contexts: int
    sizes: Mapping[str, int]  # contexts of each column; genders share those that ask for none
    drawn: bool  # a side has more entities than a draw takes: else all draws are the same


def protocol_score(contexts: Sequence[ScoredContext], protocol: Protocol, seed: int) -> ProtocolScore | None:
    """The score over contexts of one language, culture and setting; None where none has entities of both sides."""
    contexts = compared(contexts, protocol)
    drawn = any(_is_drawn(context, protocol) for context in contexts)
    draws = [_shares(contexts, protocol, seed, draw) for draw in range((protocol.draws or 1) if drawn else 1)]
    values = [value for shares in draws if (value := _averaged(shares, protocol)) is not None]
    if len(values) < len(draws):
        return None
    by_column = [_by_column(shares, protocol) for shares in draws]
    rested = {(_name(share, protocol), share.context.context_id) for share in draws[0]}
    sizes = Counter(column for column, _ in rested)
    columns = {column: float(np.mean([each[column] for each in by_column])) for column in sorted(by_column[0])}
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    size = len({context for _, context in rested})
    return ProtocolScore(float(np.mean(values)), deviation, columns, size, sizes, drawn)


def compared(contexts: Sequence[ScoredContext], protocol: Protocol) -> list[ScoredContext]:
    """What a protocol compares: contexts of its types, with genders apart where it has columns of them."""
    apart = protocol.genders == "apart" or protocol.average == "columns"
    return [
        context
        for context in (_apart(contexts) if apart else contexts)
        if not {context.entity_type, f"{context.chooser}:{context.entity_type}"} & set(protocol.leave_out)
    ]


def _apart(contexts: Sequence[ScoredContext]) -> Iterator[ScoredContext]:
    """A type's contexts for each gender that entities of both sides have, as `cbs.gender_columns` takes them apart."""
    known: dict[str, set[str]] = {}
    for kind in {context.entity_type for context in contexts}:
        own = [context for context in contexts if context.entity_type == kind]
        sides = [{g for one in own for g in side(one).genders} for side in (_native, _western)]
        known[kind] = {gender for gender in GENDERS if all(gender in side for side in sides)}
    for context in contexts:
        if not known[context.entity_type]:
            yield context
        for gender in sorted(known[context.entity_type]):
            if context.gender in (gender, BOTH, ""):
                yield replace(
                    context, gender=gender, native=context.native.of(gender), western=context.western.of(gender)
                )


def _native(context: ScoredContext) -> Side:
    return context.native


def _western(context: ScoredContext) -> Side:
    return context.western


def _shares(contexts: Iterable[ScoredContext], protocol: Protocol, seed: int, draw: int) -> list[ContextShare]:
    found = []
    for context in contexts:
        native, western = (
            side.likelihoods[protocol.rule][taken(side, context, protocol, seed, draw)]
            for side in (context.native, context.western)
        )
        score = compare(native, western, protocol.ties)
        found += [] if score is None else [ContextShare(context, score)]
    return found


def _limit(context: ScoredContext, protocol: Protocol) -> int | None:
    """The most entities of each side in a draw; None: all."""
    if protocol.draws is None or protocol.entities is None:
        return None
    return min(protocol.entities, len(context.native.ids)) if protocol.equal_sides else protocol.entities


def _is_drawn(context: ScoredContext, protocol: Protocol) -> bool:
    limit = _limit(context, protocol)
    return limit is not None and max(len(context.native.ids), len(context.western.ids)) > limit


def taken(side: Side, context: ScoredContext, protocol: Protocol, seed: int, draw: int) -> list[int]:
    """The numbers of the entities that a draw takes: those of the least hash, as `cbs --draws` draws them."""
    limit, numbers = _limit(context, protocol), range(len(side.ids))
    if limit is None or len(side.ids) <= limit:
        return list(numbers)
    return sorted(numbers, key=lambda number: _rank(seed, draw, side.ids[number]))[:limit]


def _by_type(shares: Iterable[ContextShare], protocol: Protocol) -> dict[str, dict[str, list[ContextScore]]]:
    """What is compared in each column of each type: of whole types one column, where these are averaged."""
    whole = protocol.average == "types" and protocol.genders != "apart"
    found: dict[str, dict[str, list[ContextScore]]] = {}
    for share in shares:
        kind = share.context.entity_type
        found.setdefault(kind, {}).setdefault(kind if whole else share.context.column, []).append(share.found)
    return found


def _averaged(shares: Iterable[ContextShare], protocol: Protocol) -> float | None:
    return draw_average([list(columns.values()) for columns in _by_type(shares, protocol).values()], protocol.average)


def _by_column(shares: Iterable[ContextShare], protocol: Protocol) -> dict[str, float]:
    """The scores of the columns of a table: types where these are averaged, else types with genders apart."""
    means = {kind: {column: _mean(scores) for column, scores in columns.items()}
             for kind, columns in _by_type(shares, protocol).items()}  # fmt: skip
    if protocol.average == "types":
        return {kind: float(np.mean(list(columns.values()))) for kind, columns in means.items()}
    return {column: mean for columns in means.values() for column, mean in columns.items()}


def _mean(scores: Sequence[ContextScore]) -> float:
    return float(np.mean([one.score for one in scores]))


def _name(share: ContextShare, protocol: Protocol) -> str:
    return share.context.entity_type if protocol.average == "types" else share.context.column
