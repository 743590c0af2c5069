"""What a protocol compares, of the data set as published, and the store holds no score of.

Contexts and entities of that reading stand in the run; so it is known which scores a number lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import duckdb
import numpy as np

from polyculture.cache.sql_file import read_sql
from polyculture.instruments.cbs.averages import Tally
from polyculture.instruments.cbs.protocol import Protocol
from polyculture.instruments.papers.scored import QUERIES, Place

UNKNOWN = "not recorded which rows the data set has: ask once more"
ALL = ""


class Kind(NamedTuple):
    """The contexts that the same entities fit, and these: of each side the ids with their genders."""

    entity_type: str
    gender: str
    contexts: Sequence[str]
    sides: tuple[Sequence[tuple[str, str]], Sequence[tuple[str, str]]]

    def wanted(self, protocol: Protocol, seed: int) -> set[str]:
        """The entities that a protocol compares in them."""
        drawing = protocol.drawing(seed)
        if drawing is None:
            return {name for side in self.sides for name, _ in side}
        pairs = (tuple(zip(*side, strict=True)) for side in self.sides)
        return {name for ids, genders in pairs for name in drawing.taken_ids(ids, genders, self.gender)}


@dataclass(frozen=True, slots=True)
class Needed:
    """What the data set as published has in a place."""

    kinds: Sequence[Kind]
    known: bool  # whether the run says what the data set has

    def lacking(self, found: Sequence[Tally], protocol: Protocol, seed: int) -> dict[str, str]:
        """What is not scored of all (`ALL`) and of each type, in words; '' where nothing is lacking."""
        if not self.known:
            return {ALL: UNKNOWN}
        scored = {name: ids for one in found for name, ids in _scored(one)}
        by_type: dict[str, _Count] = {}
        for kind in self.kinds:
            if all(kind.sides):  # else nobody can ask it
                wanted = kind.wanted(protocol, seed)
                by_type.setdefault(kind.entity_type, _Count()).add(kind.contexts, wanted, scored)
        every = _Count()
        for count in by_type.values():
            every.join(count)
        return {ALL: str(every), **{kind: str(count) for kind, count in by_type.items()}}


def _scored(one: Tally) -> Iterator[tuple[str, set[str]]]:
    """The entities with a likelihood in each context."""
    matrix = one.matrix
    ids = np.array([*matrix.native_ids, *matrix.western_ids])
    known = ~np.isnan(np.concatenate([matrix.native, matrix.western], axis=1))
    for name, here in zip(matrix.contexts, known, strict=True):
        yield name, set(ids[here].tolist())


class _Count:
    """How many contexts and entities are needed, and how many of them are not scored."""

    def __init__(self) -> None:
        self.contexts: set[str] = set()
        self.entities: set[str] = set()
        self.no_contexts: set[str] = set()
        self.no_entities: set[str] = set()  # in a context that has scores

    def add(self, contexts: Sequence[str], wanted: set[str], scored: Mapping[str, set[str]]) -> None:
        self.contexts.update(contexts)
        self.entities |= wanted
        for name in contexts:
            if name in scored:
                self.no_entities |= wanted - scored[name]
            else:
                self.no_contexts.add(name)

    def join(self, other: _Count) -> None:
        for name, mine in vars(self).items():
            mine |= getattr(other, name)

    def __str__(self) -> str:
        told = [(self.no_contexts, self.contexts, "contexts"), (self.no_entities, self.entities, "entities")]
        parts = [f"{len(no)} of {len(every)} {noun}" for no, every, noun in told if no]
        return f"{' and '.join(parts)} not scored" if parts else ""


def needed_in(store: duckdb.DuckDBPyConnection, place: Place, *, known: bool) -> Needed:
    """What the data set as published has in a place."""
    return Needed(list(_kinds(store, place)), known)


def read_as_published(store: duckdb.DuckDBPyConnection, dataset: str) -> set[bool | None]:
    """How a data set was last read, in its languages and in English; None where the run does not say."""
    rows = store.execute(read_sql(QUERIES, "readings"), {"dataset": dataset}).fetchall()
    return {as_published for _, as_published in rows} or {None}


def _kinds(store: duckdb.DuckDBPyConnection, place: Place) -> Iterator[Kind]:
    where = {"dataset": place.dataset, "language": place.language, "culture": place.culture, "as_published": True}
    of_place = {**where, "form": place.form, "setting": place.setting}
    rows = store.execute(read_sql(QUERIES, "needed_contexts"), of_place).fetchall()
    for entity_type, gender, source_language, ids in rows:
        of_kind = {**where, "entity_type": entity_type, "gender": gender or None, "source_language": source_language}
        entities = store.execute(read_sql(QUERIES, "needed_entities"), of_kind).fetchall()
        native, western = ([row[1:] for row in entities if row[0] is side] for side in (True, False))
        yield Kind(entity_type, gender, ids, (native, western))
