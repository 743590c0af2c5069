"""The two sides of a comparison, and which cells stand against one another.

A comparison takes hundreds of thousands of places apart, again for each of its sides: here they are numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.errors import StoreError
from polyculture.cache.store.schema.measured import EVERY, UNNAMED, WITHOUT
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.metrics.cell_changes import NEUTRAL
from polyculture.metrics.declared import is_gain, is_overlap
from polyculture.metrics.inference.arrays import Floats, Integers
from polyculture.metrics.responses import DataSlice

FIELDS = DataSlice._fields
_LANGUAGES = ("language", "other_language")  # they share their numbers: a consensus is of either
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
    """What columns are of but for what is compared: a row a column, or two where a consensus is of either language.

    `side` is that of the columns whose dimension says it; None for a facet, whose values say it.
    """

    keys: Sequence[DataSlice]  # sorted
    others: Sequence[str]  # of each key: its other language
    key: Integers  # of each row, its place among the keys
    value: Integers  # of each row, its place among `values`
    values: Sequence[str]
    column: Integers
    side: Integers | None


@dataclass(frozen=True, slots=True)
class MatchedColumns:
    """Columns of one side, and the key of each: its place among those of `Pairing`."""

    columns: Integers
    key: Integers

    def means(self, values: Floats, keys: int) -> Floats:
        """The mean value of each key; NaN where a column has none."""
        return np.bincount(self.key, values[self.columns], keys) / np.bincount(self.key, minlength=keys)

    def weights(self, used: NDArray[np.bool_], columns: int) -> Floats:
        """The weight of each column in the mean over the keys that are `used`, each with the same weight."""
        inside = used[self.key]
        own = inside / np.bincount(self.key, minlength=len(used))[self.key] / max(int(used.sum()), 1)
        return np.bincount(self.columns, own, columns).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Pairing:
    """The keys of which both sides were asked everything, and those that only one side, or a part of it, was."""

    keys: Integers  # places among those of `Roles`
    a: MatchedColumns
    b: MatchedColumns
    left_out: Integers  # likewise
    left_out_of_b: Integers  # of these, those that the second side was asked

    def some(self, kept: NDArray[np.bool_]) -> Pairing:
        """The pairs of some keys; the others are left out."""
        number = np.cumsum(kept) - 1
        a, b = (MatchedColumns(one.columns[kept[one.key]], number[one.key[kept[one.key]]]) for one in (self.a, self.b))
        left_out, of_b = (np.concatenate([one, self.keys[~kept]]) for one in (self.left_out, self.left_out_of_b))
        return Pairing(self.keys[kept], a, b, left_out, of_b)


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


@dataclass(frozen=True)
class CodedPlaces:
    """Places as a number for each of their fields; numbers of a field are in the order of its values."""

    values: Mapping[str, Sequence[str]]  # by field, sorted
    codes: Mapping[str, Integers]  # by field: of each place

    @classmethod
    def of(cls, places: Sequence[DataSlice]) -> CodedPlaces:
        """From places, in their order."""
        columns = dict(zip(FIELDS, zip(*places, strict=True) if places else [()] * len(FIELDS), strict=True))
        both = {value for field in _LANGUAGES for value in columns[field]}
        values, codes = {}, {}
        for name, column in columns.items():
            own = both if name in _LANGUAGES else set(column)
            values[name] = sorted(own | {EVERY, UNNAMED, WITHOUT, NEUTRAL})
            number = {value: code for code, value in enumerate(values[name])}
            codes[name] = np.fromiter(map(number.__getitem__, column), dtype=np.int64, count=len(column))
        return cls(values, codes)

    def __len__(self) -> int:
        return len(self.codes["model"])

    def code(self, field: str, value: str) -> int:
        """The number of a value; -1: no place has it."""
        return self.values[field].index(value) if value in self.values[field] else -1

    def knowing(self, field: str, values: Iterable[str]) -> CodedPlaces:
        """The same, where `but` may put these values, too."""
        every = sorted({*self.values[field], *values})
        number = np.array([every.index(value) for value in self.values[field]], dtype=np.int64)
        codes = {**self.codes, field: number[self.codes[field]]}
        return CodedPlaces({**self.values, field: every}, codes)

    def but(self, **fields: str | Integers) -> CodedPlaces:
        """The same places with other values in some fields, or with the numbers of such values."""
        changed = {
            field: np.full(len(self), self.code(field, value)) if isinstance(value, str) else value
            for field, value in fields.items()
        }
        return CodedPlaces(self.values, {**self.codes, **changed})

    def some(self, rows: Integers | NDArray[np.bool_]) -> CodedPlaces:
        """Those of some rows."""
        return CodedPlaces(self.values, {field: code[rows] for field, code in self.codes.items()})

    def then(self, other: CodedPlaces) -> CodedPlaces:
        """These, and behind them others with the same values."""
        codes = {field: np.concatenate([code, other.codes[field]]) for field, code in self.codes.items()}
        return CodedPlaces(self.values, codes)

    @cached_property
    def numbers(self) -> Integers:
        """One number for each place, in the order of places."""
        found = np.zeros(len(self), dtype=np.int64)
        for name in FIELDS:
            found = found * len(self.values[name]) + self.codes[name]
        return found

    @property
    def places(self) -> list[DataSlice]:
        """The places themselves."""
        columns = [np.array(self.values[field], dtype=object)[self.codes[field]].tolist() for field in FIELDS]
        return [DataSlice(*values) for values in zip(*columns, strict=True)]

    def distinct(self) -> tuple[CodedPlaces, Integers]:
        """The different places, sorted, and of each row which one it is."""
        _, first, which = np.unique(self.numbers, return_index=True, return_inverse=True)
        return self.some(first), which


def coded_cells(metric: str, places: CodedPlaces) -> list[CodedPlaces]:
    """The cells that numbers rest on, as `cells_behind` has them: of each the first, and the second if any."""
    neutral = places.codes["condition"] == places.code("condition", NEUTRAL)
    country = np.where(neutral, places.code("country", UNNAMED), places.codes["country"])
    own = places.but(other_language=WITHOUT, country=country)
    if is_overlap(metric):
        return [own, own.but(language=places.codes["other_language"])]
    if is_gain(metric):
        return [own, own.but(condition=NEUTRAL, country=UNNAMED)]
    return [own]


def roles_of(places: CodedPlaces, runs: Integers, sides: Sides, metric: str) -> Roles:
    """What columns are of, in the dimension of `sides`; `runs` has the run that each is of."""
    every = np.arange(len(places))
    if sides.dimension == NATIVE:
        return _native(places, every, sides, metric)
    if sides.dimension == WITHIN:
        return _within(places, every, sides, metric)
    if sides.dimension == RUN:
        return _run(places, runs, every, sides)
    if sides.dimension == SNAPSHOT:
        return _roles(places, np.zeros(len(places), dtype=np.int64), ("",), every, runs)
    field = sides.dimension
    keys, value = places.but(**{field: EVERY}), places.codes[field]
    if field == "language" and is_overlap(metric):  # that of each side with a third language
        turned = places.but(language=EVERY, other_language=places.codes["language"])
        keys, value = keys.then(turned), np.concatenate([value, places.codes["other_language"]])
        every = np.concatenate([every, every])
    return _roles(keys, value, places.values[field], every, None)


def _roles(keys: CodedPlaces, value: Integers, values: Sequence[str], column: Integers, side: Integers | None) -> Roles:
    distinct, key = keys.distinct()
    found = distinct.places
    return Roles(found, [place.other_language for place in found], key, value, values, column, side)


def _native(places: CodedPlaces, every: Integers, sides: Sides, metric: str) -> Roles:
    named = np.flatnonzero((places.codes["country"] != places.code("country", UNNAMED)) & (not is_overlap(metric)))
    own = places.some(named)
    native = np.zeros(len(own), dtype=bool)
    for language, country in sides.pairs:
        native |= (own.codes["language"] == own.code("language", language)) & (
            own.codes["country"] == own.code("country", country)
        )
    values = places.values["language"]
    return _roles(own.but(language=EVERY), own.codes["language"], values, every[named], np.where(native, A, B))


def _within(places: CodedPlaces, every: Integers, sides: Sides, metric: str) -> Roles:
    groups = dict(sides.pairs)
    names = places.values["language"]
    numbers = {group: at for at, group in enumerate(dict.fromkeys(groups.values()))}
    group = np.array([numbers[groups[name]] if name in groups else -1 for name in names], dtype=np.int64)
    first, second = (places.codes[field] for field in ("language", "other_language"))
    known = np.flatnonzero((group[first] >= 0) & (group[second] >= 0) & is_overlap(metric))
    one, other = first[known], second[known]
    values = [f"{a} {b}" for a in names for b in names]
    side = np.where(group[one] == group[other], A, B)
    keys = places.some(known).but(language=EVERY, other_language=EVERY)
    return _roles(keys, one * len(names) + other, values, every[known], side)


def _run(places: CodedPlaces, runs: Integers, every: Integers, sides: Sides) -> Roles:
    places = places.knowing("model", (candidate for candidate, _ in sides.pairs))
    keys, rows, side = places.some(every[:0]), every[:0], every[:0]
    for candidate, baseline in sides.pairs:
        for of, model in enumerate((candidate, baseline)):
            own = np.flatnonzero((runs == of) & (places.codes["model"] == places.code("model", model)))
            keys = keys.then(places.some(own).but(model=candidate))
            rows, side = np.concatenate([rows, own]), np.concatenate([side, np.full(len(own), of)])
    return _roles(keys, np.zeros(len(rows), dtype=np.int64), ("",), rows, side)


def pairing(roles: Roles, sides: Sides) -> Pairing:
    """The columns that stand against one another."""
    side = roles.side
    if side is None:
        of_value = {value: side for side, values in enumerate(sides.values) for value in values}
        side = np.array([of_value.get(value, -1) for value in roles.values], dtype=np.int64)[roles.value]
    asked = [set(np.unique(roles.value[side == one]).tolist()) for one in (A, B)]
    rows = np.flatnonzero(side >= 0)
    key = roles.key[rows]
    if sides.dimension == "condition":
        rows, key = _with_neutral(rows, key, roles)
    # A value of a key's side has one column: the last that says it.
    place = (key * 2 + side[rows]) * len(roles.values) + roles.value[rows]
    _, last = np.unique(place[::-1], return_index=True)
    kept = np.sort(len(place) - 1 - last)
    rows, key = rows[kept], key[kept]
    total = len(roles.keys)
    there = [np.bincount(key[side[rows] == one], minlength=total) for one in (A, B)]
    whole = (there[A] > 0) & (there[B] > 0)
    if sides.dimension not in (NATIVE, WITHIN):  # whose sides have as many values as there are
        number = {value: at for at, value in enumerate(roles.values)}
        other = np.array([number.get(value, -1) for value in roles.others], dtype=np.int64)
        for one in (A, B):
            of_other = (side[rows] == one) & (roles.value[rows] == other[key])
            besides = there[one] - np.bincount(key[of_other], minlength=total)
            whole &= besides == len(asked[one]) - np.isin(other, list(asked[one]))
    matched = np.flatnonzero(whole)
    asked_keys = np.unique(key)
    a, b = (_matched(rows, key, side[rows] == one, matched, roles) for one in (A, B))
    left_out = asked_keys[~whole[asked_keys]]
    return Pairing(matched, a, b, left_out, left_out[there[B][left_out] > 0])


def _matched(
    rows: Integers, key: Integers, of_side: NDArray[np.bool_], matched: Integers, roles: Roles
) -> MatchedColumns:
    inside = np.zeros(len(roles.keys), dtype=bool)
    inside[matched] = True
    own = np.flatnonzero(of_side & inside[key])
    own = own[np.argsort(key[own], kind="stable")]
    return MatchedColumns(roles.column[rows[own]], np.searchsorted(matched, key[own]))


def _with_neutral(rows: Integers, key: Integers, roles: Roles) -> tuple[Integers, Integers]:
    """Neutral numbers that name no country stand against those of every country."""
    neutral = {place: at for at, place in enumerate(roles.keys) if place.country == UNNAMED}
    of_key: dict[int, list[int]] = defaultdict(list)
    for row, at in zip(rows.tolist(), key.tolist(), strict=True):
        of_key[at].append(row)
    found: list[tuple[int, int]] = []
    for at, own in of_key.items():
        if roles.keys[at].country != UNNAMED:
            without = neutral.get(roles.keys[at]._replace(country=UNNAMED), -1)
            found += [(row, at) for row in (*own, *of_key.get(without, ()))]
    both = np.array(found, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
