"""What a protocol compares and the store holds no score of.

A protocol names a reading of the data set, types, and entities or draws of them. Contexts and entities of that reading
stand in the run; so it is known which scores a number lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from polyculture.cache.sql_file import read_sql
from polyculture.instruments.papers.paper import Protocol
from polyculture.instruments.papers.protocol import ScoredContext, Side, compared, taken
from polyculture.instruments.papers.scored import QUERIES, Choice, Place

UNKNOWN = "not recorded which rows the data set has: ask once more"
ALL = ""


@dataclass(frozen=True, slots=True)
class Needed:
    """What one reading of the data set has in a place: a context for each kind of contexts, and the ids of the kind."""

    kinds: Mapping[str, tuple[ScoredContext, tuple[str, ...]]]  # by the first id
    known: bool  # whether the run says what the data set has

    def lacking(self, found: Sequence[ScoredContext], protocol: Protocol, seed: int) -> dict[str, str]:
        """What is not scored of all (`ALL`) and of each type, in words; '' where nothing is lacking."""
        if not self.known:
            return {ALL: UNKNOWN}
        scored = {one.context_id: {*one.native.ids, *one.western.ids} for one in found}
        by_type: dict[str, _Count] = {}
        for one in compared([kind for kind, _ in self.kinds.values()], protocol):
            if not (one.native.ids and one.western.ids):
                continue  # nobody can ask it
            wanted = {
                side.ids[number]
                for side in (one.native, one.western)
                for draw in range(protocol.draws or 1)
                for number in taken(side, one, protocol, seed, draw)
            }
            by_type.setdefault(one.entity_type, _Count()).add(self.kinds[one.context_id][1], wanted, scored)
        every = _Count()
        for count in by_type.values():
            every.join(count)
        return {ALL: str(every), **{kind: str(count) for kind, count in by_type.items()}}


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


class Holdings:
    """What a data set has to score, of the types of a choice; read once for all models."""

    def __init__(self, store: duckdb.DuckDBPyConnection, choice: Choice) -> None:
        self._store, self._choice = store, choice
        self._known = read_as_published(store, choice.dataset) != {None}
        self._read: dict[tuple[Place, bool], Needed] = {}

    def of(self, place: Place, *, as_published: bool) -> Needed:
        """What one reading has in a place."""
        key = place._replace(model=""), as_published
        if key not in self._read:
            self._read[key] = Needed(dict(_kinds(self._store, place, self._choice, as_published)), self._known)
        return self._read[key]


def read_as_published(store: duckdb.DuckDBPyConnection, dataset: str) -> set[bool | None]:
    """How a data set was last read, in its languages and in English; None where the run does not say."""
    rows = store.execute(read_sql(QUERIES, "readings"), {"dataset": dataset}).fetchall()
    return {as_published for _, as_published in rows} or {None}


def _kinds(
    store: duckdb.DuckDBPyConnection, place: Place, choice: Choice, published: bool
) -> Iterator[tuple[str, tuple[ScoredContext, tuple[str, ...]]]]:
    where = {"dataset": place.dataset, "language": place.language, "culture": place.culture, "as_published": published}
    of_place = {**where, "form": place.form, "setting": place.setting, "types": list(choice.types)}
    rows = store.execute(read_sql(QUERIES, "needed_contexts"), of_place).fetchall()
    for entity_type, gender, source_language, ids in rows:
        of_kind = {**where, "entity_type": entity_type, "gender": gender or None, "source_language": source_language}
        entities = store.execute(read_sql(QUERIES, "needed_entities"), of_kind).fetchall()
        native, western = (_side([row for row in entities if row[0] is side]) for side in (True, False))
        one = ScoredContext(ids[0], place.language, entity_type, gender, native, western, source_language or "")
        yield ids[0], (one, tuple(ids))


def _side(rows: Sequence[tuple[bool, str, str]]) -> Side:
    return Side(tuple(row[1] for row in rows), {}, tuple(row[2] for row in rows))
