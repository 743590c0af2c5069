"""The two sides of a comparison, and which cells stand against one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from polyculture.cache.errors import StoreError, did_you_mean
from polyculture.cache.schema.measured import EVERY, UNNAMED
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

    @property
    def values(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The values of each side."""
        return self.of_a or (self.a,), self.of_b or (self.b,)


@dataclass(frozen=True, slots=True)
class Matched:
    """Columns of both sides under one key: what they are of but for what is compared."""

    key: Place
    a: tuple[int, ...]
    b: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pairing:
    """All keys of which both sides were asked everything, and how many keys only one side, or a part of it, was."""

    matched: Sequence[Matched]
    left_out: Mapping[Place, int]  # keys, each 1


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
            return Sides(dimension, a, REST, (a,), tuple(sorted(values - {a})))
        if a in values:
            raise StoreError(f"{a!r} is the only {dimension} of the run", remedy="There is no rest to compare it with.")
    everything = sorted(set().union(*known.values()))
    raise StoreError(f"the run has no model, language, country or wording {a!r}", remedy=did_you_mean(a, everything))


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


Role = tuple[int, Place, str]  # the side, the key, and the value of the side


@dataclass(frozen=True, slots=True)
class _Column:
    place: Place
    run: int
    metric: str


def pairing(places: Sequence[tuple[Place, int]], sides: Sides, metric: str) -> Pairing:
    """The columns that stand against one another. `places` has the place of each column, and the run that it is of."""
    by_key: dict[Place, tuple[dict[str, int], dict[str, int]]] = defaultdict(lambda: ({}, {}))
    roles = _ROLES.get(sides.dimension, _of_facet)
    asked: tuple[set[str], set[str]] = (set(), set())
    for column, (place, run) in enumerate(places):
        for side, key, value in roles(_Column(place, run, metric), sides):
            by_key[key][side][value] = column
            asked[side].add(value)
    if sides.dimension == "condition":
        _put_neutral(by_key)
    some = sides.dimension in (NATIVE, WITHIN)  # whose sides have as many values as there are
    matched: list[Matched] = []
    left_out: dict[Place, int] = {}
    for key in sorted(by_key):
        a, b = by_key[key]
        whole = all(some or values.keys() >= asked[side] - {key.other_language} for side, values in ((A, a), (B, b)))
        if a and b and whole:
            matched.append(Matched(key, tuple(a.values()), tuple(b.values())))
        else:
            left_out[key] = 1
    return Pairing(matched, left_out)


def _of_facet(column: _Column, sides: Sides) -> Iterator[Role]:
    dimension, place = sides.dimension, column.place
    orders = [place]
    if dimension == "language" and column.metric == CONSENSUS:  # that of each side with a third language
        orders.append(place._replace(language=place.other_language, other_language=place.language))
    for one in orders:
        value: str = getattr(one, dimension)
        for side, values in enumerate(sides.values):
            if value in values:
                yield side, one._replace(**{dimension: EVERY}), value


def _put_neutral(by_key: dict[Place, tuple[dict[str, int], dict[str, int]]]) -> None:
    """Neutral numbers that name no country stand against those of every country."""
    neutral = {key: sides for key, sides in by_key.items() if key.country == UNNAMED}
    for key, sides in by_key.items():
        without = neutral.get(key._replace(country=UNNAMED))
        if key.country != UNNAMED and without is not None:
            for side in (A, B):
                sides[side].update(without[side])
    for key in neutral:
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
