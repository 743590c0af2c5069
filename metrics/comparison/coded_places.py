"""Places as numbers: a comparison takes hundreds of thousands apart, again for each of its sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.schema.measured import EVERY, UNNAMED, WITHOUT
from polyculture.metrics.cell_changes import NEUTRAL
from polyculture.metrics.inference.jackknife import Integers
from polyculture.metrics.places import CONSENSUS, Place

FIELDS = Place._fields
_LANGUAGES = ("language", "other_language")  # they share their numbers: a consensus is of either


@dataclass(frozen=True)
class CodedPlaces:
    """Places as a number for each of their fields; numbers of a field are in the order of its values."""

    values: Mapping[str, Sequence[str]]  # by field, sorted
    codes: Mapping[str, Integers]  # by field: of each place

    @classmethod
    def of(cls, places: Sequence[Place]) -> CodedPlaces:
        """From places, in their order."""
        columns = dict(zip(FIELDS, zip(*places, strict=True) if places else [()] * len(FIELDS), strict=True))
        both = {value for field in _LANGUAGES for value in columns[field]}
        values, codes = {}, {}
        for field, column in columns.items():
            own = both if field in _LANGUAGES else set(column)
            values[field] = sorted(own | {EVERY, UNNAMED, WITHOUT, NEUTRAL})
            number = {value: code for code, value in enumerate(values[field])}
            codes[field] = np.fromiter(map(number.__getitem__, column), dtype=np.int64, count=len(column))
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
        for field in FIELDS:
            found = found * len(self.values[field]) + self.codes[field]
        return found

    @property
    def places(self) -> list[Place]:
        """The places themselves."""
        columns = [np.array(self.values[field], dtype=object)[self.codes[field]].tolist() for field in FIELDS]
        return [Place(*values) for values in zip(*columns, strict=True)]

    def distinct(self) -> tuple[CodedPlaces, Integers]:
        """The different places, sorted, and of each row which one it is."""
        _, first, which = np.unique(self.numbers, return_index=True, return_inverse=True)
        return self.some(first), which


def coded_cells(metric: str, places: CodedPlaces) -> list[CodedPlaces]:
    """The cells that numbers rest on, as `cells_behind` has them: of each the first, and the second if any."""
    neutral = places.codes["condition"] == places.code("condition", NEUTRAL)
    country = np.where(neutral, places.code("country", UNNAMED), places.codes["country"])
    own = places.but(other_language=WITHOUT, country=country)
    if metric == CONSENSUS:
        return [own, own.but(language=places.codes["other_language"])]
    if metric == "specificity_gain":
        return [own, own.but(condition=NEUTRAL, country=UNNAMED)]
    return [own]
