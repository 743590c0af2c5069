"""The two sides of a comparison, and which cells stand against one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.errors import StoreError, did_you_mean
from polyculture.cache.schema.measured import EVERY, UNNAMED
from polyculture.metrics.inference.jackknife import Integers, Numbers
from polyculture.metrics.places import CONSENSUS, Place

DIMENSIONS = ("model", "language", "condition", "country", "wording")
NATIVE, RUN, WITHIN, SNAPSHOT = "native", "run", "within", "snapshot"  # dimensions that are no facet of a place
REST = "the rest"
_TWO = "Name two models, languages, conditions, countries or wordings."
A, B = 0, 1


@dataclass(frozen=True, slots=True)
class Sides:
    """The two sides of a comparison. A side of several values has the mean of their numbers, each counted once."""

    dimension: str
    a: str
    b: str
    of_a: tuple[str, ...] = ()  # the values of a side that is not one value: the rest, or a group of models
    of_b: tuple[str, ...] = ()
    # Of 'native': languages with the countries whose language they are. Of 'within': languages with their group. Of
    # 'run': the candidate's models with the baseline's.
    pairs: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    by: tuple[str, ...] = ()  # columns that a row is per, beside those of the whole comparison

    @property
    def values(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The values of each side."""
        return self.of_a or (self.a,), self.of_b or (self.b,)


@dataclass(frozen=True, slots=True)
class Roles:
    """What each column is of but for what is compared: a row a column, or two where a consensus is of either language.

    `side` is that of the columns whose dimension says it; of a facet the values of `Sides` do.
    """

    keys: Sequence[Place]  # sorted
    key: Sequence[int]  # of each row, its place among them
    value: Sequence[str]
    column: Sequence[int]
    side: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Matched:
    """Columns of one side, and the key of each: its place among those of `Pairing`."""

    columns: Integers
    key: Integers

    def means(self, values: Numbers, keys: int) -> Numbers:
        """The mean value of each key; NaN where a column has none."""
        return np.bincount(self.key, values[self.columns], keys) / np.bincount(self.key, minlength=keys)

    def weights(self, used: NDArray[np.bool_], columns: int) -> Numbers:
        """The weight of each column in the mean over the keys that are `used`, each with the same weight."""
        inside = used[self.key]
        own = inside / np.bincount(self.key, minlength=len(used))[self.key] / max(int(used.sum()), 1)
        return np.bincount(self.columns, own, columns).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Pairing:
    """The keys of which both sides were asked everything, and those that only one side, or a part of it, was."""

    keys: Integers  # places among those of `Roles`
    a: Matched
    b: Matched
    left_out: Integers  # likewise

    def some(self, kept: NDArray[np.bool_]) -> Pairing:
        """The pairs of some keys; the others are left out."""
        number = np.cumsum(kept) - 1
        a, b = (Matched(one.columns[kept[one.key]], number[one.key[kept[one.key]]]) for one in (self.a, self.b))
        return Pairing(self.keys[kept], a, b, np.concatenate([self.left_out, self.keys[~kept]]))


def native_sides(pairs: Iterable[tuple[str, str]]) -> Sides:
    """Each country in its own languages against the other languages; `pairs` are languages with their countries."""
    return Sides(NATIVE, "native language", "other languages", pairs=tuple(pairs))


def group_languages(groups: Iterable[Iterable[str]]) -> Sides:
    """Consensus of languages of one group against that of languages of different groups."""
    rows = tuple((language, str(place)) for place, group in enumerate(groups) for language in group)
    return Sides(WITHIN, "languages of a group", "languages of different groups", pairs=rows)


def sides_of(known: Mapping[str, set[str]], a: str, b: str) -> Sides:
    """The sides `a` and `b`: two values of one dimension of what is `known`.

    Raises `StoreError`, with the nearest name, where they are not.
    """
    if a == b:
        raise StoreError(f"{a!r} is compared with itself", remedy=_TWO)
    for dimension, values in known.items():
        if a in values and b in values:
            return Sides(dimension, a, b)
    for dimension, values in known.items():  # 'jp' is JP, where no other side is written so
        folded = {value.casefold(): value for value in values}
        if a.casefold() in folded and b.casefold() in folded and len(folded) == len(values):
            return Sides(dimension, folded[a.casefold()], folded[b.casefold()])
    everything = sorted(set().union(*known.values()))
    for side in (a, b):
        if side not in everything:
            raise StoreError(f"the run has no {side!r} to compare", remedy=did_you_mean(side, everything))
    raise StoreError(f"{a!r} and {b!r} are of different kinds", remedy=_TWO)


def against_rest(known: Mapping[str, set[str]], a: str) -> Sides:
    """The sides `a` and all others of its kind: a model, a language, a country or a wording.

    Raises `StoreError` where it is none of these, or the only one.
    """
    known = {dimension: values for dimension, values in known.items() if dimension != "condition"}
    for dimension, values in known.items():
        if a in values and len(values) > 1:
            return one_against_rest(dimension, a, sorted(values))
        if a in values:
            raise StoreError(f"{a!r} is the only {dimension} of the run", remedy="There is no rest to compare it with.")
    everything = sorted(set().union(*known.values()))
    raise StoreError(f"the run has no model, language, country or wording {a!r}", remedy=did_you_mean(a, everything))


def one_against_rest(dimension: str, value: str, values: Sequence[str]) -> Sides:
    """One of some values against the others together."""
    return Sides(dimension, value, REST, (value,), tuple(other for other in values if other != value))


def group_sides(
    group_of: Mapping[str, str], fact: str, a: str | None = None, b: str | None = None, rest: bool = False
) -> list[Sides]:
    """Groups of models as sides: `a` and `b`, `a` and all others (`rest`), or each group and all others.

    `group_of` has the group of each model that has one. Of two groups the second says nothing new against the first.
    Raises `StoreError` for fewer than two groups, or one that is not there.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for model, group in sorted(group_of.items()):
        groups[group].append(model)
    if len(groups) < 2:
        there = f"only {', '.join(map(repr, groups))}" if groups else "none"
        remedy = 'Add it to [model_facts."MODEL"] in the experiment file: docs/experiments.md.'
        raise StoreError(f"models of two different values of {fact!r} are needed, and there is {there}", remedy=remedy)
    for side in (a, b):
        if side is not None and side not in groups:
            raise StoreError(f"no model has the {fact} {side!r}", remedy=did_you_mean(side, list(groups)))
    if a is not None and a == b:
        raise StoreError(f"{a!r} is compared with itself", remedy=f"Name two different values of {fact!r}.")
    if a is not None and b is not None:
        return [Sides("model", a, b, tuple(groups[a]), tuple(groups[b]))]
    chosen = [a] if a is not None and rest else list(groups)
    if len(groups) == 2 and not rest:
        one, other = groups
        return [Sides("model", one, other, tuple(groups[one]), tuple(groups[other]))]
    return [_group_against_rest(groups, one) for one in chosen]


def _group_against_rest(groups: Mapping[str, Iterable[str]], one: str) -> Sides:
    others = [model for group, models in groups.items() if group != one for model in models]
    return Sides("model", one, REST, tuple(groups[one]), tuple(sorted(others)))


Role = tuple[int | None, Place, str]  # the side, the key, and the value of the side


@dataclass(frozen=True, slots=True)
class _Column:
    place: Place
    run: int
    metric: str


def roles_of(places: Sequence[tuple[Place, int]], sides: Sides, metric: str) -> Roles:
    """What columns are of, in the dimension of `sides`; `places` has the place of each, and the run that it is of."""
    roles = _ROLES.get(sides.dimension, _of_facet)
    rows = [
        (at, side, key, value)
        for at, (place, run) in enumerate(places)
        for side, key, value in roles(_Column(place, run, metric), sides)
    ]
    keys = sorted({key for _, _, key, _ in rows})
    number = {key: at for at, key in enumerate(keys)}
    return Roles(
        keys,
        [number[key] for _, _, key, _ in rows],
        [value for *_, value in rows],
        [at for at, *_ in rows],
        [side for _, side, *_ in rows],
    )


def pairing(roles: Roles, sides: Sides) -> Pairing:
    """The columns that stand against one another."""
    by_key: dict[int, tuple[dict[str, int], dict[str, int]]] = defaultdict(lambda: ({}, {}))
    asked: tuple[set[str], set[str]] = (set(), set())
    side_of = {value: side for side, values in enumerate(sides.values) for value in values}
    for column, key, value, own in zip(roles.column, roles.key, roles.value, roles.side, strict=True):
        side = side_of.get(value) if own is None else own
        if side is not None:
            by_key[key][side][value] = column
            asked[side].add(value)
    if sides.dimension == "condition":
        _put_neutral(by_key, roles.keys)
    some = sides.dimension in (NATIVE, WITHIN)  # whose sides have as many values as there are
    matched: list[int] = []
    left_out: list[int] = []
    for key in sorted(by_key):
        a, b = by_key[key]
        other = {roles.keys[key].other_language}
        whole = some or (a.keys() >= asked[A] - other and b.keys() >= asked[B] - other)
        (matched if a and b and whole else left_out).append(key)
    return Pairing(
        np.array(matched, dtype=np.int64),
        _matched([by_key[key][A] for key in matched]),
        _matched([by_key[key][B] for key in matched]),
        np.array(left_out, dtype=np.int64),
    )


def _matched(columns: Sequence[Mapping[str, int]]) -> Matched:
    counts = np.array([len(own) for own in columns], dtype=np.int64)
    flat = np.array([column for own in columns for column in own.values()], dtype=np.int64)
    return Matched(flat, np.repeat(np.arange(len(columns)), counts))


def _of_facet(column: _Column, sides: Sides) -> Iterator[Role]:
    dimension, place = sides.dimension, column.place
    yield None, place._replace(**{dimension: EVERY}), getattr(place, dimension)
    if dimension == "language" and column.metric == CONSENSUS:  # that of each side with a third language
        turned = place._replace(language=EVERY, other_language=place.language)
        yield None, turned, place.other_language


def _put_neutral(by_key: dict[int, tuple[dict[str, int], dict[str, int]]], keys: Sequence[Place]) -> None:
    """Neutral numbers that name no country stand against those of every country."""
    neutral = {keys[key]: sides for key, sides in by_key.items() if keys[key].country == UNNAMED}
    for key, sides in by_key.items():
        without = neutral.get(keys[key]._replace(country=UNNAMED))
        if keys[key].country != UNNAMED and without is not None:
            for side in (A, B):
                sides[side].update(without[side])
    for key in [key for key in by_key if keys[key] in neutral]:
        del by_key[key]


def _native(column: _Column, sides: Sides) -> Iterator[Role]:
    place = column.place
    if column.metric != CONSENSUS and place.country != UNNAMED:
        side = A if (place.language, place.country) in sides.pairs else B
        yield side, place._replace(language=EVERY), place.language


def _within(column: _Column, sides: Sides) -> Iterator[Role]:
    group, place = dict(sides.pairs), column.place
    if column.metric == CONSENSUS and place.language in group and place.other_language in group:
        side = A if group[place.language] == group[place.other_language] else B
        yield side, place._replace(language=EVERY, other_language=EVERY), f"{place.language} {place.other_language}"


def _run(column: _Column, sides: Sides) -> Iterator[Role]:
    for candidate, baseline in sides.pairs:
        if column.place.model == (candidate, baseline)[column.run]:
            yield column.run, column.place._replace(model=candidate), ""


def _snapshot(column: _Column, sides: Sides) -> Iterator[Role]:
    del sides
    yield column.run, column.place, ""


_ROLES: Mapping[str, Callable[[_Column, Sides], Iterator[Role]]] = {
    NATIVE: _native,
    WITHIN: _within,
    RUN: _run,
    SNAPSHOT: _snapshot,
}
